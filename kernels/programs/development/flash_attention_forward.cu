// Flash-attention forward pass in half precision (mma.m16n8k16, online softmax), plus split-KV decode attention for one query per head.
// Hard for a GPU: tensor-core work alternates with exponentials and row reductions in registers; the causal variant has uneven tiles,
// and decode has few rows and reads the whole KV cache.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cmath>
#include <vector>
#include <cuda_fp16.h>

#define CUDA_CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); exit(1); } } while (0)

constexpr int HEADS = 16;      // batch * heads
constexpr int SEQ = 1000;      // not a multiple of the tile on purpose
constexpr int DEC_SEQ = 4096;
constexpr int SPLITS = 16;
constexpr int BLOCK_M = 64;
constexpr int BLOCK_N = 64;

__device__ __forceinline__ unsigned mix(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352dU; x ^= x >> 15; x *= 0x846ca68bU; x ^= x >> 16; return x;
}

__global__ void fill_half(__half *p, int n, unsigned seed, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = gridDim.x * blockDim.x;
  for (; i < n; i += stride) {
    float v = (float)(mix(i * 2654435761u + seed) & 0xffff) / 32768.0f - 1.0f;
    p[i] = __float2half(v * scale);
  }
}

__device__ __forceinline__ void ldsm4(unsigned r[4], const __half *p) {
  unsigned a = (unsigned)__cvta_generic_to_shared(p);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory");
}
__device__ __forceinline__ void ldsm4t(unsigned r[4], const __half *p) {
  unsigned a = (unsigned)__cvta_generic_to_shared(p);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory");
}
__device__ __forceinline__ void mma16816(float c[4], const unsigned a[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned pack2(float lo, float hi) {
  __half2 h = __floats2half2_rn(lo, hi);
  return *reinterpret_cast<unsigned *>(&h);
}

template <int D>
__device__ __forceinline__ void load_tile(__half (*dst)[D + 8], const __half *src, int row0, int rows) {
  constexpr int CH = D / 8;
  for (int i = threadIdx.x; i < 64 * CH; i += 128) {
    int r = i / CH, c = (i % CH) * 8;
    uint4 v = make_uint4(0, 0, 0, 0);
    if (row0 + r < rows) v = *reinterpret_cast<const uint4 *>(src + (size_t)(row0 + r) * D + c);
    *reinterpret_cast<uint4 *>(&dst[r][c]) = v;
  }
}

template <int D, bool CAUSAL>
__global__ void __launch_bounds__(128) flash_fwd(const __half *__restrict__ Q, const __half *__restrict__ K,
                                                 const __half *__restrict__ V, __half *__restrict__ O,
                                                 float *__restrict__ lse, int seq, float scale_log2) {
  __shared__ __align__(16) __half sK[BLOCK_N][D + 8];
  __shared__ __align__(16) __half sV[BLOCK_N][D + 8];
  const int head = blockIdx.y;
  const int q0 = blockIdx.x * BLOCK_M;
  const size_t base = (size_t)head * seq * D;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int g = lane >> 2, t = lane & 3;

  // stage Q through the K buffer
  load_tile<D>(sK, Q + base, q0, seq);
  __syncthreads();
  unsigned qf[D / 16][4];
#pragma unroll
  for (int k = 0; k < D / 16; k++) ldsm4(qf[k], &sK[warp * 16 + (lane & 15)][k * 16 + (lane >> 4) * 8]);
  __syncthreads();

  float acc[D / 8][4];
#pragma unroll
  for (int i = 0; i < D / 8; i++) acc[i][0] = acc[i][1] = acc[i][2] = acc[i][3] = 0.f;
  float m0 = -1e30f, m1 = -1e30f, l0 = 0.f, l1 = 0.f;
  const int row0 = q0 + warp * 16 + g, row1 = row0 + 8;

  int kv_end = CAUSAL ? min(seq, q0 + BLOCK_M) : seq;
  for (int n0 = 0; n0 < kv_end; n0 += BLOCK_N) {
    load_tile<D>(sK, K + base, n0, seq);
    load_tile<D>(sV, V + base, n0, seq);
    __syncthreads();

    float s[BLOCK_N / 8][4];
#pragma unroll
    for (int j = 0; j < BLOCK_N / 8; j++) s[j][0] = s[j][1] = s[j][2] = s[j][3] = 0.f;
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
#pragma unroll
      for (int j = 0; j < BLOCK_N / 16; j++) {
        unsigned b[4];
        ldsm4(b, &sK[j * 16 + (lane >> 4) * 8 + (lane & 7)][k * 16 + ((lane >> 3) & 1) * 8]);
        mma16816(s[2 * j], qf[k], b[0], b[1]);
        mma16816(s[2 * j + 1], qf[k], b[2], b[3]);
      }
    }

    bool edge = n0 + BLOCK_N > seq || (CAUSAL && n0 + BLOCK_N > q0);
    float mx0 = m0, mx1 = m1;
#pragma unroll
    for (int j = 0; j < BLOCK_N / 8; j++) {
#pragma unroll
      for (int e = 0; e < 4; e++) {
        s[j][e] *= scale_log2;
        if (edge) {
          int col = n0 + j * 8 + t * 2 + (e & 1);
          int row = e < 2 ? row0 : row1;
          if (col >= seq || (CAUSAL && col > row)) s[j][e] = -1e30f;
        }
      }
      mx0 = fmaxf(mx0, fmaxf(s[j][0], s[j][1]));
      mx1 = fmaxf(mx1, fmaxf(s[j][2], s[j][3]));
    }
    mx0 = fmaxf(mx0, __shfl_xor_sync(~0u, mx0, 1));
    mx0 = fmaxf(mx0, __shfl_xor_sync(~0u, mx0, 2));
    mx1 = fmaxf(mx1, __shfl_xor_sync(~0u, mx1, 1));
    mx1 = fmaxf(mx1, __shfl_xor_sync(~0u, mx1, 2));
    float a0 = exp2f(m0 - mx0), a1 = exp2f(m1 - mx1);
    m0 = mx0; m1 = mx1;
    l0 *= a0; l1 *= a1;
#pragma unroll
    for (int i = 0; i < D / 8; i++) { acc[i][0] *= a0; acc[i][1] *= a0; acc[i][2] *= a1; acc[i][3] *= a1; }
#pragma unroll
    for (int j = 0; j < BLOCK_N / 8; j++) {
      s[j][0] = exp2f(s[j][0] - m0); s[j][1] = exp2f(s[j][1] - m0);
      s[j][2] = exp2f(s[j][2] - m1); s[j][3] = exp2f(s[j][3] - m1);
      l0 += s[j][0] + s[j][1];
      l1 += s[j][2] + s[j][3];
    }
#pragma unroll
    for (int j = 0; j < BLOCK_N / 16; j++) {
      unsigned a[4] = {pack2(s[2 * j][0], s[2 * j][1]), pack2(s[2 * j][2], s[2 * j][3]),
                       pack2(s[2 * j + 1][0], s[2 * j + 1][1]), pack2(s[2 * j + 1][2], s[2 * j + 1][3])};
#pragma unroll
      for (int d = 0; d < D / 16; d++) {
        unsigned b[4];
        ldsm4t(b, &sV[j * 16 + (lane & 15)][d * 16 + (lane >> 4) * 8]);
        mma16816(acc[2 * d], a, b[0], b[1]);
        mma16816(acc[2 * d + 1], a, b[2], b[3]);
      }
    }
    __syncthreads();
  }

  l0 += __shfl_xor_sync(~0u, l0, 1); l0 += __shfl_xor_sync(~0u, l0, 2);
  l1 += __shfl_xor_sync(~0u, l1, 1); l1 += __shfl_xor_sync(~0u, l1, 2);
  float i0 = 1.f / l0, i1 = 1.f / l1;
#pragma unroll
  for (int i = 0; i < D / 8; i++) {
    int c = i * 8 + t * 2;
    if (row0 < seq) *reinterpret_cast<__half2 *>(O + base + (size_t)row0 * D + c) = __floats2half2_rn(acc[i][0] * i0, acc[i][1] * i0);
    if (row1 < seq) *reinterpret_cast<__half2 *>(O + base + (size_t)row1 * D + c) = __floats2half2_rn(acc[i][2] * i1, acc[i][3] * i1);
  }
  if (t == 0) {
    if (row0 < seq) lse[head * seq + row0] = m0 + log2f(l0);
    if (row1 < seq) lse[head * seq + row1] = m1 + log2f(l1);
  }
}

// One query per head; a block handles one slice of the cache. Each warp takes every fourth row, two halfs per lane.
__global__ void __launch_bounds__(128) decode_partial(const __half *__restrict__ q, const __half *__restrict__ K,
                                                      const __half *__restrict__ V, float *__restrict__ part,
                                                      float *__restrict__ ml, int seq, float scale_log2) {
  __shared__ float so[4][64];
  __shared__ float sm[4], sl[4];
  int head = blockIdx.y, split = blockIdx.x;
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  int per = (seq + SPLITS - 1) / SPLITS;
  int begin = split * per, end = min(seq, begin + per);
  const __half2 *k2 = reinterpret_cast<const __half2 *>(K + (size_t)head * seq * 64);
  const __half2 *v2 = reinterpret_cast<const __half2 *>(V + (size_t)head * seq * 64);
  float2 qq = __half22float2(reinterpret_cast<const __half2 *>(q + head * 64)[lane]);
  float m = -1e30f, l = 0.f, ox = 0.f, oy = 0.f;
  for (int r = begin + warp; r < end; r += 4) {
    float2 kk = __half22float2(__ldg(&k2[r * 32 + lane]));
    float d = qq.x * kk.x + qq.y * kk.y;
#pragma unroll
    for (int o = 16; o; o >>= 1) d += __shfl_xor_sync(~0u, d, o);
    d *= scale_log2;
    float nm = fmaxf(m, d), a = exp2f(m - nm), p = exp2f(d - nm);
    float2 vv = __half22float2(__ldg(&v2[r * 32 + lane]));
    ox = ox * a + p * vv.x;
    oy = oy * a + p * vv.y;
    l = l * a + p;
    m = nm;
  }
  so[warp][lane * 2] = ox; so[warp][lane * 2 + 1] = oy;
  if (lane == 0) { sm[warp] = m; sl[warp] = l; }
  __syncthreads();
  if (threadIdx.x < 64) {
    float M = fmaxf(fmaxf(sm[0], sm[1]), fmaxf(sm[2], sm[3]));
    float o = 0.f, L = 0.f;
    for (int w = 0; w < 4; w++) {
      float f = exp2f(sm[w] - M);
      o += f * so[w][threadIdx.x];
      L += f * sl[w];
    }
    part[(head * SPLITS + split) * 64 + threadIdx.x] = o;
    if (threadIdx.x == 0) { ml[(head * SPLITS + split) * 2] = M; ml[(head * SPLITS + split) * 2 + 1] = L; }
  }
}

__global__ void decode_combine(const float *part, const float *ml, float *out) {
  int head = blockIdx.x, d = threadIdx.x;
  float M = -1e30f;
  for (int s = 0; s < SPLITS; s++) M = fmaxf(M, ml[(head * SPLITS + s) * 2]);
  float o = 0.f, L = 0.f;
  for (int s = 0; s < SPLITS; s++) {
    float f = exp2f(ml[(head * SPLITS + s) * 2] - M);
    o += f * part[(head * SPLITS + s) * 64 + d];
    L += f * ml[(head * SPLITS + s) * 2 + 1];
  }
  out[head * 64 + d] = o / L;
}

static uint64_t fnv(const void *p, size_t bytes) {
  const uint32_t *w = (const uint32_t *)p;
  uint64_t h = 1469598103934665603ull;
  for (size_t i = 0; i < bytes / 4; i++) h = (h ^ w[i]) * 1099511628211ull;
  return h;
}

int main() {
  const int DEC_HEADS = 32;
  size_t n = (size_t)HEADS * SEQ * 64, nd = (size_t)DEC_HEADS * DEC_SEQ * 64;
  __half *q, *k, *v, *o, *kc, *vc;
  float *lse, *part, *ml, *dout;
  CUDA_CHECK(cudaMalloc(&q, n * 2)); CUDA_CHECK(cudaMalloc(&k, n * 2));
  CUDA_CHECK(cudaMalloc(&v, n * 2)); CUDA_CHECK(cudaMalloc(&o, n * 2));
  CUDA_CHECK(cudaMalloc(&kc, nd * 2)); CUDA_CHECK(cudaMalloc(&vc, nd * 2));
  CUDA_CHECK(cudaMalloc(&lse, HEADS * SEQ * 4));
  CUDA_CHECK(cudaMalloc(&part, DEC_HEADS * SPLITS * 64 * 4));
  CUDA_CHECK(cudaMalloc(&ml, DEC_HEADS * SPLITS * 2 * 4));
  CUDA_CHECK(cudaMalloc(&dout, DEC_HEADS * 64 * 4));
  fill_half<<<1024, 256>>>(q, (int)n, 1u, 2.0f);
  fill_half<<<1024, 256>>>(k, (int)n, 2u, 2.0f);
  fill_half<<<1024, 256>>>(v, (int)n, 3u, 1.0f);
  fill_half<<<2048, 256>>>(kc, (int)nd, 4u, 1.0f);
  fill_half<<<2048, 256>>>(vc, (int)nd, 5u, 1.0f);
  CUDA_CHECK(cudaGetLastError());

  const float scale = 1.4426950408889634f / 8.0f;
  std::vector<uint32_t> host(n / 2), hl(HEADS * SEQ), hd(DEC_HEADS * 64);
  dim3 grid((SEQ + BLOCK_M - 1) / BLOCK_M, HEADS);
  flash_fwd<64, false><<<grid, 128>>>(q, k, v, o, lse, SEQ, scale);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(host.data(), o, n * 2, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(hl.data(), lse, hl.size() * 4, cudaMemcpyDeviceToHost));
  printf("full    %016llx %016llx\n", (unsigned long long)fnv(host.data(), n * 2), (unsigned long long)fnv(hl.data(), hl.size() * 4));
  flash_fwd<64, true><<<grid, 128>>>(q, k, v, o, lse, SEQ, scale);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(host.data(), o, n * 2, cudaMemcpyDeviceToHost));
  printf("causal  %016llx\n", (unsigned long long)fnv(host.data(), n * 2));
  // the same storage seen as twice as many heads of width 32
  dim3 grid32((SEQ + BLOCK_M - 1) / BLOCK_M, HEADS * 2);
  CUDA_CHECK(cudaFree(lse));
  CUDA_CHECK(cudaMalloc(&lse, HEADS * 2 * SEQ * 4));
  flash_fwd<32, true><<<grid32, 128>>>(q, k, v, o, lse, SEQ, 1.4426950408889634f / sqrtf(32.f));
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(host.data(), o, n * 2, cudaMemcpyDeviceToHost));
  printf("narrow  %016llx\n", (unsigned long long)fnv(host.data(), n * 2));

  decode_partial<<<dim3(SPLITS, DEC_HEADS), 128>>>(q, kc, vc, part, ml, DEC_SEQ, scale);
  decode_combine<<<DEC_HEADS, 64>>>(part, ml, dout);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(hd.data(), dout, hd.size() * 4, cudaMemcpyDeviceToHost));
  printf("decode  %016llx\n", (unsigned long long)fnv(hd.data(), hd.size() * 4));
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
