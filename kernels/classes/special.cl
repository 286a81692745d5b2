/* Logarithms and other special functions, as exact as OpenCL asks for. */

/* Sums of logarithms of quotients. `items`: work-items of the launch. */
__kernel void log_returns(__global const float *price, __global float *out, int items, int days)
{
    int i = get_global_id(0);
    float last = price[i] + 1.0f, sum = 0;
    for (int d = 1; d < days; d++) {
        float now = price[(d & 15) * items + i] + 1.0f;
        sum += fabs(log(now / last));
        last = now;
    }
    out[i] = sum;
}

__kernel void special_mix(__global const float *in, __global float *out, int rounds)
{
    int i = get_global_id(0);
    float x = in[i], y = 0.5f;
    for (int r = 0; r < rounds; r++) {
        y += sin(x + r) * exp(-y * y);
        x = pow(fabs(y) + 0.1f, 0.7f);
    }
    out[i] = x + atan2(y, x);
}

/* Logarithm of a mixture of normal distributions, and which of them has the largest part. */
__kernel void mixture_logs(__global const float *sample, __global const float4 *part, __global float *likelihood, __global int *which, int parts)
{
    int i = get_global_id(0), best = 0;
    float x = sample[i], sum = 0, most = 0;
    for (int k = 0; k < parts; k++) {
        float4 p = part[k];
        float d = (x - p.x) / (p.y + 0.1f), density = p.z * exp(-0.5f * d * d);
        sum += density;
        if (density > most) {
            most = density;
            best = k;
        }
    }
    likelihood[i] = log(sum);
    which[i] = best;
}
