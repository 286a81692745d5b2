// Tree ensembles: (1) random forest / GBT inference in three flavours,
// (2) one level of histogram-based boosting: quantile binning, gradient
// histograms, split search, row partition.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cmath>
#include <vector>
#include <algorithm>
#include <cuda_runtime.h>

static void die(cudaError_t e, int l) { fprintf(stderr, "cuda error '%s' line %d\n", cudaGetErrorString(e), l); exit(1); }
#define TRY(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) die(e_, __LINE__); } while (0)

const int F = 28;            // features
const int TREES = 96;
const int DEPTH = 8;
const int INNER = (1 << DEPTH) - 1, LEAVES = 1 << DEPTH;
const int BINS = 64;
const int NODES = 8;         // nodes of the level being split

struct Node { int feat; float thr; };

// --- inference --------------------------------------------------------------
// naive: one thread per row, row-major features, complete trees
__global__ void predict_naive(const float *X, int rows, const Node *nodes, const float *leaf, float *out)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float *x = X + (size_t)r * F;
    float s = 0.0f;
    for (int t = 0; t < TREES; t++) {
        const Node *tn = nodes + t * INNER;
        int k = 0;
        while (k < INNER) {
            Node nd = tn[k];
            k = 2 * k + (x[nd.feat] < nd.thr ? 1 : 2);
        }
        s += leaf[t * LEAVES + k - INNER];
    }
    out[r] = s;
}

// trees staged through shared memory, features column-major, several trees at a time
const int STAGE = 4;
__global__ void __launch_bounds__(224) predict_shared(const float *__restrict__ XT, int rows, const Node *__restrict__ nodes,
                                                      const float *__restrict__ leaf, int ntrees, float *__restrict__ out)
{
    __shared__ Node sn[STAGE * INNER];
    __shared__ float sl[STAGE * LEAVES];
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.0f;
    for (int t0 = 0; t0 < ntrees; t0 += STAGE) {
        __syncthreads();
        for (int i = threadIdx.x; i < STAGE * INNER; i += blockDim.x) sn[i] = nodes[t0 * INNER + i];
        for (int i = threadIdx.x; i < STAGE * LEAVES; i += blockDim.x) sl[i] = leaf[t0 * LEAVES + i];
        __syncthreads();
        if (r < rows) {
#pragma unroll
            for (int t = 0; t < STAGE; t++) {
                int k = 0;
#pragma unroll
                for (int d = 0; d < DEPTH; d++) {
                    Node nd = sn[t * INNER + k];
                    k = 2 * k + 2 - (XT[(size_t)nd.feat * rows + r] < nd.thr);
                }
                s += sl[t * LEAVES + k - INNER];
            }
        }
    }
    if (r < rows) out[r] = s;
}

// random-forest vote: block per row, thread per tree, unbalanced trees cut off at an early leaf
__global__ void vote(const float *X, int rows, const Node *nodes, const uint8_t *cut, int *cls)
{
    __shared__ float x[F];
    __shared__ int votes[4];
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        if (threadIdx.x < F) x[threadIdx.x] = X[(size_t)r * F + threadIdx.x];
        if (threadIdx.x < 4) votes[threadIdx.x] = 0;
        __syncthreads();
        if (threadIdx.x < TREES) {
            const Node *tn = nodes + threadIdx.x * INNER;
            int k = 0;
            while (k < INNER && !cut[threadIdx.x * INNER + k]) k = 2 * k + (x[tn[k].feat] < tn[k].thr ? 1 : 2);
            atomicAdd(&votes[(k * 7 + threadIdx.x) & 3], 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            int b = 0;
            for (int c = 1; c < 4; c++) if (votes[c] > votes[b]) b = c;
            cls[r] = b;
        }
        __syncthreads();
    }
}

__global__ void transpose(const float *in, float *out, int rows)
{
    __shared__ float tile[32][33];
    int r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (r + k < rows && threadIdx.x < F) tile[threadIdx.y + k][threadIdx.x] = in[(size_t)(r + k) * F + threadIdx.x];
    __syncthreads();
    int rr = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 8)
        if (rr < rows && threadIdx.y + k < F) out[(size_t)(threadIdx.y + k) * rows + rr] = tile[threadIdx.x][threadIdx.y + k];
}

// --- training ------------------------------------------------------------------
__constant__ float c_cuts[F * (BINS - 1)];

__global__ void binning(const float *XT, int rows, uint8_t *bins)
{
    int f = blockIdx.y;
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
        float v = XT[(size_t)f * rows + r];
        int lo = 0, hi = BINS - 1;
        while (lo < hi) { int m = (lo + hi) >> 1; if (c_cuts[f * (BINS - 1) + m] <= v) lo = m + 1; else hi = m; }
        bins[(size_t)f * rows + r] = (uint8_t)lo;
    }
}

// squared loss gradient, fixed point
__global__ void gradients(const float *pred, const float *y, int rows, int *g)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) g[r] = __float2int_rn((pred[r] - y[r]) * 1024.0f);
}

// the three levels above are given by fixed splits
__global__ void assign_nodes(const uint8_t *bins, int rows, uint8_t *node)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int a = bins[r] > 30, b = bins[(size_t)(a ? 3 : 5) * rows + r] > 22, c = bins[(size_t)(b ? 9 : 14) * rows + r] > 40;
    node[r] = (uint8_t)(a * 4 + b * 2 + c);
}

struct HistCell { unsigned long long g; unsigned long long n; };   // g is two's complement

__global__ void build_hist(const uint8_t *bins, const int *g, const uint8_t *node, int rows, int chunk, HistCell *hist)
{
    __shared__ int sg[NODES * BINS];
    __shared__ int sc[NODES * BINS];
    int f = blockIdx.x, b = blockIdx.y * chunk, e = min(b + chunk, rows);
    for (int i = threadIdx.x; i < NODES * BINS; i += blockDim.x) { sg[i] = 0; sc[i] = 0; }
    __syncthreads();
    for (int r = b + threadIdx.x; r < e; r += blockDim.x) {
        int k = node[r] * BINS + bins[(size_t)f * rows + r];
        atomicAdd(&sg[k], g[r]);
        atomicAdd(&sc[k], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < NODES * BINS; i += blockDim.x)
        if (sc[i]) {
            HistCell *h = hist + ((size_t)(i / BINS) * F + f) * BINS + i % BINS;
            atomicAdd(&h->g, (unsigned long long)(long long)sg[i]);
            atomicAdd(&h->n, (unsigned long long)sc[i]);
        }
}

struct Split { float gain; int feat; int bin; };

// block per node, warp per feature (strided); lane owns two bins
__global__ void find_split(const HistCell *hist, float lambda, Split *best)
{
    __shared__ Split sb[8];
    int node = blockIdx.x, w = threadIdx.x / 32, lane = threadIdx.x % 32;
    Split mine = {-1.0f, -1, -1};
    for (int f = w; f < F; f += blockDim.x / 32) {
        const HistCell *h = hist + ((size_t)node * F + f) * BINS + lane * 2;
        long long g0 = (long long)h[0].g, g1 = g0 + (long long)h[1].g, n0 = h[0].n, n1 = n0 + (long long)h[1].n;
        long long ig = g1, in = n1;
        for (int o = 1; o < 32; o <<= 1) {
            long long a = __shfl_up_sync(0xffffffffu, ig, o), b = __shfl_up_sync(0xffffffffu, in, o);
            if (lane >= o) { ig += a; in += b; }
        }
        long long tg = __shfl_sync(0xffffffffu, ig, 31), tn = __shfl_sync(0xffffffffu, in, 31);
        for (int q = 0; q < 2; q++) {
            long long lg = ig - g1 + (q ? g1 : g0), ln = in - n1 + (q ? n1 : n0);
            if (ln < 20 || tn - ln < 20) continue;
            float a = (float)lg / 1024.0f, c = (float)(tg - lg) / 1024.0f, p = (float)tg / 1024.0f;
            float gain = a * a / (ln + lambda) + c * c / (tn - ln + lambda) - p * p / (tn + lambda);
            int bin = lane * 2 + q;
            if (gain > mine.gain) mine = {gain, f, bin};
        }
    }
    for (int o = 16; o; o >>= 1) {
        float g = __shfl_down_sync(0xffffffffu, mine.gain, o);
        int f = __shfl_down_sync(0xffffffffu, mine.feat, o), b = __shfl_down_sync(0xffffffffu, mine.bin, o);
        if (g > mine.gain || (g == mine.gain && (f < mine.feat || (f == mine.feat && b < mine.bin)))) mine = {g, f, b};
    }
    if (lane == 0) sb[w] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < (int)blockDim.x / 32; i++)
            if (sb[i].gain > mine.gain || (sb[i].gain == mine.gain && sb[i].feat < mine.feat)) mine = sb[i];
        best[node] = mine;
    }
}

__global__ void partition(const uint8_t *bins, int rows, const Split *best, uint8_t *node, int *count)
{
    __shared__ int c[2 * NODES];
    if (threadIdx.x < 2 * NODES) c[threadIdx.x] = 0;
    __syncthreads();
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        Split s = best[node[r]];
        int right = s.feat >= 0 && bins[(size_t)s.feat * rows + r] > s.bin;
        int nn = node[r] * 2 + right;
        node[r] = (uint8_t)nn;
        atomicAdd(&c[nn], 1);
    }
    __syncthreads();
    if (threadIdx.x < 2 * NODES && c[threadIdx.x]) atomicAdd(&count[threadIdx.x], c[threadIdx.x]);
}

static uint64_t fnv(const void *p, size_t n)
{
    uint64_t h = 14695981039346656037ull;
    for (size_t i = 0; i < n; i++) { h ^= ((const uint8_t *)p)[i]; h *= 1099511628211ull; }
    return h;
}
template <class T> T *alloc(size_t n) { T *p; TRY(cudaMalloc(&p, n * sizeof(T))); return p; }
template <class T> void put(T *d, const std::vector<T> &h) { TRY(cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice)); }
template <class T> std::vector<T> get(const T *d, size_t n)
{
    std::vector<T> h(n);
    TRY(cudaMemcpy(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
    return h;
}

int main()
{
    const int rows = 70001, train = 330017, shrows = 41003;
    uint64_t s = 42;
    auto rnd = [&]() { s = s * 6364136223846793005ull + 1442695040888963407ull; return (uint32_t)(s >> 40); };   // 24 bits
    auto uni = [&]() { return rnd() / 16777216.0f; };

    std::vector<float> X((size_t)train * F), y(train);
    for (int r = 0; r < train; r++) {
        for (int f = 0; f < F; f++) { float u = uni(); X[(size_t)r * F + f] = f % 3 == 0 ? u * u : (f % 3 == 1 ? u : u * uni()); }
        const float *x = &X[(size_t)r * F];
        y[r] = 2.0f * x[1] - x[4] * x[7] + (x[10] > 0.5f ? 1.0f : 0.0f) + 0.1f * uni();
    }
    std::vector<Node> nodes(TREES * INNER);
    std::vector<float> leaf(TREES * LEAVES);
    std::vector<uint8_t> cut(TREES * INNER);
    for (size_t i = 0; i < nodes.size(); i++) { nodes[i].feat = rnd() % F; nodes[i].thr = 0.15f + 0.5f * uni(); cut[i] = rnd() % 100 < 9; }
    for (float &l : leaf) l = (uni() - 0.45f) * 0.1f;
    std::vector<float> cuts(F * (BINS - 1));
    for (int f = 0; f < F; f++) {                      // quantiles of a sample
        std::vector<float> q;
        for (int r = f; r < train; r += 331) q.push_back(X[(size_t)r * F + f]);
        std::sort(q.begin(), q.end());
        for (int b = 1; b < BINS; b++) cuts[f * (BINS - 1) + b - 1] = q[q.size() * b / BINS];
    }
    TRY(cudaMemcpyToSymbol(c_cuts, cuts.data(), cuts.size() * sizeof(float)));

    float *dX = alloc<float>(X.size()), *dXT = alloc<float>(X.size()), *dy = alloc<float>(train), *dp = alloc<float>(train);
    float *dl = alloc<float>(leaf.size()), *dout = alloc<float>(rows);
    Node *dn = alloc<Node>(nodes.size());
    uint8_t *dcut = alloc<uint8_t>(cut.size()), *dbin = alloc<uint8_t>((size_t)train * F), *dnode = alloc<uint8_t>(train);
    int *dcls = alloc<int>(shrows), *dg = alloc<int>(train), *dcount = alloc<int>(2 * NODES);
    HistCell *dh = alloc<HistCell>(NODES * F * BINS);
    Split *dbest = alloc<Split>(NODES);
    put(dX, X); put(dy, y); put(dl, leaf); put(dn, nodes); put(dcut, cut);
    TRY(cudaMemset(dh, 0, NODES * F * BINS * sizeof(HistCell)));
    TRY(cudaMemset(dcount, 0, 2 * NODES * sizeof(int)));

    // inference
    predict_naive<<<(rows + 127) / 128, 128>>>(dX, rows, dn, dl, dout);
    TRY(cudaGetLastError());
    auto out = get(dout, rows);
    bool ok = true;
    for (int r = 0; r < rows; r += 501) {
        float t = 0;
        for (int q = 0; q < TREES; q++) {
            int k = 0;
            while (k < INNER) { Node nd = nodes[q * INNER + k]; k = 2 * k + (X[(size_t)r * F + nd.feat] < nd.thr ? 1 : 2); }
            t += leaf[q * LEAVES + k - INNER];
        }
        if (t != out[r]) ok = false;
    }
    printf("predict  %016llx %s\n", (unsigned long long)fnv(out.data(), rows * 4ul), ok ? "ok" : "mismatch");
    vote<<<1000, 96>>>(dX, shrows, dn, dcut, dcls);
    TRY(cudaGetLastError());
    auto cls = get(dcls, shrows);
    int cc[4] = {0, 0, 0, 0};
    for (int c : cls) cc[c]++;
    printf("votes    %d %d %d %d %016llx\n", cc[0], cc[1], cc[2], cc[3], (unsigned long long)fnv(cls.data(), shrows * 4ul));

    transpose<<<(train + 31) / 32, dim3(32, 8)>>>(dX, dXT, train);
    predict_shared<<<(train + 223) / 224, 224>>>(dXT, train, dn, dl, 12, dp);
    TRY(cudaGetLastError());
    auto p = get(dp, train);
    printf("predictT %016llx\n", (unsigned long long)fnv(p.data(), train * 4ul));

    // one boosting level
    binning<<<dim3(160, F), 256>>>(dXT, train, dbin);
    gradients<<<(train + 255) / 256, 256>>>(dp, dy, train, dg);
    assign_nodes<<<(train + 319) / 320, 320>>>(dbin, train, dnode);
    const int chunk = 16384;
    build_hist<<<dim3(F, (train + chunk - 1) / chunk), 512>>>(dbin, dg, dnode, train, chunk, dh);
    find_split<<<NODES, 256>>>(dh, 1.0f, dbest);
    partition<<<(train + 255) / 256, 256>>>(dbin, train, dbest, dnode, dcount);
    TRY(cudaGetLastError());
    auto bins = get(dbin, (size_t)train * F);
    auto hist = get(dh, NODES * F * BINS);
    auto best = get(dbest, NODES);
    auto count = get(dcount, 2 * NODES);
    auto node = get(dnode, train);
    printf("bins     %016llx\n", (unsigned long long)fnv(bins.data(), bins.size()));
    unsigned long long tot = 0;
    for (auto &h : hist) tot += h.n;
    printf("hist     %016llx %s\n", (unsigned long long)fnv(hist.data(), hist.size() * sizeof(HistCell)),
           tot == (unsigned long long)train * F ? "ok" : "mismatch");
    for (int i = 0; i < NODES; i++) printf("node %d: feature %d bin %d rows %d/%d\n", i, best[i].feat, best[i].bin, count[2 * i], count[2 * i + 1]);
    printf("nodes    %016llx\n", (unsigned long long)fnv(node.data(), train));
    void *all[] = {dX, dXT, dy, dp, dl, dout, dn, dcut, dbin, dnode, dcls, dg, dcount, dh, dbest};
    for (void *q : all) TRY(cudaFree(q));
    return 0;
}
