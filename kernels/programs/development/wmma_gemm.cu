// GEMMs on tensor cores through the WMMA interface.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

#define cudaCheck(x) \
    do { \
        cudaError_t rc_ = (x); \
        if (rc_ != cudaSuccess) { \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(rc_)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static unsigned long long digest(const void *p, size_t n)
{
    const unsigned char *c = static_cast<const unsigned char *>(p);
    unsigned long long h = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < n; i++) { h ^= c[i]; h *= 0x100000001b3ULL; }
    return h;
}

// ---- 1. one warp per 16x16 output tile, everything straight from global memory
__global__ void gemm_naive(const half *a, const half *b, float *c, int m, int n, int k)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int tn = n / 16;
    int row = warp / tn * 16, col = warp % tn * 16;
    if (row >= m) return;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;   // b is stored transposed
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + (size_t)row * k + i, k);
        wmma::load_matrix_sync(fb, b + (size_t)col * k + i, k);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(c + (size_t)row * n + col, acc, n, wmma::mem_row_major);
}

// ---- 2. 64x64 block tile, 8 warps, padded shared-memory tiles
constexpr int BM = 64, BN = 64, BK = 32, LDA = BK + 8, LDB = BN + 8;

__device__ __forceinline__ void load_tiles(half *sa, half *sb, const half *a, const half *b, int m, int n,
                                           int k, int m0, int n0, int k0)
{
    int t = threadIdx.x;
    uint4 zero = make_uint4(0, 0, 0, 0);
    int r = t / 4, c = (t % 4) * 8;
    uint4 v = zero;
    if (m0 + r < m && k0 + c < k) v = *reinterpret_cast<const uint4 *>(a + (size_t)(m0 + r) * k + k0 + c);
    *reinterpret_cast<uint4 *>(sa + r * LDA + c) = v;
    r = t / 8;
    c = (t % 8) * 8;
    v = zero;
    if (k0 + r < k && n0 + c < n) v = *reinterpret_cast<const uint4 *>(b + (size_t)(k0 + r) * n + n0 + c);
    *reinterpret_cast<uint4 *>(sb + r * LDB + c) = v;
}

__global__ void __launch_bounds__(256) gemm_tiled(const half *a, const half *b, float *c, int m, int n, int k,
                                                  float alpha, float beta)
{
    __shared__ __align__(128) half sa[BM * LDA];
    __shared__ __align__(128) half sb[BK * LDB];
    int warp = threadIdx.x / 32;
    int wm = (warp / 2) * 16, wn = (warp % 2) * 32;
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
    for (int j = 0; j < 2; j++) wmma::fill_fragment(acc[j], 0.0f);
    for (int k0 = 0; k0 < k; k0 += BK) {
        load_tiles(sa, sb, a, b, m, n, k, m0, n0, k0);
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
            wmma::load_matrix_sync(fa, sa + wm * LDA + kk, LDA);
#pragma unroll
            for (int j = 0; j < 2; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
                wmma::load_matrix_sync(fb, sb + kk * LDB + wn + j * 16, LDB);
                wmma::mma_sync(acc[j], fa, fb, acc[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++) {
        int row = m0 + wm, col = n0 + wn + j * 16;
        if (row < m && col < n) {
            float *p = c + (size_t)row * n + col;
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> old;
            wmma::load_matrix_sync(old, p, n, wmma::mem_row_major);
            for (int i = 0; i < old.num_elements; i++) old.x[i] = alpha * acc[j].x[i] + beta * old.x[i];
            wmma::store_matrix_sync(p, old, n, wmma::mem_row_major);
        }
    }
}

// ---- 3. fused epilogue: out = half(leaky_relu(a*b + bias) + residual), double-buffered tiles
__global__ void __launch_bounds__(256) gemm_fused(const half *a, const half *b, const float *bias,
                                                  const half *residual, half *out, int m, int n, int k)
{
    __shared__ __align__(128) half sa[2][BM * LDA];
    __shared__ __align__(128) half sb[2][BK * LDB];
    __shared__ __align__(128) float stage[8][16 * 16];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int wm = (warp / 2) * 16, wn = (warp % 2) * 32;
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
    for (int j = 0; j < 2; j++) wmma::fill_fragment(acc[j], 0.0f);
    load_tiles(sa[0], sb[0], a, b, m, n, k, m0, n0, 0);
    __syncthreads();
    int cur = 0;
    for (int k0 = 0; k0 < k; k0 += BK) {
        if (k0 + BK < k) load_tiles(sa[cur ^ 1], sb[cur ^ 1], a, b, m, n, k, m0, n0, k0 + BK);
#pragma unroll
        for (int kk = 0; kk < BK; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
            wmma::load_matrix_sync(fa, sa[cur] + wm * LDA + kk, LDA);
#pragma unroll
            for (int j = 0; j < 2; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
                wmma::load_matrix_sync(fb, sb[cur] + kk * LDB + wn + j * 16, LDB);
                wmma::mma_sync(acc[j], fa, fb, acc[j]);
            }
        }
        __syncthreads();
        cur ^= 1;
    }
    for (int j = 0; j < 2; j++) {
        int row = m0 + wm, col = n0 + wn + j * 16;
        wmma::store_matrix_sync(stage[warp], acc[j], 16, wmma::mem_row_major);
        __syncwarp();
        if (row < m && col < n) {
            for (int i = lane; i < 256; i += 32) {
                int r = row + i / 16, q = col + i % 16;
                float v = stage[warp][i] + bias[q];
                v = v > 0.0f ? v : 0.125f * v;
                v += __half2float(residual[(size_t)r * n + q]);
                out[(size_t)r * n + q] = __float2half(v);
            }
        }
        __syncwarp();
    }
}

// ---- 4. int8: operands are packed into contiguous 16x16 tiles first
__global__ void pack_tiles(const int8_t *in, int8_t *out, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) {
        size_t tile = (size_t)(r / 16) * (cols / 16) + c / 16;
        out[tile * 256 + (r % 16) * 16 + c % 16] = in[(size_t)r * cols + c];
    }
}

// each warp: 16 rows x 32 columns of output
__global__ void gemm_int8(const int8_t *ap, const int8_t *bp, int8_t *out, int m, int n, int k, int shift)
{
    __shared__ __align__(128) int stage[4][256];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    int warp = blockIdx.x * 4 + w;
    int tk = k / 16, tn = n / 16, pairs = (tn + 1) / 2;
    int ti = warp / pairs, tj = warp % pairs * 2;
    if (ti >= m / 16) return;
    bool second = tj + 1 < tn;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c0, c1;
    wmma::fill_fragment(c0, 0);
    wmma::fill_fragment(c1, 0);
    for (int t = 0; t < tk; t++) {
        wmma::load_matrix_sync(fa, (const signed char *)ap + ((size_t)ti * tk + t) * 256, 16);
        wmma::load_matrix_sync(fb, (const signed char *)bp + ((size_t)t * tn + tj) * 256, 16);
        wmma::mma_sync(c0, fa, fb, c0);
        if (second) {
            wmma::load_matrix_sync(fb, (const signed char *)bp + ((size_t)t * tn + tj + 1) * 256, 16);
            wmma::mma_sync(c1, fa, fb, c1);
        }
    }
    for (int j = 0; j < (second ? 2 : 1); j++) {
        if (j == 0) wmma::store_matrix_sync(stage[w], c0, 16, wmma::mem_row_major);
        else wmma::store_matrix_sync(stage[w], c1, 16, wmma::mem_row_major);
        __syncwarp();
        for (int i = lane; i < 256; i += 32) {
            int v = (stage[w][i] + (1 << (shift - 1))) >> shift;
            v = max(-128, min(127, v));
            out[(size_t)(ti * 16 + i / 16) * n + (tj + j) * 16 + i % 16] = (int8_t)v;
        }
        __syncwarp();
    }
}

// ---- 5. batch of 48x48x64 products with half accumulators, one block of 9 warps each
__global__ void gemm_batched(const half *a, const half *b, half *c)
{
    const half *pa = a + (size_t)blockIdx.x * 48 * 64;
    const half *pb = b + (size_t)blockIdx.x * 64 * 48;
    int w = threadIdx.x / 32, row = w / 3 * 16, col = w % 3 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> acc;
    wmma::fill_fragment(acc, __float2half(0.0f));
    for (int i = 0; i < 64; i += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, pa + row * 64 + i, 64);
        wmma::load_matrix_sync(fb, pb + i * 48 + col, 48);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(c + (size_t)blockIdx.x * 48 * 48 + row * 48 + col, acc, 48, wmma::mem_row_major);
}

static uint32_t lcg = 4242;
static int rnd(int lo, int hi) { lcg = lcg * 1664525u + 1013904223u; return lo + (int)((lcg >> 10) % (uint32_t)(hi - lo + 1)); }

static std::vector<half> random_half(size_t n, int r, float s)
{
    std::vector<half> v(n);
    for (auto &x : v) x = __float2half(rnd(-r, r) * s);
    return v;
}

template <class T> static T *to_device(const std::vector<T> &v)
{
    T *d;
    cudaCheck(cudaMalloc(&d, v.size() * sizeof(T)));
    cudaCheck(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}

template <class T> static std::vector<T> to_host(const T *d, size_t n)
{
    std::vector<T> v(n);
    cudaCheck(cudaMemcpy(v.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
}

int main()
{
    {
        const int m = 464, n = 592, k = 400;
        auto a = random_half(m * k, 4, 0.5f), b = random_half(n * k, 4, 0.5f);
        half *da = to_device(a), *db = to_device(b);
        float *dc;
        cudaCheck(cudaMalloc(&dc, m * n * sizeof(float)));
        int warps = (m / 16) * (n / 16);
        gemm_naive<<<(warps + 3) / 4, 128>>>(da, db, dc, m, n, k);
        cudaCheck(cudaGetLastError());
        auto c = to_host(dc, m * n);
        bool ok = true;
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int i = 0; i < k; i++) s += __half2float(a[333 * k + i]) * __half2float(b[j * k + i]);
            ok = ok && s == c[333 * n + j];
        }
        printf("naive  %dx%dx%d %016llx %s\n", m, n, k, digest(c.data(), c.size() * 4), ok ? "ok" : "mismatch");
        cudaFree(da); cudaFree(db); cudaFree(dc);
    }
    {
        const int m = 720, n = 656, k = 368;
        auto a = random_half(m * k, 5, 0.25f), b = random_half(n * k, 3, 0.5f);
        half *da = to_device(a), *db = to_device(b);
        std::vector<float> c0(m * n);
        for (auto &x : c0) x = (float)rnd(-8, 8);
        float *dc = to_device(c0);
        gemm_tiled<<<dim3((n + BN - 1) / BN, (m + BM - 1) / BM), 256>>>(da, db, dc, m, n, k, 2.0f, 0.5f);
        cudaCheck(cudaGetLastError());
        auto c = to_host(dc, m * n);
        bool ok = true;
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int i = 0; i < k; i++) s += __half2float(a[711 * k + i]) * __half2float(b[i * n + j]);
            ok = ok && 2.0f * s + 0.5f * c0[711 * n + j] == c[711 * n + j];
        }
        printf("tiled  %dx%dx%d %016llx %s\n", m, n, k, digest(c.data(), c.size() * 4), ok ? "ok" : "mismatch");
        cudaFree(da); cudaFree(db); cudaFree(dc);
    }
    {
        const int m = 336, n = 1008, k = 240;
        auto a = random_half(m * k, 3, 0.25f), b = random_half(n * k, 3, 0.25f), r = random_half(m * n, 9, 0.5f);
        std::vector<float> bias(n);
        for (auto &x : bias) x = rnd(-16, 16) * 0.25f;
        half *da = to_device(a), *db = to_device(b), *dr = to_device(r), *dout;
        float *dbias = to_device(bias);
        cudaCheck(cudaMalloc(&dout, m * n * sizeof(half)));
        for (int rep = 0; rep < 2; rep++) {     // second layer takes the first one's output as residual
            gemm_fused<<<dim3((n + BN - 1) / BN, (m + BM - 1) / BM), 256>>>(da, db, dbias, rep ? dout : dr,
                                                                            rep ? dr : dout, m, n, k);
            cudaCheck(cudaGetLastError());
        }
        auto o = to_host(dr, m * n);
        printf("fused  %dx%dx%d %016llx\n", m, n, k, digest(o.data(), o.size() * sizeof(half)));
        cudaFree(da); cudaFree(db); cudaFree(dr); cudaFree(dout); cudaFree(dbias);
    }
    {
        const int m = 496, n = 624, k = 512;
        std::vector<int8_t> a(m * k), b(k * n);
        for (auto &x : a) x = (int8_t)rnd(-60, 60);
        for (auto &x : b) x = (int8_t)rnd(-50, 55);
        int8_t *da = to_device(a), *db = to_device(b), *pa, *pb, *dout;
        cudaCheck(cudaMalloc(&pa, a.size()));
        cudaCheck(cudaMalloc(&pb, b.size()));
        cudaCheck(cudaMalloc(&dout, m * n));
        dim3 blk(32, 8);
        pack_tiles<<<dim3((k + 31) / 32, (m + 7) / 8), blk>>>(da, pa, m, k);
        pack_tiles<<<dim3((n + 31) / 32, (k + 7) / 8), blk>>>(db, pb, k, n);
        int warps = (m / 16) * ((n / 16 + 1) / 2);
        gemm_int8<<<(warps + 3) / 4, 128>>>(pa, pb, dout, m, n, k, 9);
        cudaCheck(cudaGetLastError());
        auto o = to_host(dout, m * n);
        bool ok = true;
        for (int j = 0; j < n; j++) {
            int s = 0;
            for (int i = 0; i < k; i++) s += a[77 * k + i] * b[i * n + j];
            s = (s + 256) >> 9;
            s = s < -128 ? -128 : s > 127 ? 127 : s;
            ok = ok && s == o[77 * n + j];
        }
        printf("int8   %dx%dx%d %016llx %s\n", m, n, k, digest(o.data(), o.size()), ok ? "ok" : "mismatch");
        cudaFree(da); cudaFree(db); cudaFree(pa); cudaFree(pb); cudaFree(dout);
    }
    {
        const int batch = 211;
        auto a = random_half((size_t)batch * 48 * 64, 2, 1.0f), b = random_half((size_t)batch * 64 * 48, 2, 1.0f);
        half *da = to_device(a), *db = to_device(b), *dc;
        cudaCheck(cudaMalloc(&dc, (size_t)batch * 48 * 48 * sizeof(half)));
        gemm_batched<<<batch, 288>>>(da, db, dc);
        cudaCheck(cudaGetLastError());
        auto c = to_host(dc, (size_t)batch * 48 * 48);
        printf("batch  %d %016llx\n", batch, digest(c.data(), c.size() * sizeof(half)));
        cudaFree(da); cudaFree(db); cudaFree(dc);
    }
    cudaCheck(cudaDeviceSynchronize());
    return 0;
}
