/*****************************************************************************
 *  lbvh: linear BVH over a triangle soup
 *    1. Morton codes of the box centres          (30 bits)
 *    2. LSD radix sort, 8 bits a pass            (histogram / scan / scatter)
 *    3. Karras 2012 hierarchy
 *    4. bottom-up refit with one atomic counter per node
 *    5. box overlap queries and closest-hit rays with a small stack
 *****************************************************************************/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <cuda_runtime.h>

#define N_TRI     131071
#define N_QUERY   40003
#define N_RAY     20011
#define TILE      2048
#define THREADS   256
#define WARPS     (THREADS / 32)
#define ITEMS     (TILE / WARPS / 32)      /* rounds per warp */
#define N_TILES   ((N_TRI + TILE - 1) / TILE)
#define RADIX     256

static void cuda_check(cudaError_t rc, const char *file, int line)
{
    if (rc) {
        printf("cuda error %d (%s) at %s:%d\n", (int)rc, cudaGetErrorString(rc), file, line);
        exit(1);
    }
}
#define CU(x) cuda_check((x), __FILE__, __LINE__)

typedef struct __align__(16) { float4 lo, hi; } aabb;      /* w unused */

typedef struct {
    int left, right;      /* >= 0 inner node, < 0: ~leaf */
} node_t;

__host__ __device__ static inline uint32_t scramble(uint32_t v)
{
    v = (v ^ 61u) ^ (v >> 16);
    v *= 9u;
    v ^= v >> 4;
    v *= 0x27d4eb2du;
    v ^= v >> 15;
    return v;
}

__host__ __device__ static inline float unit(uint32_t v)
{
    return (float)(scramble(v) >> 8) * (1.0f / 16777216.0f);
}

__device__ static uint32_t spread3(uint32_t x)
{
    x = (x * 0x00010001u) & 0xFF0000FFu;
    x = (x * 0x00000101u) & 0x0F00F00Fu;
    x = (x * 0x00000011u) & 0xC30C30C3u;
    x = (x * 0x00000005u) & 0x49249249u;
    return x;
}

/* ---- 1 ------------------------------------------------------------------ */
__global__ void morton_codes(aabb *box, uint32_t *key, uint32_t *id)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N_TRI) return;
    /* half of the triangles are clustered in 64 clumps */
    float c[3], p[3][3];
    uint32_t s = (uint32_t)i * 16u;
    for (int a = 0; a < 3; ++a) {
        c[a] = unit(s + a);
        if (i & 1) c[a] = unit(0x800000u + ((uint32_t)i / 2 % 64) * 3 + a) * 0.9f + 0.1f * c[a] * c[a];
    }
    aabb b;
    float lo[3], hi[3];
    for (int a = 0; a < 3; ++a) {
        lo[a] = 2.0f; hi[a] = -1.0f;
        for (int v = 0; v < 3; ++v) {
            p[v][a] = c[a] + 0.012f * (unit(s + 3 + v * 3 + a) - 0.5f);
            lo[a] = fminf(lo[a], p[v][a]);
            hi[a] = fmaxf(hi[a], p[v][a]);
        }
    }
    b.lo = make_float4(lo[0], lo[1], lo[2], 0.f);
    b.hi = make_float4(hi[0], hi[1], hi[2], 0.f);
    box[i] = b;
    uint32_t m = 0;
    for (int a = 0; a < 3; ++a) {
        float q = fminf(fmaxf((lo[a] + hi[a]) * 512.0f, 0.0f), 1023.0f);
        m |= spread3((uint32_t)q) << (2 - a);
    }
    key[i] = m;
    id[i] = (uint32_t)i;
}

/* ---- 2 ------------------------------------------------------------------ */
__global__ void radix_histogram(const uint32_t *__restrict__ key, uint32_t *count, int shift)
{
    __shared__ uint32_t h[RADIX];
    h[threadIdx.x] = 0;
    __syncthreads();
    int base = blockIdx.x * TILE;
    for (int t = threadIdx.x; t < TILE; t += THREADS)
        if (base + t < N_TRI) atomicAdd(&h[key[base + t] >> shift & (RADIX - 1)], 1u);
    __syncthreads();
    count[threadIdx.x * N_TILES + blockIdx.x] = h[threadIdx.x];
}

__global__ void __launch_bounds__(1024) radix_scan(uint32_t *count)
{
    __shared__ uint32_t sums[1024];
    const int total = RADIX * N_TILES, per = (total + 1023) / 1024;
    const int t = threadIdx.x, from = t * per, to = min(from + per, total);
    uint32_t s = 0;
    for (int i = from; i < to; ++i) s += count[i];
    sums[t] = s;
    __syncthreads();
    for (int d = 1; d < 1024; d <<= 1) {          /* Hillis & Steele */
        uint32_t v = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += v;
        __syncthreads();
    }
    uint32_t run = t ? sums[t - 1] : 0;
    for (int i = from; i < to; ++i) {
        uint32_t c = count[i];
        count[i] = run;
        run += c;
    }
}

__global__ void __launch_bounds__(THREADS)
radix_scatter(const uint32_t *__restrict__ key, const uint32_t *__restrict__ id,
              uint32_t *key_out, uint32_t *id_out, const uint32_t *__restrict__ offset, int shift)
{
    __shared__ uint32_t cnt[WARPS][RADIX];
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    for (int i = threadIdx.x; i < WARPS * RADIX; i += THREADS) (&cnt[0][0])[i] = 0;
    __syncthreads();
    const int first = blockIdx.x * TILE + w * (32 * ITEMS) + lane;
    uint32_t k[ITEMS], rank[ITEMS];
#pragma unroll
    for (int r = 0; r < ITEMS; ++r) {
        int i = first + r * 32;
        bool ok = i < N_TRI;
        k[r] = ok ? key[i] : 0u;
        uint32_t d = ok ? (k[r] >> shift & (RADIX - 1)) : RADIX;     /* 256: nobody */
        uint32_t peers = __match_any_sync(0xffffffffu, d);
        uint32_t below = peers & ((1u << lane) - 1u);
        uint32_t old = ok ? cnt[w][d] : 0u;
        __syncwarp();
        if (ok && below == 0) cnt[w][d] = old + __popc(peers);
        __syncwarp();
        rank[r] = old + __popc(below);
    }
    __syncthreads();
    {   /* thread = digit: exclusive prefix over the warps, plus the global base */
        uint32_t run = offset[threadIdx.x * N_TILES + blockIdx.x];
        for (int v = 0; v < WARPS; ++v) {
            uint32_t c = cnt[v][threadIdx.x];
            cnt[v][threadIdx.x] = run;
            run += c;
        }
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ITEMS; ++r) {
        int i = first + r * 32;
        if (i < N_TRI) {
            uint32_t o = cnt[w][k[r] >> shift & (RADIX - 1)] + rank[r];
            key_out[o] = k[r];
            id_out[o] = id[i];
        }
    }
}

/* ---- 3 ------------------------------------------------------------------ */
__device__ static int common(const uint32_t *__restrict__ key, int i, uint32_t ki, int j)
{
    if (j < 0 || j >= N_TRI) return -1;
    uint32_t x = ki ^ key[j];
    return x ? __clz(x) : 32 + __clz(i ^ j);
}

__global__ void karras_tree(const uint32_t *__restrict__ key, node_t *node, int *parent, int *leaf_parent)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N_TRI - 1) return;
    const uint32_t ki = key[i];
    const int d = common(key, i, ki, i + 1) > common(key, i, ki, i - 1) ? 1 : -1;
    const int least = common(key, i, ki, i - d);
    int lmax = 2;
    while (common(key, i, ki, i + lmax * d) > least) lmax *= 2;
    int l = 0;
    for (int t = lmax / 2; t >= 1; t /= 2)
        if (common(key, i, ki, i + (l + t) * d) > least) l += t;
    const int j = i + l * d;
    const int mine = common(key, i, ki, j);
    int s = 0, t = l;
    do {
        t = (t + 1) / 2;
        if (common(key, i, ki, i + (s + t) * d) > mine) s += t;
    } while (t > 1);
    const int split = i + s * d + min(d, 0);
    node_t n;
    if (min(i, j) == split) { n.left = ~split; leaf_parent[split] = i; }
    else                    { n.left = split;  parent[split] = i; }
    if (max(i, j) == split + 1) { n.right = ~(split + 1); leaf_parent[split + 1] = i; }
    else                        { n.right = split + 1;    parent[split + 1] = i; }
    node[i] = n;
    if (i == 0) parent[0] = -1;
}

/* ---- 4 ------------------------------------------------------------------ */
__device__ static aabb join(const aabb &a, const aabb &b)
{
    aabb c;
    c.lo = make_float4(fminf(a.lo.x, b.lo.x), fminf(a.lo.y, b.lo.y), fminf(a.lo.z, b.lo.z), 0.f);
    c.hi = make_float4(fmaxf(a.hi.x, b.hi.x), fmaxf(a.hi.y, b.hi.y), fmaxf(a.hi.z, b.hi.z), 0.f);
    return c;
}

__device__ static aabb load_fresh(const aabb *p)      /* around L1 */
{
    aabb b;
    b.lo = __ldcg(&p->lo);
    b.hi = __ldcg(&p->hi);
    return b;
}

__global__ void refit(const aabb *__restrict__ tri_box, const uint32_t *__restrict__ id,
                      const node_t *__restrict__ node, const int *__restrict__ parent,
                      const int *__restrict__ leaf_parent, aabb *leaf_box, aabb *node_box, unsigned *arrived)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N_TRI) return;
    aabb b = tri_box[id[i]];
    leaf_box[i] = b;
    int me = ~i;
    int p = leaf_parent[i];
    while (p >= 0) {
        __threadfence();
        if (atomicAdd(&arrived[p], 1u) == 0) return;      /* the sibling will do it */
        __threadfence();
        node_t n = node[p];
        int sib = n.left == me ? n.right : n.left;
        b = join(b, sib >= 0 ? load_fresh(&node_box[sib]) : load_fresh(&leaf_box[~sib]));
        node_box[p] = b;
        me = p;
        p = parent[p];
    }
}

/* ---- 5 ------------------------------------------------------------------ */
__device__ static bool overlap(const aabb &a, const float4 lo, const float4 hi)
{
    return a.lo.x <= hi.x && a.hi.x >= lo.x && a.lo.y <= hi.y && a.hi.y >= lo.y && a.lo.z <= hi.z && a.hi.z >= lo.z;
}

__global__ void box_queries(const node_t *__restrict__ node, const aabb *__restrict__ node_box,
                            const aabb *__restrict__ leaf_box, const uint32_t *__restrict__ id,
                            uint32_t *hits, uint32_t *digest)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= N_QUERY) return;
    float x = unit(0x1000000u + q * 4), y = unit(0x1000001u + q * 4), z = unit(0x1000002u + q * 4);
    float r = 0.004f + 0.012f * unit(0x1000003u + q * 4);
    float4 lo = make_float4(x - r, y - r, z - r, 0.f), hi = make_float4(x + r, y + r, z + r, 0.f);
    int stack[48], top = 0;
    uint32_t n = 0, sum = 0;
    stack[top++] = 0;
    while (top) {
        node_t nd = node[stack[--top]];
        for (int side = 0; side < 2; ++side) {
            int c = side ? nd.right : nd.left;
            if (c >= 0) {
                if (overlap(node_box[c], lo, hi) && top < 48) stack[top++] = c;
            } else if (overlap(leaf_box[~c], lo, hi)) {
                ++n;
                sum += scramble(id[~c]);
            }
        }
    }
    hits[q] = n;
    digest[q] = sum;
}

__device__ static float enter(const aabb &b, float ox, float oy, float oz, float ix, float iy, float iz, float far)
{
    float ax = (b.lo.x - ox) * ix, bx = (b.hi.x - ox) * ix;
    float ay = (b.lo.y - oy) * iy, by = (b.hi.y - oy) * iy;
    float az = (b.lo.z - oz) * iz, bz = (b.hi.z - oz) * iz;
    float t0 = fmaxf(fmaxf(fminf(ax, bx), fminf(ay, by)), fmaxf(fminf(az, bz), 0.f));
    float t1 = fminf(fminf(fmaxf(ax, bx), fmaxf(ay, by)), fminf(fmaxf(az, bz), far));
    return t0 <= t1 ? t0 : 1e30f;
}

/* nearest entered leaf box along a ray, nearer child first */
__global__ void ray_queries(const node_t *__restrict__ node, const aabb *__restrict__ node_box,
                            const aabb *__restrict__ leaf_box, float *nearest)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= N_RAY) return;
    int px = q % 142, py = q / 142;
    float ox = -0.5f, oy = -0.3f, oz = 0.5f;
    float dx = 1.0f, dy = 0.3f + py * (1.0f / 142) * 0.9f, dz = -0.45f + px * (1.0f / 142) * 0.9f + 0.0001f;
    float ix = 1.0f / dx, iy = 1.0f / dy, iz = 1.0f / dz;
    float best = 4.0f;
    int stack[48], top = 0, cur = 0;
    for (;;) {
        node_t nd = node[cur];
        int ch[2] = {nd.left, nd.right};
        float t[2];
        for (int s = 0; s < 2; ++s) {
            const aabb &b = ch[s] >= 0 ? node_box[ch[s]] : leaf_box[~ch[s]];
            t[s] = enter(b, ox, oy, oz, ix, iy, iz, best);
            if (ch[s] < 0) {
                best = fminf(best, t[s]);
                t[s] = 1e30f;
            }
        }
        bool l = t[0] < 1e29f, r = t[1] < 1e29f;
        if (l && r) {
            bool swap = t[1] < t[0];
            if (top < 48) stack[top++] = swap ? ch[0] : ch[1];
            cur = swap ? ch[1] : ch[0];
        } else if (l || r) {
            cur = l ? ch[0] : ch[1];
        } else {
            if (top == 0) break;
            cur = stack[--top];
        }
    }
    nearest[q] = best;
}

static uint64_t digest_of(const void *p, size_t words)
{
    const uint32_t *w = (const uint32_t *)p;
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < words; ++i) h = (h ^ w[i]) * 0x100000001b3ull;
    return h;
}

int main(void)
{
    aabb *tri_box, *leaf_box, *node_box;
    uint32_t *key[2], *id[2], *count, *hits, *digest;
    node_t *node;
    int *parent, *leaf_parent;
    unsigned *arrived;
    float *nearest;
    CU(cudaMalloc(&tri_box, N_TRI * sizeof(aabb)));
    CU(cudaMalloc(&leaf_box, N_TRI * sizeof(aabb)));
    CU(cudaMalloc(&node_box, N_TRI * sizeof(aabb)));
    for (int i = 0; i < 2; ++i) {
        CU(cudaMalloc(&key[i], N_TRI * sizeof(uint32_t)));
        CU(cudaMalloc(&id[i], N_TRI * sizeof(uint32_t)));
    }
    CU(cudaMalloc(&count, RADIX * N_TILES * sizeof(uint32_t)));
    CU(cudaMalloc(&node, N_TRI * sizeof(node_t)));
    CU(cudaMalloc(&parent, N_TRI * sizeof(int)));
    CU(cudaMalloc(&leaf_parent, N_TRI * sizeof(int)));
    CU(cudaMalloc(&arrived, N_TRI * sizeof(unsigned)));
    CU(cudaMalloc(&hits, N_QUERY * sizeof(uint32_t)));
    CU(cudaMalloc(&digest, N_QUERY * sizeof(uint32_t)));
    CU(cudaMalloc(&nearest, N_RAY * sizeof(float)));
    CU(cudaMemset(arrived, 0, N_TRI * sizeof(unsigned)));

    const int blocks = (N_TRI + 255) / 256;
    morton_codes<<<blocks, 256>>>(tri_box, key[0], id[0]);
    CU(cudaGetLastError());
    int cur = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        radix_histogram<<<N_TILES, THREADS>>>(key[cur], count, shift);
        CU(cudaGetLastError());
        radix_scan<<<1, 1024>>>(count);
        CU(cudaGetLastError());
        radix_scatter<<<N_TILES, THREADS>>>(key[cur], id[cur], key[1 - cur], id[1 - cur], count, shift);
        CU(cudaGetLastError());
        cur = 1 - cur;
    }
    karras_tree<<<blocks, 256>>>(key[cur], node, parent, leaf_parent);
    CU(cudaGetLastError());
    refit<<<blocks, 256>>>(tri_box, id[cur], node, parent, leaf_parent, leaf_box, node_box, arrived);
    CU(cudaGetLastError());
    box_queries<<<(N_QUERY + 127) / 128, 128>>>(node, node_box, leaf_box, id[cur], hits, digest);
    CU(cudaGetLastError());
    ray_queries<<<(N_RAY + 63) / 64, 64>>>(node, node_box, leaf_box, nearest);
    CU(cudaGetLastError());
    CU(cudaDeviceSynchronize());

    uint32_t *hk = (uint32_t *)malloc(N_TRI * 4), *hi = (uint32_t *)malloc(N_TRI * 4);
    uint32_t *hh = (uint32_t *)malloc(N_QUERY * 4), *hd = (uint32_t *)malloc(N_QUERY * 4);
    float *hn = (float *)malloc(N_RAY * 4);
    node_t *hnode = (node_t *)malloc(N_TRI * sizeof(node_t));
    aabb root;
    CU(cudaMemcpy(hk, key[cur], N_TRI * 4, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(hi, id[cur], N_TRI * 4, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(hh, hits, N_QUERY * 4, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(hd, digest, N_QUERY * 4, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(hn, nearest, N_RAY * 4, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(hnode, node, (N_TRI - 1) * sizeof(node_t), cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(&root, node_box, sizeof root, cudaMemcpyDeviceToHost));
    int unsorted = 0;
    for (int i = 1; i < N_TRI; ++i) unsorted += hk[i - 1] > hk[i] || (hk[i - 1] == hk[i] && hi[i - 1] >= hi[i]);
    unsigned long long total = 0, rays = 0;
    for (int i = 0; i < N_QUERY; ++i) total += hh[i];
    for (int i = 0; i < N_RAY; ++i) rays += hn[i] < 4.0f;
    printf("unsorted %d keys %016llx ids %016llx tree %016llx\n", unsorted,
           (unsigned long long)digest_of(hk, N_TRI), (unsigned long long)digest_of(hi, N_TRI),
           (unsigned long long)digest_of(hnode, 2 * (N_TRI - 1)));
    printf("root %.4f %.4f %.4f  %.4f %.4f %.4f\n", root.lo.x, root.lo.y, root.lo.z, root.hi.x, root.hi.y, root.hi.z);
    printf("box hits %llu (%016llx %016llx), rays that hit %llu (%016llx)\n", total,
           (unsigned long long)digest_of(hh, N_QUERY), (unsigned long long)digest_of(hd, N_QUERY), rays,
           (unsigned long long)digest_of(hn, N_RAY));
    free(hk); free(hi); free(hh); free(hd); free(hn); free(hnode);
    CU(cudaDeviceReset());
    return 0;
}
