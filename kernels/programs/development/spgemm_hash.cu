/*
 * C = A * B for CSR matrices, one hash table per output row in shared memory.
 * Short rows: one warp per row.  Long rows: one thread block per row.
 * Two-phase (symbolic / numeric), rows of C are delivered with sorted columns.
 * Values are small integers held in floats, so that sums are exact.
 */
#include <cuda_runtime.h>
#include <stdint.h>
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>

namespace {

void check(cudaError_t e, const char *what, int line)
{
    if (e == cudaSuccess) return;
    std::fprintf(stderr, "line %d: %s -> %s\n", line, what, cudaGetErrorString(e));
    std::exit(EXIT_FAILURE);
}
#define CHECK(x) check((x), #x, __LINE__)
#define LAUNCHED(name) check(cudaGetLastError(), name, __LINE__)

constexpr int ROWS_A = 15013;
constexpr int COLS_A = 12007;   // == rows of B
constexpr int COLS_B = 17011;

constexpr int WARP_TABLE  = 256;
constexpr int WARP_LIMIT  = 160;   // products
constexpr int BLOCK_TABLE = 2048;
constexpr int BLOCK_THREADS = 256;
constexpr int WARPS_PER_BLOCK = 4;
constexpr int EMPTY = -1;

struct Csr {
    int rows = 0, cols = 0;
    std::vector<int> ptr, col;
    std::vector<float> val;
};

uint32_t rnd(uint32_t a, uint32_t b)
{
    uint32_t x = a * 0x9E3779B1u ^ (b + 0x7F4A7C15u) * 0x85EBCA77u;
    x ^= x >> 15; x *= 0x2C1B3C6Du; x ^= x >> 12; x *= 0x297A2D39u; x ^= x >> 15;
    return x;
}

Csr make_matrix(int rows, int cols, int lo, int hi, int heavy, uint32_t seed)
{
    Csr m;
    m.rows = rows; m.cols = cols;
    m.ptr.push_back(0);
    std::vector<int> c;
    for (int r = 0; r < rows; ++r) {
        uint32_t h = rnd(seed, r);
        int n = lo + h % (hi - lo + 1);
        if (heavy && (h >> 8) % 67 == 0) n = heavy + (h >> 20) % heavy;
        c.clear();
        for (int k = 0; k < n; ++k) {
            uint32_t q = rnd(seed + 17 + k, r);
            // clustered around the scaled diagonal, with a uniform tail
            int col = (q & 3) ? int((int64_t(r) * cols / rows + (q >> 4) % 90) % cols) : int((q >> 4) % cols);
            c.push_back(col);
        }
        std::sort(c.begin(), c.end());
        c.erase(std::unique(c.begin(), c.end()), c.end());
        for (int x : c) {
            m.col.push_back(x);
            int v = int(rnd(seed * 3, r * 131 + x) % 15) - 7;
            m.val.push_back(float(v ? v : 3));
        }
        m.ptr.push_back(int(m.col.size()));
    }
    return m;
}

struct DevCsr { int *ptr, *col; float *val; };

DevCsr upload(const Csr &m)
{
    DevCsr d;
    CHECK(cudaMalloc(&d.ptr, m.ptr.size() * sizeof(int)));
    CHECK(cudaMalloc(&d.col, m.col.size() * sizeof(int)));
    CHECK(cudaMalloc(&d.val, m.val.size() * sizeof(float)));
    CHECK(cudaMemcpy(d.ptr, m.ptr.data(), m.ptr.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d.col, m.col.data(), m.col.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d.val, m.val.data(), m.val.size() * sizeof(float), cudaMemcpyHostToDevice));
    return d;
}

} // namespace

__device__ __forceinline__ unsigned slot_of(int col, int size)
{
    return (unsigned(col) * 2654435761u >> 7) & (size - 1);
}

// returns true if the key was not there before
__device__ __forceinline__ bool insert_key(int *keys, int size, int col, unsigned &slot)
{
    unsigned s = slot_of(col, size);
    for (;;) {
        int k = keys[s];
        if (k == EMPTY) k = atomicCAS(&keys[s], EMPTY, col);
        if (k == col)   { slot = s; return false; }
        if (k == EMPTY) { slot = s; return true; }
        s = (s + 1) & (size - 1);
    }
}

// upper bound of the work of each row, and binning
__global__ void row_work(int rows, const int *__restrict__ aptr, const int *__restrict__ acol,
                         const int *__restrict__ bptr, int *small_rows, int *large_rows, int *bins)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int n = 0;
    for (int j = aptr[r]; j < aptr[r + 1]; ++j) {
        int k = acol[j];
        n += bptr[k + 1] - bptr[k];
    }
    if (n <= WARP_LIMIT) small_rows[atomicAdd(&bins[0], 1)] = r;
    else                 large_rows[atomicAdd(&bins[1], 1)] = r;
    atomicMax(&bins[2], n);
}

__global__ void symbolic_warp(const int *__restrict__ list, int n,
                              const int *__restrict__ aptr, const int *__restrict__ acol,
                              const int *__restrict__ bptr, const int *__restrict__ bcol,
                              int *cnt)
{
    __shared__ int tables[WARPS_PER_BLOCK][WARP_TABLE];
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    const int item = blockIdx.x * WARPS_PER_BLOCK + w;
    if (item >= n) return;
    int *keys = tables[w];
    for (int i = lane; i < WARP_TABLE; i += 32) keys[i] = EMPTY;
    __syncwarp();
    const int row = list[item];
    const int sub = lane >> 3, sl = lane & 7;      // four groups of eight lanes
    int fresh = 0;
    for (int j = aptr[row] + sub; j < aptr[row + 1]; j += 4) {
        int k = acol[j];
        for (int q = bptr[k] + sl; q < bptr[k + 1]; q += 8) {
            unsigned s;
            fresh += insert_key(keys, WARP_TABLE, bcol[q], s);
        }
    }
    __syncwarp();
    for (int d = 16; d; d >>= 1) fresh += __shfl_xor_sync(0xffffffffu, fresh, d);
    if (lane == 0) cnt[row] = fresh;
}

__global__ void __launch_bounds__(BLOCK_THREADS)
symbolic_block(const int *__restrict__ list, const int *__restrict__ aptr, const int *__restrict__ acol,
               const int *__restrict__ bptr, const int *__restrict__ bcol, int *cnt)
{
    __shared__ int keys[BLOCK_TABLE];
    __shared__ int total;
    for (int i = threadIdx.x; i < BLOCK_TABLE; i += blockDim.x) keys[i] = EMPTY;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const int row = list[blockIdx.x];
    const int grp = threadIdx.x >> 3, gl = threadIdx.x & 7;
    int fresh = 0;
    for (int j = aptr[row] + grp; j < aptr[row + 1]; j += BLOCK_THREADS / 8) {
        int k = acol[j];
        for (int q = bptr[k] + gl; q < bptr[k + 1]; q += 8) {
            unsigned s;
            fresh += insert_key(keys, BLOCK_TABLE, bcol[q], s);
        }
    }
    if (fresh) atomicAdd(&total, fresh);
    __syncthreads();
    if (threadIdx.x == 0) cnt[row] = total;
}

// exclusive scan with a single block of 1024 threads, tile after tile
__global__ void scan_rows(const int *__restrict__ cnt, int *ptr, int n)
{
    __shared__ int warp_sum[32];
    __shared__ int carry;
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    if (threadIdx.x == 0) carry = 0;
    __syncthreads();
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x;
        int v = i < n ? cnt[i] : 0, x = v;
        for (int d = 1; d < 32; d <<= 1) {
            int y = __shfl_up_sync(0xffffffffu, x, d);
            if (lane >= d) x += y;
        }
        if (lane == 31) warp_sum[w] = x;
        __syncthreads();
        if (w == 0) {
            int s = warp_sum[lane];
            for (int d = 1; d < 32; d <<= 1) {
                int y = __shfl_up_sync(0xffffffffu, s, d);
                if (lane >= d) s += y;
            }
            warp_sum[lane] = s;
        }
        __syncthreads();
        int before = carry + (w ? warp_sum[w - 1] : 0);
        if (i < n) ptr[i] = before + x - v;
        __syncthreads();
        if (threadIdx.x == 0) carry += warp_sum[31];
        __syncthreads();
    }
    if (threadIdx.x == 0) ptr[n] = carry;
}

__global__ void numeric_warp(const int *__restrict__ list, int n,
                             const int *__restrict__ aptr, const int *__restrict__ acol, const float *__restrict__ aval,
                             const int *__restrict__ bptr, const int *__restrict__ bcol, const float *__restrict__ bval,
                             const int *__restrict__ cptr, int *ccol, float *cval)
{
    __shared__ int   tk[WARPS_PER_BLOCK][WARP_TABLE];
    __shared__ float tv[WARPS_PER_BLOCK][WARP_TABLE];
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    const int item = blockIdx.x * WARPS_PER_BLOCK + w;
    if (item >= n) return;
    int *keys = tk[w];
    float *vals = tv[w];
    for (int i = lane; i < WARP_TABLE; i += 32) { keys[i] = EMPTY; vals[i] = 0.f; }
    __syncwarp();
    const int row = list[item];
    const int sub = lane >> 3, sl = lane & 7;
    for (int j = aptr[row] + sub; j < aptr[row + 1]; j += 4) {
        int k = acol[j];
        float a = aval[j];
        for (int q = bptr[k] + sl; q < bptr[k + 1]; q += 8) {
            unsigned s;
            insert_key(keys, WARP_TABLE, bcol[q], s);
            atomicAdd(&vals[s], a * bval[q]);
        }
    }
    __syncwarp();
    // squeeze the table to its front (reads of a stripe precede its writes)
    int used = 0;
    for (int i = lane; i < WARP_TABLE; i += 32) {
        int k = keys[i];
        float v = vals[i];
        unsigned m = __ballot_sync(0xffffffffu, k != EMPTY);
        __syncwarp();
        if (k != EMPTY) {
            int o = used + __popc(m & ((1u << lane) - 1u));
            keys[o] = k;
            vals[o] = v;
        }
        used += __popc(m);
        __syncwarp();
    }
    // rank sort
    const int out = cptr[row];
    for (int i = lane; i < used; i += 32) {
        int k = keys[i], rank = 0;
        for (int t = 0; t < used; ++t) rank += keys[t] < k;
        ccol[out + rank] = k;
        cval[out + rank] = vals[i];
    }
}

__global__ void __launch_bounds__(BLOCK_THREADS)
numeric_block(const int *__restrict__ list,
              const int *__restrict__ aptr, const int *__restrict__ acol, const float *__restrict__ aval,
              const int *__restrict__ bptr, const int *__restrict__ bcol, const float *__restrict__ bval,
              const int *__restrict__ cptr, int *ccol, float *cval)
{
    __shared__ int   keys[BLOCK_TABLE];
    __shared__ float vals[BLOCK_TABLE];
    const int t = threadIdx.x;
    for (int i = t; i < BLOCK_TABLE; i += BLOCK_THREADS) { keys[i] = EMPTY; vals[i] = 0.f; }
    __syncthreads();
    const int row = list[blockIdx.x];
    const int grp = t >> 3, gl = t & 7;
    for (int j = aptr[row] + grp; j < aptr[row + 1]; j += BLOCK_THREADS / 8) {
        int k = acol[j];
        float a = aval[j];
        for (int q = bptr[k] + gl; q < bptr[k + 1]; q += 8) {
            unsigned s;
            insert_key(keys, BLOCK_TABLE, bcol[q], s);
            atomicAdd(&vals[s], a * bval[q]);
        }
    }
    __syncthreads();
    // bitonic sort of the whole table; EMPTY compares as the largest key
    for (int size = 2; size <= BLOCK_TABLE; size <<= 1)
        for (int half = size >> 1; half; half >>= 1) {
            for (int p = t; p < BLOCK_TABLE / 2; p += BLOCK_THREADS) {
                int lo = 2 * p - (p & (half - 1)), hi = lo + half;
                bool up = (lo & size) == 0;
                unsigned a = (unsigned)keys[lo], b = (unsigned)keys[hi];
                if ((a > b) == up) {
                    keys[lo] = (int)b; keys[hi] = (int)a;
                    float x = vals[lo]; vals[lo] = vals[hi]; vals[hi] = x;
                }
            }
            __syncthreads();
        }
    const int out = cptr[row], len = cptr[row + 1] - out;
    for (int i = t; i < len; i += BLOCK_THREADS) {
        ccol[out + i] = keys[i];
        cval[out + i] = vals[i];
    }
}

// y = C x, a warp per row; used as a check
__global__ void spmv(int rows, const int *__restrict__ ptr, const int *__restrict__ col, const float *__restrict__ val,
                     const float *__restrict__ x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    float s = 0.f;
    for (int j = ptr[row] + lane; j < ptr[row + 1]; j += 32) s += val[j] * __ldg(x + col[j]);
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if (lane == 0) y[row] = s;
}

int main()
{
    Csr A = make_matrix(ROWS_A, COLS_A, 2, 9, 28, 11);
    Csr B = make_matrix(COLS_A, COLS_B, 3, 12, 0, 29);
    DevCsr a = upload(A), b = upload(B);

    int *small_rows, *large_rows, *bins, *cnt, *cptr;
    CHECK(cudaMalloc(&small_rows, ROWS_A * sizeof(int)));
    CHECK(cudaMalloc(&large_rows, ROWS_A * sizeof(int)));
    CHECK(cudaMalloc(&cnt, ROWS_A * sizeof(int)));
    CHECK(cudaMalloc(&cptr, (ROWS_A + 1) * sizeof(int)));
    CHECK(cudaMalloc(&bins, 4 * sizeof(int)));
    CHECK(cudaMemset(bins, 0, 4 * sizeof(int)));

    row_work<<<(ROWS_A + 127) / 128, 128>>>(ROWS_A, a.ptr, a.col, b.ptr, small_rows, large_rows, bins);
    LAUNCHED("row_work");
    int hb[4];
    CHECK(cudaMemcpy(hb, bins, sizeof hb, cudaMemcpyDeviceToHost));
    printf("A nnz %zu, B nnz %zu, short rows %d, long rows %d, max products %d\n",
           A.col.size(), B.col.size(), hb[0], hb[1], hb[2]);
    if (hb[2] >= BLOCK_TABLE) { printf("row too long\n"); return 1; }

    const int wg = (hb[0] + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK;
    if (wg) {
        symbolic_warp<<<wg, 32 * WARPS_PER_BLOCK>>>(small_rows, hb[0], a.ptr, a.col, b.ptr, b.col, cnt);
        LAUNCHED("symbolic_warp");
    }
    if (hb[1]) {
        symbolic_block<<<hb[1], BLOCK_THREADS>>>(large_rows, a.ptr, a.col, b.ptr, b.col, cnt);
        LAUNCHED("symbolic_block");
    }
    scan_rows<<<1, 1024>>>(cnt, cptr, ROWS_A);
    LAUNCHED("scan_rows");
    int nnz = 0;
    CHECK(cudaMemcpy(&nnz, cptr + ROWS_A, sizeof(int), cudaMemcpyDeviceToHost));

    int *ccol; float *cval, *x, *y;
    CHECK(cudaMalloc(&ccol, nnz * sizeof(int)));
    CHECK(cudaMalloc(&cval, nnz * sizeof(float)));
    CHECK(cudaMalloc(&x, COLS_B * sizeof(float)));
    CHECK(cudaMalloc(&y, ROWS_A * sizeof(float)));
    for (int rep = 0; rep < 2; ++rep) {
        if (wg) {
            numeric_warp<<<wg, 32 * WARPS_PER_BLOCK>>>(small_rows, hb[0], a.ptr, a.col, a.val,
                                                       b.ptr, b.col, b.val, cptr, ccol, cval);
            LAUNCHED("numeric_warp");
        }
        if (hb[1]) {
            numeric_block<<<hb[1], BLOCK_THREADS>>>(large_rows, a.ptr, a.col, a.val,
                                                    b.ptr, b.col, b.val, cptr, ccol, cval);
            LAUNCHED("numeric_block");
        }
    }
    std::vector<float> hx(COLS_B), hy(ROWS_A), hv(nnz);
    std::vector<int> hp(ROWS_A + 1), hc(nnz);
    for (int i = 0; i < COLS_B; ++i) hx[i] = float(int(rnd(99, i) % 9) - 4);
    CHECK(cudaMemcpy(x, hx.data(), COLS_B * sizeof(float), cudaMemcpyHostToDevice));
    spmv<<<(ROWS_A * 32 + 255) / 256, 256>>>(ROWS_A, cptr, ccol, cval, x, y);
    LAUNCHED("spmv");
    CHECK(cudaMemcpy(hy.data(), y, ROWS_A * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hv.data(), cval, nnz * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hc.data(), ccol, nnz * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hp.data(), cptr, (ROWS_A + 1) * sizeof(int), cudaMemcpyDeviceToHost));

    // y must equal A (B x) exactly
    std::vector<double> bx(COLS_A, 0.0);
    for (int r = 0; r < COLS_A; ++r)
        for (int j = B.ptr[r]; j < B.ptr[r + 1]; ++j) bx[r] += double(B.val[j]) * hx[B.col[j]];
    int wrong = 0;
    for (int r = 0; r < ROWS_A; ++r) {
        double s = 0;
        for (int j = A.ptr[r]; j < A.ptr[r + 1]; ++j) s += A.val[j] * bx[A.col[j]];
        wrong += (s != double(hy[r]));
    }
    uint64_t h = 1469598103934665603ull;
    auto eat = [&h](uint32_t v) { h = (h ^ v) * 1099511628211ull; };
    for (int v : hp) eat(v);
    for (int v : hc) eat(v);
    for (float v : hv) eat(uint32_t(int(v)));
    printf("C nnz %d, wrong rows %d, hash %016llx\n", nnz, wrong, (unsigned long long)h);
    void *all[] = {a.ptr, a.col, a.val, b.ptr, b.col, b.val, small_rows, large_rows, bins, cnt, cptr, ccol, cval, x, y};
    for (void *p : all) CHECK(cudaFree(p));
    return 0;
}
