/* Images: filters, and one that is made. */
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

static float grey(__read_only image2d_t in, int x, int y)
{
    float4 c = read_imagef(in, nearest, (int2)(x, y));
    return 0.299f * c.x + 0.587f * c.y + 0.114f * c.z;
}

/* Edges of an image object, read through a sampler. */
__kernel void sobel_image(__read_only image2d_t in, __global float *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    float nw = grey(in, x - 1, y - 1), n = grey(in, x, y - 1), ne = grey(in, x + 1, y - 1);
    float w = grey(in, x - 1, y), e = grey(in, x + 1, y);
    float sw = grey(in, x - 1, y + 1), s = grey(in, x, y + 1), se = grey(in, x + 1, y + 1);
    float dx = ne + 2.0f * e + se - nw - 2.0f * w - sw, dy = sw + 2.0f * s + se - nw - 2.0f * n - ne;
    out[y * get_global_size(0) + x] = sqrt(dx * dx + dy * dy);
}

/* The same on a buffer, without the border. */
__kernel void sobel(__global const float *in, __global float *out)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1)
        return;
    __global const float *p = in + y * w + x;
    float dx = p[1 - w] + 2.0f * p[1] + p[1 + w] - p[-1 - w] - 2.0f * p[-1] - p[-1 + w];
    float dy = p[w - 1] + 2.0f * p[w] + p[w + 1] - p[-w - 1] - 2.0f * p[-w] - p[-w + 1];
    out[y * w + x] = sqrt(dx * dx + dy * dy);
}

/* Median of 3x3 by a sorting network of minimums and maximums. */
#define ORDERED(i, j) do { float low = fmin(v[i], v[j]); v[j] = fmax(v[i], v[j]); v[i] = low; } while (0)

__kernel void median3x3(__global const float *in, __global float *out)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    float v[9];
    for (int k = 0; k < 9; k++)
        v[k] = in[clamp(y + k / 3 - 1, 0, h - 1) * w + clamp(x + k % 3 - 1, 0, w - 1)];
    ORDERED(1, 2); ORDERED(4, 5); ORDERED(7, 8); ORDERED(0, 1); ORDERED(3, 4); ORDERED(6, 7);
    ORDERED(1, 2); ORDERED(4, 5); ORDERED(7, 8); ORDERED(0, 3); ORDERED(5, 8); ORDERED(4, 7);
    ORDERED(3, 6); ORDERED(1, 4); ORDERED(2, 5); ORDERED(4, 7); ORDERED(4, 2); ORDERED(6, 4);
    ORDERED(4, 2);
    out[y * w + x] = v[4];
}

/* Smoothing that keeps edges: weights fall with distance and with difference. */
__kernel void bilateral(__global const float *in, __global float *out, int radius, float falloff)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    float centre = in[y * w + x], sum = 0.0f, weights = 0.0f;
    for (int v = max(y - radius, 0); v <= min(y + radius, h - 1); v++)
        for (int u = max(x - radius, 0); u <= min(x + radius, w - 1); u++) {
            float value = in[v * w + u], d = value - centre;
            float weight = native_exp(-falloff * d * d - 0.1f * ((u - x) * (u - x) + (v - y) * (v - y)));
            sum += weight * value;
            weights += weight;
        }
    out[y * w + x] = sum / weights;
}

/* Spheres (centre, radius) seen from above with mirrors: helper functions, a structure, an early end of the ray. */
struct ray {
    float3 from, way;
};

float hit(struct ray r, float4 sphere);
float shade(struct ray r, __global const float4 *spheres, int count, int bounces);

__kernel void ray_spheres(__global const float4 *spheres, __global float *out, int count, int bounces)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    struct ray r;
    r.from = (float3)((float)x / w, (float)y / h, -1.0f);
    r.way = (float3)(0.0f, 0.0f, 1.0f);
    out[y * w + x] = shade(r, spheres, count, bounces);
}

/* Distance along the ray, negative where it misses. */
float hit(struct ray r, float4 sphere)
{
    float3 d = sphere.xyz - r.from;
    float radius = 0.02f + 0.08f * sphere.w, along = dot(d, r.way);
    float inside = radius * radius - dot(d, d) + along * along;
    if (inside < 0.0f)
        return -1.0f;
    return along - sqrt(inside);
}

float shade(struct ray r, __global const float4 *spheres, int count, int bounces)
{
    float light = 0.0f, weight = 1.0f;
    for (int b = 0; b < bounces; b++) {
        float nearest_hit = 1e9f;
        int which = -1;
        for (int s = 0; s < count; s++) {
            float t = hit(r, spheres[s]);
            if (t > 1e-3f && t < nearest_hit) {
                nearest_hit = t;
                which = s;
            }
        }
        if (which < 0)
            break;
        r.from += nearest_hit * r.way;
        float3 normal = normalize(r.from - spheres[which].xyz);
        light += weight * fmax(-normal.z, 0.0f);
        weight *= 0.5f;
        r.way -= 2.0f * dot(r.way, normal) * normal;
    }
    return light;
}
