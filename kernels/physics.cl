/* Physics: neighbour lists, a heat stencil in local memory, random sampling. */
#define BLOCK 16

/* Lennard-Jones forces. A list entry says how far behind an atom its neighbour is, as after sorting by cells. */
__kernel void lennard_jones(__global const float4 *position, __global float4 *force, __global const int *neighbours,
                            __global const int *list, int n, float cutoff2)
{
    int i = get_global_id(0), count = neighbours[i];
    float4 p = position[i], f = (float4)(0.0f);
    for (int k = 0; k < count; k++) {
        float4 d = p - position[(i + 1 + list[k * n + i]) & (n - 1)];
        float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 1e-3f;
        if (r2 >= cutoff2)
            continue;
        float s2 = 0.01f / r2, s6 = s2 * s2 * s2, scale = 48.0f / r2 * s6 * (s6 - 0.5f);
        f.xyz += d.xyz * scale;
        f.w += 4.0f * s6 * (s6 - 1.0f);
    }
    force[i] = f;
}

/*
 * Heat: several time steps per launch, on a tile that loses a ring of cells with each step. Tiles overlap by
 * as much, so each work-group writes (16 - 2 * steps)^2 cells.
 */
__kernel void hotspot(__global const float *power, __global const float *in, __global float *out, int w, int h,
                      int steps)
{
    __local float t[BLOCK][BLOCK];
    int lx = get_local_id(0), ly = get_local_id(1), inner = BLOCK - 2 * steps;
    int x = (int)get_group_id(0) * inner + lx - steps, y = (int)get_group_id(1) * inner + ly - steps;
    int inside = x >= 0 && x < w && y >= 0 && y < h;
    float p = 0.0f, now = 0.0f;
    if (inside) {
        p = power[y * w + x];
        now = in[y * w + x];
    }
    t[ly][lx] = now;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 1; s <= steps; s++) {
        int computes = inside && lx >= s && lx < BLOCK - s && ly >= s && ly < BLOCK - s;
        if (computes) {
            float north = y > 0 ? t[ly - 1][lx] : now, south = y < h - 1 ? t[ly + 1][lx] : now;
            float west = x > 0 ? t[ly][lx - 1] : now, east = x < w - 1 ? t[ly][lx + 1] : now;
            now += 0.1f * (north + south + west + east - 4.0f * now) + 0.05f * p;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (computes)
            t[ly][lx] = now;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (inside && lx >= steps && lx < BLOCK - steps && ly >= steps && ly < BLOCK - steps)
        out[y * w + x] = now;
}

/* Points in a disc by rejection: how often the inner loop repeats is chance. */
static uint next_random(uint *state)
{
    uint s = *state;
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return *state = s;
}

__kernel void sample_disc(__global float *out, int samples, int seed)
{
    int i = get_global_id(0);
    uint state = (i + 1) * 2654435761u ^ seed;
    float sum = 0.0f;
    for (int k = 0; k < samples; k++) {
        float x, y, r2;
        do {
            x = (next_random(&state) >> 8) * (2.0f / 16777216.0f) - 1.0f;
            y = (next_random(&state) >> 8) * (2.0f / 16777216.0f) - 1.0f;
            r2 = x * x + y * y;
        } while (r2 > 1.0f);
        sum += r2;
    }
    out[i] = sum / samples;
}
