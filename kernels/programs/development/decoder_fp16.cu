// Pieces of a transformer decoder in half precision: RMSNorm, rotary embedding,
// GEMV decode, split-KV decode attention, causal prefill attention with online
// softmax, SwiGLU, greedy sampling.  Random weights.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(x)                                                                  \
  do {                                                                                 \
    cudaError_t err = (x);                                                             \
    if (err != cudaSuccess) {                                                          \
      fprintf(stderr, "[%s:%d] %s\n", __FILE__, __LINE__, cudaGetErrorString(err));    \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)

constexpr int D = 1536, HEADS = 12, KVH = 4, HD = 128, FF = 4096, VOCAB = 30011, LAYERS = 2;
constexpr int QKV = (HEADS + 2 * KVH) * HD;
constexpr int MAXLEN = 1536, CTX = 1501, SPLITS = 8, T = 387;

__device__ __forceinline__ float warpSum(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  return v;
}
__device__ __forceinline__ float warpMax(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o));
  return v;
}
__device__ __forceinline__ uint32_t hash32(uint32_t x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ (x >> 16);
}

// 8 halves per iteration
__global__ void fill_random(half *w, size_t n8, uint32_t seed, float scale, float bias) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n8; i += (size_t)gridDim.x * blockDim.x) {
    __align__(16) half2 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      uint32_t r = hash32((uint32_t)(i * 4 + k) ^ seed);
      float a = ((int)(r & 0xffff) - 32768) * (1.0f / 32768), b = ((int)(r >> 16) - 32768) * (1.0f / 32768);
      v[k] = __floats2half2_rn(a * scale + bias, b * scale + bias);
    }
    reinterpret_cast<uint4 *>(w)[i] = *reinterpret_cast<uint4 *>(v);
  }
}

__global__ void embed(const half *emb, const int *token, half *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < D / 2) ((half2 *)x)[i] = ((const half2 *)(emb + (size_t)*token * D))[i];
}

// one block per row
__global__ void rmsnorm(const half *x, const half *g, half *y, int d) {
  __shared__ float red[32];
  const half2 *xr = (const half2 *)(x + (size_t)blockIdx.x * d);
  half2 *yr = (half2 *)(y + (size_t)blockIdx.x * d);
  float s = 0;
  for (int i = threadIdx.x; i < d / 2; i += blockDim.x) {
    float2 f = __half22float2(xr[i]);
    s += f.x * f.x + f.y * f.y;
  }
  s = warpSum(s);
  if ((threadIdx.x & 31) == 0) red[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < blockDim.x / 32 ? red[threadIdx.x] : 0.f;
    s = warpSum(s);
    if (threadIdx.x == 0) red[0] = rsqrtf(s / d + 1e-5f);
  }
  __syncthreads();
  float r = red[0];
  for (int i = threadIdx.x; i < d / 2; i += blockDim.x) {
    float2 f = __half22float2(xr[i]), w = __half22float2(((const half2 *)g)[i]);
    yr[i] = __floats2half2_rn(f.x * r * w.x, f.y * r * w.y);
  }
}

__device__ __forceinline__ float dot8(uint4 a, uint4 b, float acc) {
  const half2 *x = (const half2 *)&a, *y = (const half2 *)&b;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    float2 p = __half22float2(x[k]), q = __half22float2(y[k]);
    acc = fmaf(p.x, q.x, acc);
    acc = fmaf(p.y, q.y, acc);
  }
  return acc;
}
__device__ __forceinline__ float row_dot(const half *W, const half *x, int row, int cols, int lane) {
  const uint4 *w = (const uint4 *)(W + (size_t)row * cols), *v = (const uint4 *)x;
  float acc = 0;
#pragma unroll 4
  for (int i = lane; i < cols / 8; i += 32) acc = dot8(__ldg(w + i), __ldg(v + i), acc);
  return warpSum(acc);
}

// warp per output row
__global__ void gemv(const half *W, const half *x, half *y, int rows, int cols, const half *residual) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float a = row_dot(W, x, row, cols, lane);
  if (lane == 0) y[row] = __float2half(residual ? a + __half2float(residual[row]) : a);
}
__global__ void gemv_swiglu(const half *Wg, const half *Wu, const half *x, half *y, int rows, int cols) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float g = row_dot(Wg, x, row, cols, lane), u = row_dot(Wu, x, row, cols, lane);
  if (lane == 0) y[row] = __float2half(g / (1.0f + expf(-g)) * u);
}
__global__ void gemv_logits(const half *W, const half *x, float *y, int rows, int cols) {
  int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < rows; row += warps) {
    float a = row_dot(W, x, row, cols, lane);
    if (lane == 0) y[row] = a;
  }
}

// rotate q and k, append k and v to the cache; one block per head slot
__global__ void rope_append(half *qkv, half *kc, half *vc, int pos, const float *invfreq) {
  int h = blockIdx.x, i = threadIdx.x;   // i < 64
  half *src = qkv + h * HD;
  if (h < HEADS + KVH) {
    float sn, cs;
    sincosf(pos * invfreq[i], &sn, &cs);
    float a = __half2float(src[i]), b = __half2float(src[i + 64]);
    half ra = __float2half(a * cs - b * sn), rb = __float2half(a * sn + b * cs);
    half *dst = h < HEADS ? src : kc + ((size_t)(h - HEADS) * MAXLEN + pos) * HD;
    dst[i] = ra;
    dst[i + 64] = rb;
  } else {
    half *dst = vc + ((size_t)(h - HEADS - KVH) * MAXLEN + pos) * HD;
    dst[i] = src[i];
    dst[i + 64] = src[i + 64];
  }
}

// grid (HEADS, SPLITS), 4 warps; lane owns 4 of the 128 dims
__global__ void attn_decode(const half *q, const half *kc, const half *vc, int len, float *part) {
  __shared__ float sm[4], sl[4], sacc[4][HD];
  int h = blockIdx.x, kvh = h / (HEADS / KVH), warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  int chunk = (len + SPLITS - 1) / SPLITS, b = blockIdx.y * chunk, e = min(b + chunk, len);
  const half2 *qp = (const half2 *)(q + h * HD) + lane * 2;
  float2 q0 = __half22float2(qp[0]), q1 = __half22float2(qp[1]);
  float m = -1e30f, l = 0, a0 = 0, a1 = 0, a2 = 0, a3 = 0;
  for (int j = b + warp; j < e; j += 4) {
    size_t off = ((size_t)kvh * MAXLEN + j) * HD + lane * 4;
    uint2 kk = *(const uint2 *)(kc + off), vv = *(const uint2 *)(vc + off);
    float2 k0 = __half22float2(*(half2 *)&kk.x), k1 = __half22float2(*(half2 *)&kk.y);
    float s = warpSum(q0.x * k0.x + q0.y * k0.y + q1.x * k1.x + q1.y * k1.y) * 0.08838835f;
    float mn = fmaxf(m, s), c = __expf(m - mn), p = __expf(s - mn);
    float2 v0 = __half22float2(*(half2 *)&vv.x), v1 = __half22float2(*(half2 *)&vv.y);
    l = l * c + p;
    a0 = a0 * c + p * v0.x; a1 = a1 * c + p * v0.y;
    a2 = a2 * c + p * v1.x; a3 = a3 * c + p * v1.y;
    m = mn;
  }
  if (lane == 0) { sm[warp] = m; sl[warp] = l; }
  sacc[warp][lane * 4] = a0; sacc[warp][lane * 4 + 1] = a1; sacc[warp][lane * 4 + 2] = a2; sacc[warp][lane * 4 + 3] = a3;
  __syncthreads();
  float M = fmaxf(fmaxf(sm[0], sm[1]), fmaxf(sm[2], sm[3])), L = 0, A = 0;
  for (int w = 0; w < 4; w++) {
    float c = __expf(sm[w] - M);
    L += sl[w] * c;
    A += sacc[w][threadIdx.x] * c;
  }
  float *o = part + (size_t)(h * SPLITS + blockIdx.y) * (HD + 2);
  o[threadIdx.x] = A;
  if (threadIdx.x == 0) { o[HD] = M; o[HD + 1] = L; }
}
__global__ void attn_combine(const float *part, half *out) {
  const float *p = part + (size_t)blockIdx.x * SPLITS * (HD + 2);
  float M = -1e30f, L = 0, A = 0;
  for (int s = 0; s < SPLITS; s++) M = fmaxf(M, p[s * (HD + 2) + HD]);
  for (int s = 0; s < SPLITS; s++) {
    float c = __expf(p[s * (HD + 2) + HD] - M);
    L += c * p[s * (HD + 2) + HD + 1];
    A += c * p[s * (HD + 2) + threadIdx.x];
  }
  out[blockIdx.x * HD + threadIdx.x] = __float2half(A / L);
}

// prefill: warp per query, K/V tiles of 32 keys in shared memory, lane = key for the scores.
// causal mask plus a key padding bit mask
__global__ void __launch_bounds__(128) attn_prefill(const half *Q, const half *K, const half *V, half *O, int t,
                                                    const uint32_t *padmask) {
  __shared__ half2 ks[32][HD / 2 + 1], vs[32][HD / 2], qs[4][HD / 2];
  int h = blockIdx.y, kvh = h / (HEADS / KVH), warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  int qi = blockIdx.x * 4 + warp, last = min(blockIdx.x * 4 + 3, t - 1);
  for (int i = lane; i < HD / 2; i += 32)
    qs[warp][i] = qi < t ? ((const half2 *)(Q + ((size_t)h * t + qi) * HD))[i] : __floats2half2_rn(0, 0);
  float m = -1e30f, l = 0;
  float2 acc0 = {0, 0}, acc1 = {0, 0};
  for (int k0 = 0; k0 <= last; k0 += 32) {
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * HD / 2; i += 128) {
      int r = i / (HD / 2), c = i % (HD / 2), key = min(k0 + r, t - 1);
      ks[r][c] = ((const half2 *)(K + ((size_t)kvh * t + key) * HD))[c];
      vs[r][c] = ((const half2 *)(V + ((size_t)kvh * t + key) * HD))[c];
    }
    __syncthreads();
    float s = 0;
    for (int c = 0; c < HD / 2; c++) {
      float2 a = __half22float2(qs[warp][c]), b = __half22float2(ks[lane][c]);
      s += a.x * b.x + a.y * b.y;
    }
    int key = k0 + lane;
    bool visible = key <= qi && key < t && ((padmask[k0 / 32] >> lane) & 1);
    s = visible ? s * 0.08838835f : -1e30f;
    float mn = fmaxf(m, warpMax(s)), c = __expf(m - mn), p = visible ? __expf(s - mn) : 0.f;
    l = l * c + warpSum(p);
    acc0.x *= c; acc0.y *= c; acc1.x *= c; acc1.y *= c;
    for (int j = 0; j < 32; j++) {
      float pj = __shfl_sync(0xffffffff, p, j);
      float2 v0 = __half22float2(vs[j][lane]), v1 = __half22float2(vs[j][lane + 32]);
      acc0.x += pj * v0.x; acc0.y += pj * v0.y;
      acc1.x += pj * v1.x; acc1.y += pj * v1.y;
    }
    m = mn;
  }
  if (qi < t) {
    half2 *o = (half2 *)(O + ((size_t)h * t + qi) * HD);
    float inv = 1.0f / l;
    o[lane] = __floats2half2_rn(acc0.x * inv, acc0.y * inv);
    o[lane + 32] = __floats2half2_rn(acc1.x * inv, acc1.y * inv);
  }
}

__device__ __forceinline__ void better(float &v, int &i, float ov, int oi) {
  if (ov > v || (ov == v && oi < i)) { v = ov; i = oi; }
}
__global__ void argmax(const float *x, const int *idx, int n, float *ov, int *oi) {
  __shared__ float sv[32];
  __shared__ int si[32];
  float v = -1e30f;
  int i = 0x7fffffff;
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
    better(v, i, x[k], idx ? idx[k] : k);
  for (int o = 16; o; o >>= 1) better(v, i, __shfl_down_sync(~0u, v, o), __shfl_down_sync(~0u, i, o));
  if (threadIdx.x % 32 == 0) { sv[threadIdx.x / 32] = v; si[threadIdx.x / 32] = i; }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < (int)blockDim.x / 32; w++) better(v, i, sv[w], si[w]);
    ov[blockIdx.x] = v;
    oi[blockIdx.x] = i;
  }
}

template <class U> static U *dev(size_t n) { U *p; CUDA_CHECK(cudaMalloc(&p, n * sizeof(U))); return p; }
static double mean_abs(const half *d, size_t n) {
  std::vector<half> v(n);
  CUDA_CHECK(cudaMemcpy(v.data(), d, n * sizeof(half), cudaMemcpyDeviceToHost));
  double s = 0;
  for (half x : v) s += std::fabs((double)__half2float(x));
  return s / n;
}

int main() {
  const size_t layerSize = (size_t)QKV * D + (size_t)D * D + 3ull * FF * D;
  half *w = dev<half>(layerSize * LAYERS), *emb = dev<half>((size_t)VOCAB * D), *gain = dev<half>(D);
  size_t cache = (size_t)KVH * MAXLEN * HD;
  half *kc = dev<half>(cache * LAYERS), *vc = dev<half>(cache * LAYERS);
  half *x = dev<half>(D), *xn = dev<half>(D), *qkv = dev<half>(QKV), *att = dev<half>(D), *ff = dev<half>(FF);
  float *part = dev<float>(HEADS * SPLITS * (HD + 2)), *logits = dev<float>(VOCAB), *bv = dev<float>(64), *fv = dev<float>(1);
  int *bi = dev<int>(64), *token = dev<int>(1);
  float *invfreq = dev<float>(64), hf[64];
  for (int i = 0; i < 64; i++) hf[i] = (float)pow(10000.0, -i / 64.0);
  CUDA_CHECK(cudaMemcpy(invfreq, hf, sizeof hf, cudaMemcpyHostToDevice));
  fill_random<<<1056, 256>>>(w, layerSize * LAYERS / 8, 0x1234567u, 0.044f, 0.f);
  fill_random<<<1056, 256>>>(emb, (size_t)VOCAB * D / 8, 0x9e3779b9u, 0.07f, 0.f);
  fill_random<<<1, 192>>>(gain, D / 8, 77u, 0.1f, 1.f);
  fill_random<<<264, 256>>>(kc, cache * LAYERS / 8, 5u, 1.5f, 0.f);
  fill_random<<<264, 256>>>(vc, cache * LAYERS / 8, 6u, 1.f, 0.f);
  CUDA_CHECK(cudaGetLastError());

  // prefill attention on its own
  {
    size_t nq = (size_t)HEADS * T * HD, nk = (size_t)KVH * T * HD;
    half *pq = dev<half>(nq + 2 * nk), *po = dev<half>(nq);
    std::vector<uint32_t> mask((T + 31) / 32, ~0u);
    mask[3] = 0xfff0ffffu; mask[7] = 0x0000ff00u; mask[8] = 0;
    uint32_t *dm = dev<uint32_t>(mask.size());
    CUDA_CHECK(cudaMemcpy(dm, mask.data(), mask.size() * 4, cudaMemcpyHostToDevice));
    fill_random<<<264, 128>>>(pq, (nq + 2 * nk) / 8, 99u, 1.2f, 0.f);
    attn_prefill<<<dim3((T + 3) / 4, HEADS), 128>>>(pq, pq + nq, pq + nq + nk, po, T, dm);
    CUDA_CHECK(cudaGetLastError());
    printf("prefill attention mean |o| %.4f\n", mean_abs(po, nq));
    CUDA_CHECK(cudaFree(pq)); CUDA_CHECK(cudaFree(po)); CUDA_CHECK(cudaFree(dm));
  }

  int tok = 4242;
  CUDA_CHECK(cudaMemcpy(token, &tok, 4, cudaMemcpyHostToDevice));
  std::vector<float> hl(VOCAB);
  for (int step = 0; step < 2; step++) {
    int pos = CTX + step;
    embed<<<(D / 2 + 127) / 128, 128>>>(emb, token, x);
    for (int L = 0; L < LAYERS; L++) {
      half *wqkv = w + L * layerSize, *wo = wqkv + (size_t)QKV * D, *wg = wo + (size_t)D * D, *wu = wg + (size_t)FF * D,
           *wd = wu + (size_t)FF * D;
      rmsnorm<<<1, 512>>>(x, gain, xn, D);
      gemv<<<(QKV + 7) / 8, 256>>>(wqkv, xn, qkv, QKV, D, nullptr);
      rope_append<<<HEADS + 2 * KVH, 64>>>(qkv, kc + L * cache, vc + L * cache, pos, invfreq);
      attn_decode<<<dim3(HEADS, SPLITS), 128>>>(qkv, kc + L * cache, vc + L * cache, pos + 1, part);
      attn_combine<<<HEADS, HD>>>(part, att);
      gemv<<<(D + 3) / 4, 128>>>(wo, att, x, D, D, x);
      rmsnorm<<<1, 512>>>(x, gain, xn, D);
      gemv_swiglu<<<(FF + 7) / 8, 256>>>(wg, wu, xn, ff, FF, D);
      gemv<<<(D + 3) / 4, 128>>>(wd, ff, x, D, FF, x);
    }
    rmsnorm<<<1, 512>>>(x, gain, xn, D);
    gemv_logits<<<1584, 160>>>(emb, xn, logits, VOCAB, D);
    argmax<<<60, 256>>>(logits, nullptr, VOCAB, bv, bi);
    argmax<<<1, 64>>>(bv, bi, 60, fv, token);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&tok, token, 4, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(hl.data(), logits, VOCAB * sizeof(float), cudaMemcpyDeviceToHost));
    int ref = 0;
    for (int i = 1; i < VOCAB; i++) if (hl[i] > hl[ref]) ref = i;
    printf("step %d token %d %s, mean |x| %.2f\n", step, tok, ref == tok ? "ok" : "mismatch", mean_abs(x, D));
  }
  void *all[] = {w, emb, gain, kc, vc, x, xn, qkv, att, ff, part, logits, bv, fv, bi, token, invfreq};
  for (void *p : all) CUDA_CHECK(cudaFree(p));
  return 0;
}
