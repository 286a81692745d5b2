// Connected components (lock-free union-find) and minimum spanning forest
// (Boruvka) of a synthetic sparse graph.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>
#include <cuda_runtime.h>

#define CK(call)                                                              \
    do {                                                                      \
        cudaError_t e_ = (call);                                              \
        if (e_ != cudaSuccess) {                                              \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                \
                    cudaGetErrorString(e_));                                  \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

typedef unsigned long long u64;
typedef unsigned int u32;

static const u32 NV = 280011;
static const u32 NE = 850003;
static const u64 NO_EDGE = ~0ull;

struct Stats {
    u64 weight;
    u32 edges;
    u32 roots;
};

__host__ __device__ inline u32 mix(u32 x)
{
    x ^= x >> 16; x *= 0x7feb352dU;
    x ^= x >> 15; x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
}

// 7/8 of the edges connect vertices nearby in numbering, the rest are random.
__global__ void make_edges(uint2 *edge, u32 *weight, u32 *parent, u32 *comp)
{
    const u32 stride = gridDim.x * blockDim.x;
    const u32 tid = blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 i = tid; i < NE; i += stride) {
        u32 a = mix(i * 3u + 1u), b = mix(i * 3u + 2u), c = mix(i * 3u + 3u);
        u32 u = a % NV, v;
        if ((c & 7u) == 0)
            v = b % NV;
        else {
            v = u + 1 + b % 700;
            if (v >= NV) v -= NV;
        }
        edge[i] = make_uint2(u, v);
        weight[i] = 1 + (c >> 12);
    }
    for (u32 i = tid; i < NV; i += stride) {
        parent[i] = i;
        comp[i] = i;
    }
}

__device__ __forceinline__ u32 representative(volatile u32 *parent, u32 v)
{
    u32 cur = parent[v];
    if (cur != v) {
        u32 prev = v, next;
        while (cur > (next = parent[cur])) {
            parent[prev] = next;       // path halving, only ever moves upwards
            prev = cur;
            cur = next;
        }
    }
    return cur;
}

__global__ void cc_hook(const uint2 *__restrict__ edge, u32 *parent)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NE) return;
    uint2 e = edge[i];
    u32 ru = representative(parent, e.x);
    u32 rv = representative(parent, e.y);
    while (ru != rv) {
        u32 hi = ru > rv ? ru : rv;
        u32 lo = ru > rv ? rv : ru;
        u32 old = atomicCAS(&parent[hi], hi, lo);
        if (old == hi) break;
        ru = old;
        rv = lo;
    }
}

__global__ void cc_flatten(u32 *parent, Stats *st)
{
    u32 v = blockIdx.x * blockDim.x + threadIdx.x;
    bool is_root = false;
    if (v < NV) {
        volatile u32 *p = parent;
        u32 r = p[v], n;
        while ((n = p[r]) != r) r = n;
        is_root = (r == v);
        p[v] = r;
    }
    u32 vote = __ballot_sync(0xffffffffu, is_root);
    if ((threadIdx.x & 31) == 0 && vote) atomicAdd(&st->roots, __popc(vote));
}

__global__ void mst_reset(u64 *best, u32 *next)
{
    u32 v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < NV) {
        best[v] = NO_EDGE;
        next[v] = v;
    }
}

__global__ void mst_find_min(const uint2 *__restrict__ edge, const u32 *__restrict__ weight,
                             const u32 *__restrict__ comp, u64 *best)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NE) return;
    uint2 e = edge[i];
    u32 cu = comp[e.x], cv = comp[e.y];
    if (cu == cv) return;
    u64 key = ((u64)weight[i] << 32) | i;
    volatile u64 *vb = best;
    if (key < vb[cu]) atomicMin(&best[cu], key);
    if (key < vb[cv]) atomicMin(&best[cv], key);
}

__global__ void mst_merge(const uint2 *__restrict__ edge, const u32 *__restrict__ comp,
                          const u64 *__restrict__ best, u32 *next,
                          unsigned char *in_forest, Stats *st)
{
    u32 v = blockIdx.x * blockDim.x + threadIdx.x;
    u64 w = 0;
    u32 cnt = 0;
    if (v < NV && comp[v] == v) {
        u64 key = best[v];
        if (key != NO_EDGE) {
            u32 id = (u32)key;
            uint2 e = edge[id];
            u32 a = comp[e.x], b = comp[e.y];
            u32 other = (a == v) ? b : a;
            // two components choosing the same edge: the smaller stays root
            if (!(best[other] == key && v < other)) {
                next[v] = other;
                in_forest[id] = 1;
                w = key >> 32;
                cnt = 1;
            }
        }
    }
    for (int d = 16; d; d >>= 1) {
        w += __shfl_down_sync(0xffffffffu, w, d);
        cnt += __shfl_down_sync(0xffffffffu, cnt, d);
    }
    if ((threadIdx.x & 31) == 0 && cnt) {
        atomicAdd(&st->weight, w);
        atomicAdd(&st->edges, cnt);
    }
}

__global__ void mst_flatten(u32 *comp, const u32 *__restrict__ next)
{
    u32 v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= NV) return;
    u32 r = comp[v], n;
    while ((n = next[r]) != r) r = n;
    comp[v] = r;
}

static u64 fnv(u64 h, u64 x)
{
    for (int i = 0; i < 8; ++i) {
        h ^= (x >> (8 * i)) & 0xff;
        h *= 1099511628211ull;
    }
    return h;
}

int main()
{
    uint2 *edge;
    u32 *weight, *parent, *comp, *next;
    u64 *best;
    unsigned char *in_forest;
    Stats *st, hs;
    CK(cudaMalloc(&edge, NE * sizeof(uint2)));
    CK(cudaMalloc(&weight, NE * sizeof(u32)));
    CK(cudaMalloc(&parent, NV * sizeof(u32)));
    CK(cudaMalloc(&comp, NV * sizeof(u32)));
    CK(cudaMalloc(&next, NV * sizeof(u32)));
    CK(cudaMalloc(&best, NV * sizeof(u64)));
    CK(cudaMalloc(&in_forest, NE));
    CK(cudaMalloc(&st, sizeof(Stats)));
    CK(cudaMemset(in_forest, 0, NE));
    CK(cudaMemset(st, 0, sizeof(Stats)));

    const int B = 256;
    const int gv = (NV + B - 1) / B, ge = (NE + B - 1) / B;

    make_edges<<<512, B>>>(edge, weight, parent, comp);
    CK(cudaGetLastError());
    cc_hook<<<ge, B>>>(edge, parent);
    CK(cudaGetLastError());
    cc_flatten<<<gv, B>>>(parent, st);
    CK(cudaGetLastError());

    u32 prev_edges = 0;
    int rounds = 0;
    while (rounds < 12) {
        mst_reset<<<gv, B>>>(best, next);
        CK(cudaGetLastError());
        mst_find_min<<<ge, B>>>(edge, weight, comp, best);
        CK(cudaGetLastError());
        mst_merge<<<gv, B>>>(edge, comp, best, next, in_forest, st);
        CK(cudaGetLastError());
        mst_flatten<<<gv, B>>>(comp, next);
        CK(cudaGetLastError());
        CK(cudaMemcpy(&hs, st, sizeof hs, cudaMemcpyDeviceToHost));
        ++rounds;
        printf("round %d: forest edges %u weight %llu\n", rounds, hs.edges, hs.weight);
        if (hs.edges == prev_edges) break;
        prev_edges = hs.edges;
    }

    std::vector<u32> hp(NV), hc(NV);
    std::vector<unsigned char> hf(NE);
    CK(cudaMemcpy(hp.data(), parent, NV * sizeof(u32), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(hc.data(), comp, NV * sizeof(u32), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(hf.data(), in_forest, NE, cudaMemcpyDeviceToHost));
    u64 h1 = 14695981039346656037ull, h2 = h1, h3 = h1;
    for (u32 i = 0; i < NV; ++i) h1 = fnv(h1, hp[i]);
    for (u32 i = 0; i < NV; ++i) h2 = fnv(h2, hc[i]);
    for (u32 i = 0; i < NE; ++i) if (hf[i]) h3 = fnv(h3, i);
    printf("components %u, forest edges %u (%s)\n", hs.roots, hs.edges,
           hs.roots + hs.edges == NV ? "consistent" : "INCONSISTENT");
    printf("labels %016llx mst-labels %016llx forest %016llx\n", h1, h2, h3);
    CK(cudaFree(edge)); CK(cudaFree(weight)); CK(cudaFree(parent)); CK(cudaFree(comp));
    CK(cudaFree(next)); CK(cudaFree(best)); CK(cudaFree(in_forest)); CK(cudaFree(st));
    return 0;
}
