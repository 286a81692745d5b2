// Small collection of combinatorial kernels:
//   knapsack_row     one launch per item, long capacity row in global memory (ping-pong)
//   knapsack_batch   many small instances, one block each, row in shared memory
//   queens_count     N-queens, bitmask backtracking with an explicit stack, one prefix per thread
//   lcs_tile         LCS table by anti-diagonals of tiles, anti-diagonals again inside a tile
//   fw_diag/fw_cross/fw_rest   blocked Floyd-Warshall
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <numeric>
#include <algorithm>

typedef unsigned int u32;
typedef unsigned long long u64;

#define CHECK(x) check_((x), __FILE__, __LINE__)
static inline void check_(cudaError_t e, const char *f, int l)
{
    if (e != cudaSuccess) { fprintf(stderr, "%s(%d): %s: %s\n", f, l, cudaGetErrorName(e), cudaGetErrorString(e)); exit(1); }
}

__host__ __device__ inline u32 wang(u32 s)
{
    s = (s ^ 61u) ^ (s >> 16);
    s *= 9u;
    s ^= s >> 4;
    s *= 0x27d4eb2du;
    s ^= s >> 15;
    return s;
}

static u64 fnv(const void *p, size_t n, u64 h = 0xcbf29ce484222325ull)
{
    const unsigned char *b = (const unsigned char *)p;
    while (n--) { h ^= *b++; h *= 0x100000001b3ull; }
    return h;
}

// ---------------------------------------------------------------- knapsack

__global__ void knapsack_row(const int *prev, int *next, int cap, int w, int v)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= cap) {
        int best = prev[c];
        if (c >= w) {
            int t = prev[c - w] + v;
            if (t > best) best = t;
        }
        next[c] = best;
    }
}

const int BATCH_ITEMS = 30;
const int BATCH_CAP = 1201;

__global__ void knapsack_batch(u32 seed, int *result)
{
    __shared__ int row[2][BATCH_CAP];
    __shared__ int wt[BATCH_ITEMS], val[BATCH_ITEMS];
    int tid = threadIdx.x;
    if (tid < BATCH_ITEMS) {
        u32 h = wang(seed + blockIdx.x * 1009u + tid);
        wt[tid] = 10 + h % 173;
        val[tid] = 5 + (h >> 12) % 400;
    }
    for (int c = tid; c < BATCH_CAP; c += blockDim.x) row[0][c] = 0;
    __syncthreads();
    int cur = 0;
    for (int k = 0; k < BATCH_ITEMS; k++) {
        int w = wt[k], v = val[k];
        for (int c = tid; c < BATCH_CAP; c += blockDim.x) {
            int a = row[cur][c];
            if (c >= w) a = max(a, row[cur][c - w] + v);
            row[cur ^ 1][c] = a;
        }
        __syncthreads();
        cur ^= 1;
    }
    if (tid == 0) result[blockIdx.x] = row[cur][BATCH_CAP - 1];
}

// ---------------------------------------------------------------- queens

struct Prefix { u32 cols, d1, d2; };

__global__ void queens_count(const Prefix *pre, int n_pre, int n, int depth, u32 *count, u64 *total)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    u32 found = 0;
    if (t < n_pre) {
        const u32 all = (1u << n) - 1;
        u32 s_cols[12], s_d1[12], s_d2[12], s_free[12];
        int sp = 0;
        const int left = n - depth;
        s_cols[0] = pre[t].cols; s_d1[0] = pre[t].d1; s_d2[0] = pre[t].d2;
        s_free[0] = all & ~(s_cols[0] | s_d1[0] | s_d2[0]);
        while (sp >= 0) {
            u32 f = s_free[sp];
            if (f == 0) { sp--; continue; }
            u32 bit = f & (0u - f);
            s_free[sp] = f ^ bit;
            if (sp == left - 1) { found++; continue; }
            u32 c = s_cols[sp] | bit, a = (s_d1[sp] | bit) << 1, b = (s_d2[sp] | bit) >> 1;
            sp++;
            s_cols[sp] = c; s_d1[sp] = a; s_d2[sp] = b;
            s_free[sp] = all & ~(c | a | b);
        }
        count[t] = found;
    }
    for (int o = 16; o; o /= 2) found += __shfl_down_sync(0xffffffffu, found, o);
    if (threadIdx.x % 32 == 0) atomicAdd(total, (u64)found);
}

static void expand(int n, int depth, int row, u32 c, u32 a, u32 b, std::vector<Prefix> &out)
{
    if (row == depth) { out.push_back({c, a, b}); return; }
    u32 f = ((1u << n) - 1) & ~(c | a | b);
    while (f) {
        u32 bit = f & (0u - f);
        f ^= bit;
        expand(n, depth, row + 1, c | bit, (a | bit) << 1, (b | bit) >> 1, out);
    }
}

// ---------------------------------------------------------------- LCS

const int LT = 192;   // tile edge == block size

// right[] keeps, for the row strip of each tile row, the last column so far; bottom[] likewise for columns.
// corner[] keeps the value at the top left corner for each tile row.
__global__ void __launch_bounds__(LT) lcs_tile(const unsigned char *A, int la, const unsigned char *B, int lb,
                                               int diag, int first, int *right, int *bottom, int *corner)
{
    __shared__ unsigned char sb[LT];
    __shared__ int dtop[LT + 1];
    __shared__ int pass[2][LT];
    int ti = first + blockIdx.x, tj = diag - ti;
    int t = threadIdx.x;
    int gi = ti * LT + t, gj0 = tj * LT;
    unsigned char ca = gi < la ? A[gi] : 255;
    sb[t] = gj0 + t < lb ? B[gj0 + t] : 254;
    dtop[t + 1] = ti ? bottom[gj0 + t] : 0;
    if (t == 0) dtop[0] = corner[ti];
    int left = tj ? right[gi] : 0;
    int diagv = t ? (tj ? right[gi - 1] : 0) : 0;
    __syncthreads();
    if (t == 0) diagv = dtop[0];
    int cur = left;
    for (int step = 0; step < 2 * LT - 1; step++) {
        int c = step - t;
        if (c >= 0 && c < LT) {
            int upv = t ? pass[(step + 1) & 1][t - 1] : dtop[c + 1];
            int v = ca == sb[c] ? diagv + 1 : max(upv, cur);
            diagv = upv;
            cur = v;
            pass[step & 1][t] = v;
            if (t == LT - 1) bottom[gj0 + c] = v;
        }
        __syncthreads();
    }
    right[gi] = cur;
    if (t == LT - 1) {
        // next tile in this row starts right of us; its corner is our top right value
        corner[ti] = dtop[LT];
    }
}

// ---------------------------------------------------------------- Floyd-Warshall

const int FT = 32;

__device__ inline int relax(int d, int a, int b) { return min(d, a + b); }

__global__ void fw_diag(int *d, int n, int k)
{
    __shared__ int s[FT][FT + 1];
    int x = threadIdx.x, y = threadIdx.y;
    int at = (k * FT + y) * n + k * FT + x;
    s[y][x] = d[at];
    __syncthreads();
    for (int m = 0; m < FT; m++) {
        int v = relax(s[y][x], s[y][m], s[m][x]);
        __syncthreads();
        s[y][x] = v;
        __syncthreads();
    }
    d[at] = s[y][x];
}

__global__ void fw_cross(int *d, int n, int k)
{
    int b = blockIdx.x;
    if (b >= k) b++;                         // skip the diagonal tile
    bool row = blockIdx.y == 0;
    __shared__ int piv[FT][FT + 1], s[FT][FT + 1];
    int x = threadIdx.x, y = threadIdx.y;
    int at = row ? (k * FT + y) * n + b * FT + x : (b * FT + y) * n + k * FT + x;
    piv[y][x] = d[(k * FT + y) * n + k * FT + x];
    s[y][x] = d[at];
    __syncthreads();
    for (int m = 0; m < FT; m++) {
        int v = row ? relax(s[y][x], piv[y][m], s[m][x]) : relax(s[y][x], s[y][m], piv[m][x]);
        __syncthreads();
        s[y][x] = v;
        __syncthreads();
    }
    d[at] = s[y][x];
}

// each thread owns a column of 4 results; 32x8 threads per tile
__global__ void fw_rest(int *d, int n, int k)
{
    int bi = blockIdx.y, bj = blockIdx.x;
    if (bi == k || bj == k) return;
    __shared__ int r[FT][FT], c[FT][FT];
    int x = threadIdx.x, y = threadIdx.y;
    for (int q = 0; q < 4; q++) {
        int yy = y + 8 * q;
        r[yy][x] = d[(k * FT + yy) * n + bj * FT + x];
        c[yy][x] = d[(bi * FT + yy) * n + k * FT + x];
    }
    int *p = d + (bi * FT + y) * n + bj * FT + x;
    int v0 = p[0], v1 = p[8 * n], v2 = p[16 * n], v3 = p[24 * n];
    __syncthreads();
#pragma unroll 8
    for (int m = 0; m < FT; m++) {
        int rr = r[m][x];
        v0 = relax(v0, c[y][m], rr);
        v1 = relax(v1, c[y + 8][m], rr);
        v2 = relax(v2, c[y + 16][m], rr);
        v3 = relax(v3, c[y + 24][m], rr);
    }
    p[0] = v0; p[8 * n] = v1; p[16 * n] = v2; p[24 * n] = v3;
}

// ---------------------------------------------------------------- drivers

static void do_knapsack()
{
    const int cap = 700001, items = 10;
    int *a, *b;
    CHECK(cudaMalloc(&a, (cap + 1) * sizeof(int)));
    CHECK(cudaMalloc(&b, (cap + 1) * sizeof(int)));
    CHECK(cudaMemset(a, 0, (cap + 1) * sizeof(int)));
    for (int k = 0; k < items; k++) {
        int w = 1000 + wang(k) % 150000, v = 1 + wang(k + 77) % 10000;
        knapsack_row<<<(cap + 256) / 256, 256>>>(a, b, cap, w, v);
        CHECK(cudaGetLastError());
        std::swap(a, b);
    }
    std::vector<int> row(cap + 1);
    CHECK(cudaMemcpy(row.data(), a, row.size() * sizeof(int), cudaMemcpyDeviceToHost));
    printf("knapsack best %d row %016llx\n", row[cap], fnv(row.data(), row.size() * sizeof(int)));
    CHECK(cudaFree(a)); CHECK(cudaFree(b));

    const int inst = 300;
    int *res;
    CHECK(cudaMalloc(&res, 2 * inst * sizeof(int)));
    knapsack_batch<<<inst, 256>>>(1u, res);
    CHECK(cudaGetLastError());
    knapsack_batch<<<inst, 480>>>(99991u, res + inst);
    CHECK(cudaGetLastError());
    std::vector<int> h(2 * inst);
    CHECK(cudaMemcpy(h.data(), res, h.size() * sizeof(int), cudaMemcpyDeviceToHost));
    printf("batch sum %d hash %016llx\n", std::accumulate(h.begin(), h.end(), 0), fnv(h.data(), h.size() * sizeof(int)));
    CHECK(cudaFree(res));
}

static void do_queens()
{
    u64 *tot;
    CHECK(cudaMalloc(&tot, sizeof(u64)));
    for (int n = 11; n <= 12; n++) {
        const int depth = 4;
        std::vector<Prefix> pre;
        expand(n, depth, 0, 0, 0, 0, pre);
        Prefix *dp;
        u32 *cnt;
        CHECK(cudaMalloc(&dp, pre.size() * sizeof(Prefix)));
        CHECK(cudaMalloc(&cnt, pre.size() * sizeof(u32)));
        CHECK(cudaMemcpy(dp, pre.data(), pre.size() * sizeof(Prefix), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(tot, 0, sizeof(u64)));
        queens_count<<<((int)pre.size() + 63) / 64, 64>>>(dp, (int)pre.size(), n, depth, cnt, tot);
        CHECK(cudaGetLastError());
        std::vector<u32> c(pre.size());
        u64 t;
        CHECK(cudaMemcpy(c.data(), cnt, c.size() * sizeof(u32), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(&t, tot, sizeof t, cudaMemcpyDeviceToHost));
        printf("queens(%d) = %llu, %zu prefixes, %016llx\n", n, t, pre.size(), fnv(c.data(), c.size() * sizeof(u32)));
        CHECK(cudaFree(dp)); CHECK(cudaFree(cnt));
    }
    CHECK(cudaFree(tot));
}

static void do_lcs()
{
    const int la = 1700, lb = 1483;
    const int ta = (la + LT - 1) / LT, tb = (lb + LT - 1) / LT;
    std::vector<unsigned char> A(la), B(lb);
    for (int i = 0; i < la; i++) A[i] = "ACGT"[wang(i) & 3];
    for (int i = 0; i < lb; i++) B[i] = (wang(i + 5555) % 5) ? A[(i + i / 9) % la] : "ACGT"[wang(i * 3) & 3];
    unsigned char *dA, *dB;
    int *right, *bottom, *corner;
    CHECK(cudaMalloc(&dA, la)); CHECK(cudaMalloc(&dB, lb));
    CHECK(cudaMalloc(&right, ta * LT * sizeof(int)));
    CHECK(cudaMalloc(&bottom, tb * LT * sizeof(int)));
    CHECK(cudaMalloc(&corner, ta * sizeof(int)));
    CHECK(cudaMemset(corner, 0, ta * sizeof(int)));
    CHECK(cudaMemcpy(dA, A.data(), la, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, B.data(), lb, cudaMemcpyHostToDevice));
    for (int d = 0; d < ta + tb - 1; d++) {
        int first = std::max(0, d - tb + 1), last = std::min(d, ta - 1);
        lcs_tile<<<last - first + 1, LT>>>(dA, la, dB, lb, d, first, right, bottom, corner);
        CHECK(cudaGetLastError());
    }
    std::vector<int> bot(tb * LT);
    CHECK(cudaMemcpy(bot.data(), bottom, bot.size() * sizeof(int), cudaMemcpyDeviceToHost));
    // reference on the host
    std::vector<int> p(lb + 1, 0), q(lb + 1, 0);
    for (int i = 0; i < la; i++) {
        for (int j = 0; j < lb; j++) q[j + 1] = A[i] == B[j] ? p[j] + 1 : std::max(p[j + 1], q[j]);
        std::swap(p, q);
    }
    printf("lcs %d (%s) %016llx\n", bot[lb - 1], bot[lb - 1] == p[lb] ? "matches" : "DIFFERS", fnv(bot.data(), lb * sizeof(int)));
    CHECK(cudaFree(dA)); CHECK(cudaFree(dB)); CHECK(cudaFree(right)); CHECK(cudaFree(bottom)); CHECK(cudaFree(corner));
}

static void do_fw()
{
    const int real = 375, tiles = (real + FT - 1) / FT, n = tiles * FT;
    const int INF = 1 << 28;
    std::vector<int> d((size_t)n * n, INF);
    for (int i = 0; i < n; i++) {
        d[(size_t)i * n + i] = 0;
        if (i < real)
            for (int e = 0; e < 6; e++) {
                u32 h = wang(i * 6 + e);
                int j = h % real;
                int w = 1 + (h >> 16) % 1000;
                if (j != i) d[(size_t)i * n + j] = std::min(d[(size_t)i * n + j], w);
            }
    }
    int *dd;
    CHECK(cudaMalloc(&dd, d.size() * sizeof(int)));
    CHECK(cudaMemcpy(dd, d.data(), d.size() * sizeof(int), cudaMemcpyHostToDevice));
    for (int k = 0; k < tiles; k++) {
        fw_diag<<<1, dim3(FT, FT)>>>(dd, n, k);
        CHECK(cudaGetLastError());
        fw_cross<<<dim3(tiles - 1, 2), dim3(FT, FT)>>>(dd, n, k);
        CHECK(cudaGetLastError());
        fw_rest<<<dim3(tiles, tiles), dim3(FT, 8)>>>(dd, n, k);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(d.data(), dd, d.size() * sizeof(int), cudaMemcpyDeviceToHost));
    u64 sum = 0;
    int reach = 0, diam = 0;
    for (int i = 0; i < real; i++)
        for (int j = 0; j < real; j++) {
            int v = d[(size_t)i * n + j];
            if (v < INF) { sum += v; reach++; diam = std::max(diam, v); }
        }
    printf("apsp reach %d sum %llu diameter %d hash %016llx\n", reach, sum, diam, fnv(d.data(), d.size() * sizeof(int)));
    CHECK(cudaFree(dd));
}

int main()
{
    do_knapsack();
    do_queens();
    do_lcs();
    do_fw();
    CHECK(cudaDeviceSynchronize());
    return 0;
}
