// Tensor core GEMMs through nvcuda::wmma:
//   - direct-from-global fp16 kernel (the one in every tutorial)
//   - shared-memory staged, double-buffered kernel for fp16 / bf16 with fused bias + GELU epilogue
// applied to a transformer feed-forward block (up projection, GELU, down projection, residual + layer norm).
// The inputs are small dyadic rationals, so fp32 accumulation is exact and pre-activation results can be hashed.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

using bf16 = __nv_bfloat16;
namespace wmma = nvcuda::wmma;

#define RT(call)                                                                              \
  do {                                                                                        \
    cudaError_t status = (call);                                                              \
    if (status != cudaSuccess) {                                                              \
      std::fprintf(stderr, "%s failed at line %d: %s\n", #call, __LINE__, cudaGetErrorString(status)); \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)

template <typename T> __device__ __forceinline__ T narrow(float x);
template <> __device__ __forceinline__ half narrow<half>(float x) { return __float2half_rn(x); }
template <> __device__ __forceinline__ bf16 narrow<bf16>(float x) { return __float2bfloat16_rn(x); }
template <> __device__ __forceinline__ float narrow<float>(float x) { return x; }
__device__ __forceinline__ float widen(half x) { return __half2float(x); }
__device__ __forceinline__ float widen(bf16 x) { return __bfloat162float(x); }

enum class Act { None, GeluErf, GeluTanh };

template <Act A> __device__ __forceinline__ float activate(float x) {
  if constexpr (A == Act::GeluErf) return 0.5f * x * (1.0f + erff(x * 0.70710678f));
  if constexpr (A == Act::GeluTanh) return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  return x;
}

// fp32 -> T, eight elements per thread and step
template <typename T>
__global__ void cast_kernel(const float4* __restrict__ in, uint4* __restrict__ out, int n8) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n8; i += gridDim.x * blockDim.x) {
    const float4 a = in[2 * i], b = in[2 * i + 1];
    union { T t[8]; uint4 u; } pack = {};
    pack.t[0] = narrow<T>(a.x); pack.t[1] = narrow<T>(a.y); pack.t[2] = narrow<T>(a.z); pack.t[3] = narrow<T>(a.w);
    pack.t[4] = narrow<T>(b.x); pack.t[5] = narrow<T>(b.y); pack.t[6] = narrow<T>(b.z); pack.t[7] = narrow<T>(b.w);
    out[i] = pack.u;
  }
}

// each warp one 16x16 tile of C, operands straight from global memory
__global__ void wmma_simple(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M,
                            int N, int K) {
  const int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  const int warpN = blockIdx.y * blockDim.y + threadIdx.y;
  if (warpM * 16 >= M || warpN * 16 >= N) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + warpM * 16 * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + warpN * 16, N);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + warpM * 16 * N + warpN * 16, c, N, wmma::mem_row_major);
}

constexpr int BM = 64, BN = 64, BK = 32, LDA = BK + 8, LDB = BN + 8, LDC = BN + 4;

// 4 warps, each 32x32 of a 64x64 tile; N % 64 == 0, K % 32 == 0, any M
template <typename T, typename Out, Act kAct>
__global__ void __launch_bounds__(128)
wmma_staged(const T* __restrict__ A, const T* __restrict__ B, const float* __restrict__ bias, Out* __restrict__ C,
            int M, int N, int K) {
  constexpr int kStage = BM * LDA + BK * LDB;
  constexpr size_t kBytes = sizeof(T) * 2 * kStage > sizeof(float) * BM * LDC ? sizeof(T) * 2 * kStage
                                                                              : sizeof(float) * BM * LDC;
  __shared__ __align__(128) unsigned char smem[kBytes];
  T* const stage0 = reinterpret_cast<T*>(smem);
  const int tid = threadIdx.x, warp = tid / 32, wm = warp / 2, wn = warp % 2;
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;

  uint4 ra[2], rb[2];
  auto fetch = [&](int k0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int c = tid + i * 128;
      const int ar = c / 4, ac = (c % 4) * 8;
      ra[i] = m0 + ar < M ? *reinterpret_cast<const uint4*>(A + size_t(m0 + ar) * K + k0 + ac) : make_uint4(0, 0, 0, 0);
      const int br = c / 8, bc = (c % 8) * 8;
      rb[i] = *reinterpret_cast<const uint4*>(B + size_t(k0 + br) * N + n0 + bc);
    }
  };
  auto commit = [&](int s) {
    T* as = stage0 + s * kStage;
    T* bs = as + BM * LDA;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int c = tid + i * 128;
      *reinterpret_cast<uint4*>(as + (c / 4) * LDA + (c % 4) * 8) = ra[i];
      *reinterpret_cast<uint4*>(bs + (c / 8) * LDB + (c % 8) * 8) = rb[i];
    }
  };

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(acc[i][j], 0.0f);

  fetch(0);
  commit(0);
  __syncthreads();
  int cur = 0;
  for (int k0 = 0; k0 < K; k0 += BK) {
    const bool more = k0 + BK < K;
    if (more) fetch(k0 + BK);
    const T* as = stage0 + cur * kStage;
    const T* bs = as + BM * LDA;
#pragma unroll
    for (int kk = 0; kk < BK; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> fb[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], as + (wm * 32 + i * 16) * LDA + kk, LDA);
#pragma unroll
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(fb[j], bs + kk * LDB + wn * 32 + j * 16, LDB);
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
    }
    if (more) commit(cur ^ 1);
    __syncthreads();
    cur ^= 1;
  }

  float* cs = reinterpret_cast<float*>(smem);
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(cs + (wm * 32 + i * 16) * LDC + wn * 32 + j * 16, acc[i][j], LDC, wmma::mem_row_major);
  __syncthreads();
  for (int e = tid; e < BM * BN / 2; e += 128) {
    const int r = e / (BN / 2), c = (e % (BN / 2)) * 2;
    if (m0 + r >= M) break;
    const float2 v = *reinterpret_cast<const float2*>(cs + r * LDC + c);
    struct alignas(2 * sizeof(Out)) Pair { Out x, y; } o;
    o.x = narrow<Out>(activate<kAct>(v.x + bias[n0 + c]));
    o.y = narrow<Out>(activate<kAct>(v.y + bias[n0 + c + 1]));
    *reinterpret_cast<Pair*>(C + size_t(m0 + r) * N + n0 + c) = o;
  }
}

// out = layernorm(x + y) ; one warp per row
__global__ void residual_layernorm(const bf16* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                                   int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float v[12];  // cols == 384
  float s = 0.0f;
#pragma unroll
  for (int i = 0; i < 12; ++i) {
    const size_t at = size_t(row) * cols + i * 32 + lane;
    v[i] = widen(x[at]) + y[at];
    s += v[i];
  }
#pragma unroll
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  const float mean = s / cols;
  float q = 0.0f;
#pragma unroll
  for (int i = 0; i < 12; ++i) q += (v[i] - mean) * (v[i] - mean);
#pragma unroll
  for (int o = 16; o; o >>= 1) q += __shfl_xor_sync(0xffffffffu, q, o);
  const float inv = 1.0f / sqrtf(q / cols + 1e-5f);
#pragma unroll
  for (int i = 0; i < 12; ++i) out[size_t(row) * cols + i * 32 + lane] = (v[i] - mean) * inv;
}

// scalar reference for every `stride`-th row; counts exact mismatches
template <typename T>
__global__ void verify_rows(const T* __restrict__ A, const T* __restrict__ B, const float* __restrict__ bias,
                            const float* __restrict__ C, int M, int N, int K, int stride, unsigned* bad) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * stride;
  if (n >= N || m >= M) return;
  float s = 0.0f;
  for (int k = 0; k < K; ++k) s = fmaf(widen(A[size_t(m) * K + k]), widen(B[size_t(k) * N + n]), s);
  if (bias) s += bias[n];
  if (s != C[size_t(m) * N + n]) atomicAdd(bad, 1u);
}

static uint32_t h32(uint32_t i, uint32_t seed) {
  uint32_t x = i + seed * 0x68e31da4u;
  x *= 0xb5297a4du; x ^= x >> 8; x += 0x68e31da4u; x ^= x << 8; x *= 0x1b56c4e9u; x ^= x >> 8;
  return x;
}
// multiples of `unit` in [-steps, steps] * unit
static float* dyadic(size_t n, uint32_t seed, int steps, float unit) {
  std::vector<float> h(n);
  for (size_t i = 0; i < n; ++i) h[i] = float(int(h32(uint32_t(i), seed) % unsigned(2 * steps + 1)) - steps) * unit;
  float* d;
  RT(cudaMalloc(&d, n * sizeof(float)));
  RT(cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  return d;
}
template <typename T> static T* device_array(size_t n) {
  T* d;
  RT(cudaMalloc(&d, n * sizeof(T)));
  return d;
}
template <typename T> static T* cast(const float* src, size_t n) {
  T* d = device_array<T>(n);
  cast_kernel<T><<<264, 256>>>(reinterpret_cast<const float4*>(src), reinterpret_cast<uint4*>(d), int(n / 8));
  RT(cudaGetLastError());
  return d;
}
static unsigned long long fnv(const float* d, size_t n) {
  std::vector<uint32_t> h(n);
  RT(cudaMemcpy(h.data(), d, n * 4, cudaMemcpyDeviceToHost));
  unsigned long long f = 0xcbf29ce484222325ull;
  for (uint32_t v : h) f = (f ^ v) * 0x100000001b3ull;
  return f;
}
static unsigned fetch_counter(unsigned* d) {
  unsigned v;
  RT(cudaMemcpy(&v, d, sizeof v, cudaMemcpyDeviceToHost));
  RT(cudaMemset(d, 0, sizeof v));
  return v;
}
template <typename T> static void totals(const char* label, const T* d, size_t n) {
  std::vector<T> h(n);
  RT(cudaMemcpy(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
  double s = 0;
  size_t pos = 0;
  for (const T& v : h) {
    const double f = double(float(v));
    s += std::fabs(f);
    pos += f > 0;
  }
  std::printf("%s: mean |v| %.3f, positive %zu of %zu\n", label, s / double(n), pos, n);
}

int main() {
  unsigned* bad = device_array<unsigned>(1);
  RT(cudaMemset(bad, 0, sizeof(unsigned)));

  {  // fp16: simple vs staged on the same problem
    const int M = 512, N = 448, K = 416;
    float *Af = dyadic(size_t(M) * K, 1, 16, 1.0f / 16), *Bf = dyadic(size_t(K) * N, 2, 16, 1.0f / 16);
    float* bias = dyadic(N, 3, 32, 1.0f / 64);
    half *A = cast<half>(Af, size_t(M) * K), *B = cast<half>(Bf, size_t(K) * N);
    float *C = device_array<float>(size_t(M) * N), *C2 = device_array<float>(size_t(M) * N);
    half* G = device_array<half>(size_t(M) * N);
    wmma_simple<<<dim3((M / 16 + 3) / 4, (N / 16 + 3) / 4), dim3(128, 4)>>>(A, B, C, M, N, K);
    RT(cudaGetLastError());
    verify_rows<half><<<dim3((N + 127) / 128, (M + 6) / 7), 128>>>(A, B, nullptr, C, M, N, K, 7, bad);
    RT(cudaGetLastError());
    std::printf("simple fp16 %016llx, mismatches %u\n", fnv(C, size_t(M) * N), fetch_counter(bad));
    wmma_staged<half, float, Act::None><<<dim3(N / BN, (M + BM - 1) / BM), 128>>>(A, B, bias, C2, M, N, K);
    RT(cudaGetLastError());
    verify_rows<half><<<dim3((N + 127) / 128, (M + 10) / 11), 128>>>(A, B, bias, C2, M, N, K, 11, bad);
    RT(cudaGetLastError());
    std::printf("staged fp16 %016llx, mismatches %u\n", fnv(C2, size_t(M) * N), fetch_counter(bad));
    wmma_staged<half, half, Act::GeluTanh><<<dim3(N / BN, (M + BM - 1) / BM), 128>>>(A, B, bias, G, M, N, K);
    RT(cudaGetLastError());
    totals("gelu(tanh) fp16", G, size_t(M) * N);
    for (void* p : {(void*)Af, (void*)Bf, (void*)bias, (void*)A, (void*)B, (void*)C, (void*)C2, (void*)G}) RT(cudaFree(p));
  }

  {  // bf16 feed-forward block on 750 tokens
    const int T = 750, D = 384, F = 1152;
    float* Xf = dyadic(size_t(T) * D, 11, 16, 1.0f / 16);
    float *W1f = dyadic(size_t(D) * F, 12, 8, 1.0f / 64), *W2f = dyadic(size_t(F) * D, 13, 8, 1.0f / 128);
    float *b1 = dyadic(F, 14, 64, 1.0f / 256), *b2 = dyadic(D, 15, 64, 1.0f / 256);
    bf16 *X = cast<bf16>(Xf, size_t(T) * D), *W1 = cast<bf16>(W1f, size_t(D) * F), *W2 = cast<bf16>(W2f, size_t(F) * D);
    bf16* H = device_array<bf16>(size_t(T) * F);
    float *Y = device_array<float>(size_t(T) * D), *O = device_array<float>(size_t(T) * D);
    wmma_staged<bf16, bf16, Act::GeluErf><<<dim3(F / BN, (T + BM - 1) / BM), 128>>>(X, W1, b1, H, T, F, D);
    RT(cudaGetLastError());
    wmma_staged<bf16, float, Act::None><<<dim3(D / BN, (T + BM - 1) / BM), 128>>>(H, W2, b2, Y, T, D, F);
    RT(cudaGetLastError());
    residual_layernorm<<<(T + 3) / 4, 128>>>(X, Y, O, T, D);
    RT(cudaGetLastError());
    totals("gelu(erf) bf16", H, size_t(T) * F);
    totals("down projection", Y, size_t(T) * D);
    std::vector<float> o(size_t(T) * D);
    RT(cudaMemcpy(o.data(), O, o.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double s1 = 0, s3 = 0;
    for (float v : o) { s1 += std::fabs(v); s3 += double(v) * v; }
    std::printf("layer norm: mean |v| %.3f, mean square %.4f\n", s1 / o.size(), s3 / o.size());
    for (void* p : {(void*)Xf, (void*)W1f, (void*)W2f, (void*)b1, (void*)b2, (void*)X, (void*)W1, (void*)W2, (void*)H,
                    (void*)Y, (void*)O})
      RT(cudaFree(p));
  }
  RT(cudaFree(bad));
  return 0;
}
