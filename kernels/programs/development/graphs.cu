// Graph analytics on an R-MAT graph in CSR form: BFS with frontier queues,
// PageRank (pull), connected components by label propagation, triangles.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <queue>
#include <vector>
#include <cuda_runtime.h>

#define SAFE_CALL(call)                                                          \
    {                                                                            \
        cudaError_t err = call;                                                  \
        if (err != cudaSuccess) {                                                \
            fprintf(stderr, "Cuda error in file '%s' in line %i : %s.\n",        \
                    __FILE__, __LINE__, cudaGetErrorString(err));                \
            exit(EXIT_FAILURE);                                                  \
        }                                                                        \
    }

typedef unsigned int vid;
typedef unsigned long long u64;

struct Csr {
    int n;
    std::vector<int> off;
    std::vector<vid> adj;
};

static u64 rng = 88172645463325252ULL;
static double uniform()
{
    rng ^= rng << 13; rng ^= rng >> 7; rng ^= rng << 17;
    return (double)(rng >> 11) / 9007199254740992.0;
}

static Csr build(int n, std::vector<std::pair<vid, vid>> &e)
{
    std::sort(e.begin(), e.end());
    e.erase(std::unique(e.begin(), e.end()), e.end());
    Csr g;
    g.n = n;
    g.off.assign(n + 1, 0);
    g.adj.reserve(e.size());
    for (auto &p : e) { g.off[p.first + 1]++; g.adj.push_back(p.second); }
    for (int i = 0; i < n; i++) g.off[i + 1] += g.off[i];
    return g;
}

static Csr rmat(int n, int scale, int nedges)
{
    std::vector<std::pair<vid, vid>> e;
    e.reserve(2 * nedges);
    for (int i = 0; i < nedges; i++) {
        u64 u = 0, v = 0;
        for (int b = 0; b < scale; b++) {
            double r = uniform();
            u = 2 * u + (r >= 0.76);
            v = 2 * v + ((r >= 0.57 && r < 0.76) || r >= 0.95);
        }
        // scramble, so that the hubs do not all have small numbers
        vid a = (vid)(u * 2654435761ULL % (u64)n), c = (vid)(v * 2654435761ULL % (u64)n);
        if (a == c) continue;
        e.push_back({a, c});
        e.push_back({c, a});
    }
    return build(n, e);
}

static u64 fnv(const void *p, size_t n)
{
    const unsigned char *c = (const unsigned char *)p;
    u64 h = 14695981039346656037ULL;
    for (size_t i = 0; i < n; i++) { h ^= c[i]; h *= 1099511628211ULL; }
    return h;
}

// ------------------------------------------------------------------ BFS
__global__ void bfs_thread(const int *off, const vid *adj, const vid *frontier, int fsize, vid *next,
                           int *next_size, int *level, int depth)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= fsize) return;
    vid u = frontier[t];
    for (int i = off[u]; i < off[u + 1]; i++) {
        vid v = adj[i];
        if (level[v] == -1 && atomicCAS(&level[v], -1, depth) == -1)
            next[atomicAdd(next_size, 1)] = v;
    }
}

// one warp per frontier vertex, the warp reserves queue space once per 32 neighbours
__global__ void bfs_warp(const int *off, const vid *adj, const vid *frontier, int fsize, vid *next,
                         int *next_size, int *level, int depth)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (warp >= fsize) return;
    vid u = frontier[warp];
    int beg = off[u], end = off[u + 1];
    for (int base = beg; base < end; base += 32) {
        int i = base + lane;
        bool found = false;
        vid v = 0;
        if (i < end) {
            v = adj[i];
            found = level[v] == -1 && atomicCAS(&level[v], -1, depth) == -1;
        }
        unsigned m = __ballot_sync(0xffffffffu, found);
        if (m) {
            int pos = 0;
            if (lane == 0) pos = atomicAdd(next_size, __popc(m));
            pos = __shfl_sync(0xffffffffu, pos, 0);
            if (found) next[pos + __popc(m & ((1u << lane) - 1))] = v;
        }
    }
}

// ------------------------------------------------------------------ PageRank
__global__ void pr_contrib(int n, const int *off, const float *rank, float *contrib, float *dangling_part)
{
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float d = 0.0f;
    if (i < n) {
        int deg = off[i + 1] - off[i];
        contrib[i] = deg ? rank[i] / deg : 0.0f;
        if (!deg) d = rank[i];
    }
    s[threadIdx.x] = d;
    __syncthreads();
    for (int k = 128; k; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) dangling_part[blockIdx.x] = s[0];
}

__global__ void pr_pull(int n, const int *off, const vid *adj, const float *contrib, const float *dangling_part,
                        int nparts, float damping, float *rank)
{
    __shared__ float base;
    if (threadIdx.x == 0) {
        float d = 0.0f;
        for (int i = 0; i < nparts; i++) d += dangling_part[i];
        base = (1.0f - damping) / n + damping * d / n;
    }
    __syncthreads();
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float sum = 0.0f;
    for (int i = off[v]; i < off[v + 1]; i++) sum += contrib[adj[i]];
    rank[v] = base + damping * sum;
}

// 8 lanes per vertex
__global__ void pr_pull_vec8(int n, const int *__restrict__ off, const vid *__restrict__ adj,
                             const float *__restrict__ contrib, float base, float damping, float *rank)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int v = t >> 3, l = t & 7;
    float sum = 0.0f;
    if (v < n)
        for (int i = off[v] + l; i < off[v + 1]; i += 8) sum += contrib[adj[i]];
    for (int o = 4; o; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o, 8);
    if (v < n && l == 0) rank[v] = base + damping * sum;
}

// ------------------------------------------------------------------ components
__global__ void cc_init(int n, vid *label)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) label[i] = i;
}

__global__ void cc_propagate(int n, const int *off, const vid *adj, const vid *in, vid *out, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    vid old = in[v], best = old;
    for (int i = off[v]; i < off[v + 1]; i++) best = min(best, in[adj[i]]);
    best = min(best, in[best]);
    out[v] = best;
    if (best != old) *changed = 1;
}

// ------------------------------------------------------------------ triangles
// edges are directed from lower to higher degree; one thread per edge merges two lists
__global__ void tri_merge(int m, const vid *src, const vid *dst, const int *off, const vid *adj, u64 *total)
{
    __shared__ unsigned int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m) {
        vid u = src[e], v = dst[e];
        int i = off[u], ie = off[u + 1], j = off[v], je = off[v + 1];
        unsigned int c = 0;
        while (i < ie && j < je) {
            vid a = adj[i], b = adj[j];
            if (a == b) { c++; i++; j++; }
            else if (a < b) i++;
            else j++;
        }
        if (c) atomicAdd(&sum, c);
    }
    __syncthreads();
    if (threadIdx.x == 0 && sum) atomicAdd(total, (u64)sum);
}

// one warp per edge: binary search of the shorter list's items in the longer one
__global__ void tri_search(int m, const vid *src, const vid *dst, const int *off, const vid *adj, u64 *total)
{
    int w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (w >= m) return;
    vid u = src[w], v = dst[w];
    if (off[u + 1] - off[u] > off[v + 1] - off[v]) { vid t = u; u = v; v = t; }
    unsigned int c = 0;
    for (int i = off[u] + lane; i < off[u + 1]; i += 32) {
        vid x = adj[i];
        int lo = off[v], hi = off[v + 1];
        while (lo < hi) {
            int mid = (lo + hi) >> 1;
            if (adj[mid] < x) lo = mid + 1;
            else hi = mid;
        }
        if (lo < off[v + 1] && adj[lo] == x) c++;
    }
    c = __reduce_add_sync(0xffffffffu, c);
    if (lane == 0 && c) atomicAdd(total, (u64)c);
}

template <class T> static T *dev(const std::vector<T> &v)
{
    T *d;
    SAFE_CALL(cudaMalloc((void **)&d, v.size() * sizeof(T)));
    SAFE_CALL(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}

int main()
{
    const int n = 30011;
    Csr g = rmat(n, 15, 260000);
    const int m = (int)g.adj.size();
    int hub = 0, leaf = -1;
    for (int v = 0; v < n; v++) {
        int d = g.off[v + 1] - g.off[v];
        if (d > g.off[hub + 1] - g.off[hub]) hub = v;
        if (leaf < 0 && d == 2) leaf = v;
    }
    printf("vertices %d edges %d max degree %d\n", n, m, g.off[hub + 1] - g.off[hub]);
    int *d_off = dev(g.off);
    vid *d_adj = dev(g.adj);

    // BFS from a leaf (thread per vertex) and from the hub (warp per vertex)
    int *d_level, *d_size;
    vid *d_q[2];
    SAFE_CALL(cudaMalloc((void **)&d_level, n * sizeof(int)));
    SAFE_CALL(cudaMalloc((void **)&d_size, sizeof(int)));
    for (int k = 0; k < 2; k++) SAFE_CALL(cudaMalloc((void **)&d_q[k], n * sizeof(vid)));
    std::vector<int> level(n), ref(n, -1);
    for (int run = 0; run < 2; run++) {
        vid s = run == 0 ? (vid)leaf : (vid)hub;
        int zero = 0, fs = 1, depth = 0, reached = 1;
        SAFE_CALL(cudaMemset(d_level, 0xff, n * sizeof(int)));
        SAFE_CALL(cudaMemcpy(d_level + s, &zero, sizeof(int), cudaMemcpyHostToDevice));
        SAFE_CALL(cudaMemcpy(d_q[0], &s, sizeof(vid), cudaMemcpyHostToDevice));
        int cur = 0;
        while (fs > 0) {
            depth++;
            SAFE_CALL(cudaMemset(d_size, 0, sizeof(int)));
            if (run == 0)
                bfs_thread<<<(fs + 255) / 256, 256>>>(d_off, d_adj, d_q[cur], fs, d_q[cur ^ 1], d_size, d_level, depth);
            else
                bfs_warp<<<(fs + 3) / 4, 128>>>(d_off, d_adj, d_q[cur], fs, d_q[cur ^ 1], d_size, d_level, depth);
            SAFE_CALL(cudaGetLastError());
            SAFE_CALL(cudaMemcpy(&fs, d_size, sizeof(int), cudaMemcpyDeviceToHost));
            reached += fs;
            cur ^= 1;
        }
        SAFE_CALL(cudaMemcpy(level.data(), d_level, n * sizeof(int), cudaMemcpyDeviceToHost));
        printf("bfs %d: depth %d reached %d %016llx\n", run, depth - 1, reached, fnv(level.data(), n * sizeof(int)));
    }
    std::queue<vid> q;
    ref[hub] = 0;
    q.push(hub);
    while (!q.empty()) {
        vid u = q.front();
        q.pop();
        for (int i = g.off[u]; i < g.off[u + 1]; i++)
            if (ref[g.adj[i]] < 0) { ref[g.adj[i]] = ref[u] + 1; q.push(g.adj[i]); }
    }
    printf("bfs check %s\n", ref == level ? "ok" : "mismatch");

    // PageRank
    float *d_rank, *d_contrib, *d_part;
    const int nb = (n + 255) / 256;
    std::vector<float> rank(n, 1.0f / n);
    d_rank = dev(rank);
    SAFE_CALL(cudaMalloc((void **)&d_contrib, n * sizeof(float)));
    SAFE_CALL(cudaMalloc((void **)&d_part, nb * sizeof(float)));
    for (int it = 0; it < 6; it++) {
        pr_contrib<<<nb, 256>>>(n, d_off, d_rank, d_contrib, d_part);
        pr_pull<<<nb, 256>>>(n, d_off, d_adj, d_contrib, d_part, nb, 0.85f, d_rank);
    }
    SAFE_CALL(cudaGetLastError());
    SAFE_CALL(cudaMemcpy(rank.data(), d_rank, n * sizeof(float), cudaMemcpyDeviceToHost));
    double s = std::accumulate(rank.begin(), rank.end(), 0.0);
    printf("pagerank sum %.4f top %d %016llx\n", s, (int)(std::max_element(rank.begin(), rank.end()) - rank.begin()),
           fnv(rank.data(), n * sizeof(float)));
    for (int it = 0; it < 4; it++) {
        pr_contrib<<<nb, 256>>>(n, d_off, d_rank, d_contrib, d_part);
        pr_pull_vec8<<<(n * 8 + 191) / 192, 192>>>(n, d_off, d_adj, d_contrib, 0.15f / n, 0.85f, d_rank);
    }
    SAFE_CALL(cudaGetLastError());
    SAFE_CALL(cudaMemcpy(rank.data(), d_rank, n * sizeof(float), cudaMemcpyDeviceToHost));
    printf("pagerank vec %016llx\n", fnv(rank.data(), n * sizeof(float)));

    // connected components
    vid *lab[2] = {d_q[0], d_q[1]};
    int changed = 1, rounds = 0;
    cc_init<<<(n + 511) / 512, 512>>>(n, lab[0]);
    while (changed && rounds < 14) {
        SAFE_CALL(cudaMemset(d_size, 0, sizeof(int)));
        cc_propagate<<<(n + 127) / 128, 128>>>(n, d_off, d_adj, lab[0], lab[1], d_size);
        SAFE_CALL(cudaGetLastError());
        SAFE_CALL(cudaMemcpy(&changed, d_size, sizeof(int), cudaMemcpyDeviceToHost));
        std::swap(lab[0], lab[1]);
        rounds++;
    }
    std::vector<vid> label(n);
    SAFE_CALL(cudaMemcpy(label.data(), lab[0], n * sizeof(vid), cudaMemcpyDeviceToHost));
    int comps = 0;
    for (int v = 0; v < n; v++) comps += label[v] == (vid)v;
    printf("components %d in %d rounds %016llx\n", comps, rounds, fnv(label.data(), n * sizeof(vid)));

    // triangles
    std::vector<std::pair<vid, vid>> de;
    for (int u = 0; u < n; u++)
        for (int i = g.off[u]; i < g.off[u + 1]; i++) {
            int v = (int)g.adj[i], du = g.off[u + 1] - g.off[u], dv = g.off[v + 1] - g.off[v];
            if (du < dv || (du == dv && u < v)) de.push_back({(vid)u, (vid)v});
        }
    Csr dg = build(n, de);
    std::vector<vid> src(de.size()), dst(de.size());
    for (size_t i = 0; i < de.size(); i++) { src[i] = de[i].first; dst[i] = de[i].second; }
    const int dm = (int)de.size();
    int *d_doff = dev(dg.off);
    vid *d_dadj = dev(dg.adj), *d_src = dev(src), *d_dst = dev(dst);
    u64 *d_tot, tot[2];
    SAFE_CALL(cudaMalloc((void **)&d_tot, 2 * sizeof(u64)));
    SAFE_CALL(cudaMemset(d_tot, 0, 2 * sizeof(u64)));
    tri_merge<<<(dm + 255) / 256, 256>>>(dm, d_src, d_dst, d_doff, d_dadj, d_tot);
    const int part = dm / 5;                   // the search variant on a fifth of the edges
    tri_search<<<(part + 7) / 8, 256>>>(part, d_src, d_dst, d_doff, d_dadj, d_tot + 1);
    SAFE_CALL(cudaGetLastError());
    SAFE_CALL(cudaMemcpy(tot, d_tot, sizeof tot, cudaMemcpyDeviceToHost));
    printf("triangles %llu (first part %llu)\n", tot[0], tot[1]);

    cudaFree(d_off); cudaFree(d_adj); cudaFree(d_level); cudaFree(d_size); cudaFree(d_q[0]); cudaFree(d_q[1]);
    cudaFree(d_rank); cudaFree(d_contrib); cudaFree(d_part);
    cudaFree(d_doff); cudaFree(d_dadj); cudaFree(d_src); cudaFree(d_dst); cudaFree(d_tot);
    return 0;
}
