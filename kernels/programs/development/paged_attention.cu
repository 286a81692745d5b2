// Decode-phase attention over a paged fp16 KV cache with beam search (copy-on-write blocks),
// grouped-query heads, a one-pass kernel, a partitioned (split-KV) kernel and block-sparse selection.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#include <utility>
#include <vector>

static void must(cudaError_t e, int line) {
  if (e != cudaSuccess) {
    fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
    exit(1);
  }
}
#define MUST(e) must((e), __LINE__)
#define LAUNCHED() must(cudaGetLastError(), __LINE__)

constexpr int HEAD_DIM = 128, BLOCK_TOKENS = 16, Q_HEADS = 16, KV_HEADS = 4, GROUP = Q_HEADS / KV_HEADS;
constexpr int PROMPTS = 6, BEAMS = 4, SEQS = PROMPTS * BEAMS;
constexpr int TABLE_STRIDE = 112, PARTITION = 256, MAX_CTX = TABLE_STRIDE * BLOCK_TOKENS;
constexpr int MAX_PARTS = MAX_CTX / PARTITION, SPARSE_BLOCKS = 20;
constexpr size_t BLOCK_ELEMS = size_t(KV_HEADS) * BLOCK_TOKENS * HEAD_DIM;

__device__ __forceinline__ void unpack8(uint4 v, float* f) {
  const __half2* h = reinterpret_cast<const __half2*>(&v);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float2 t = __half22float2(h[i]);
    f[2 * i] = t.x;
    f[2 * i + 1] = t.y;
  }
}

// ---- copy-on-write of physical blocks: one (src,dst) pair per blockIdx.x, y = 0: K, 1: V
__global__ void copy_blocks(__half* kc, __half* vc, const int2* pairs) {
  __half* base = blockIdx.y ? vc : kc;
  const int2 p = pairs[blockIdx.x];
  const uint4* s = reinterpret_cast<const uint4*>(base + p.x * BLOCK_ELEMS);
  uint4* d = reinterpret_cast<uint4*>(base + p.y * BLOCK_ELEMS);
  for (int i = threadIdx.x; i < int(BLOCK_ELEMS / 8); i += blockDim.x) d[i] = s[i];
}

// ---- rotary embedding of q (in place) and k, then append k, v to the cache
__global__ void rope_append(__half* q, const __half* k, const __half* v, const float2* rot, const int* ctx,
                            const int* tables, __half* kc, __half* vc) {
  const int seq = blockIdx.x, pos = ctx[seq] - 1;
  const float2* cs = rot + pos * (HEAD_DIM / 2);
  for (int i = threadIdx.x; i < Q_HEADS * HEAD_DIM / 2; i += blockDim.x) {
    const int h = i / (HEAD_DIM / 2), d = i % (HEAD_DIM / 2);
    __half* p = q + (seq * Q_HEADS + h) * HEAD_DIM;
    const float a = __half2float(p[d]), b = __half2float(p[d + HEAD_DIM / 2]);
    p[d] = __float2half_rn(a * cs[d].x - b * cs[d].y);
    p[d + HEAD_DIM / 2] = __float2half_rn(b * cs[d].x + a * cs[d].y);
  }
  const int blk = tables[seq * TABLE_STRIDE + pos / BLOCK_TOKENS], off = pos % BLOCK_TOKENS;
  for (int i = threadIdx.x; i < KV_HEADS * HEAD_DIM / 2; i += blockDim.x) {
    const int h = i / (HEAD_DIM / 2), d = i % (HEAD_DIM / 2);
    const int src = (seq * KV_HEADS + h) * HEAD_DIM;
    const size_t dst = blk * BLOCK_ELEMS + (h * BLOCK_TOKENS + off) * HEAD_DIM;
    const float a = __half2float(k[src + d]), b = __half2float(k[src + d + HEAD_DIM / 2]);
    kc[dst + d] = __float2half_rn(a * cs[d].x - b * cs[d].y);
    kc[dst + d + HEAD_DIM / 2] = __float2half_rn(b * cs[d].x + a * cs[d].y);
    vc[dst + d] = v[src + d];
    vc[dst + d + HEAD_DIM / 2] = v[src + d + HEAD_DIM / 2];
  }
}

// ---- one block (128 threads) per (query head, sequence); all logits kept in shared memory
__global__ void __launch_bounds__(128)
paged_attention_v1(__half* __restrict__ out, const __half* __restrict__ q, const __half* __restrict__ kc,
                   const __half* __restrict__ vc, const int* __restrict__ tables, const int* __restrict__ ctx,
                   float scale) {
  extern __shared__ float logits[];
  __shared__ float red[8][HEAD_DIM];
  __shared__ float stat[4];
  const int head = blockIdx.x, seq = blockIdx.y, kvh = head / GROUP, tid = threadIdx.x;
  const int n = ctx[seq], nblk = (n + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
  const int* table = tables + seq * TABLE_STRIDE;

  // 8 threads share a token; the 16 groups cover one cache block per iteration
  const int grp = tid / 8, l = tid % 8;
  float qf[16];
  {
    const uint4* qp = reinterpret_cast<const uint4*>(q + (seq * Q_HEADS + head) * HEAD_DIM);
    unpack8(qp[l], qf);
    unpack8(qp[l + 8], qf + 8);
  }
  float mx = -INFINITY;
  for (int b = 0; b < nblk; b++) {
    const uint4* kp =
        reinterpret_cast<const uint4*>(kc + table[b] * BLOCK_ELEMS + (kvh * BLOCK_TOKENS + grp) * HEAD_DIM);
    float kf[16], s = 0.f;
    unpack8(kp[l], kf);
    unpack8(kp[l + 8], kf + 8);
#pragma unroll
    for (int i = 0; i < 16; i++) s = fmaf(qf[i], kf[i], s);
    s += __shfl_xor_sync(0xffffffffu, s, 4);
    s += __shfl_xor_sync(0xffffffffu, s, 2);
    s += __shfl_xor_sync(0xffffffffu, s, 1);
    s *= scale;
    const int t = b * BLOCK_TOKENS + grp;
    if (t < n) {
      if (l == 0) logits[t] = s;
      mx = fmaxf(mx, s);
    }
  }
  for (int o = 16; o; o >>= 1) mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, o));
  if (tid % 32 == 0) stat[tid / 32] = mx;
  __syncthreads();
  mx = fmaxf(fmaxf(stat[0], stat[1]), fmaxf(stat[2], stat[3]));
  __syncthreads();
  float sum = 0.f;
  for (int t = tid; t < n; t += 128) {
    const float e = __expf(logits[t] - mx);
    logits[t] = e;
    sum += e;
  }
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (tid % 32 == 0) stat[tid / 32] = sum;
  __syncthreads();
  sum = (stat[0] + stat[1]) + (stat[2] + stat[3]);

  const int dg = tid % 16, tg = tid / 16;
  float acc[8] = {};
  for (int t = tg; t < n; t += 8) {
    const uint4* vp = reinterpret_cast<const uint4*>(vc + table[t / BLOCK_TOKENS] * BLOCK_ELEMS +
                                                     (kvh * BLOCK_TOKENS + t % BLOCK_TOKENS) * HEAD_DIM);
    float vf[8];
    unpack8(vp[dg], vf);
    const float p = logits[t];
#pragma unroll
    for (int i = 0; i < 8; i++) acc[i] = fmaf(p, vf[i], acc[i]);
  }
#pragma unroll
  for (int i = 0; i < 8; i++) red[tg][dg * 8 + i] = acc[i];
  __syncthreads();
  float o = 0.f;
#pragma unroll
  for (int i = 0; i < 8; i++) o += red[i][tid];
  out[(seq * Q_HEADS + head) * HEAD_DIM + tid] = __float2half_rn(o / sum);
}

// ---- split-KV: block per (kv head, sequence, partition) serves all GROUP query heads of the kv head
__global__ void __launch_bounds__(128)
paged_attention_v2(float* __restrict__ part_out, float2* __restrict__ part_stat, const __half* __restrict__ q,
                   const __half* __restrict__ kc, const __half* __restrict__ vc, const int* __restrict__ tables,
                   const int* __restrict__ ctx, float scale) {
  __shared__ __align__(16) float p[PARTITION][GROUP];
  const int kvh = blockIdx.x, seq = blockIdx.y, part = blockIdx.z, tid = threadIdx.x;
  const int begin = part * PARTITION, n = min(ctx[seq] - begin, PARTITION);
  if (n <= 0) return;
  const int* table = tables + seq * TABLE_STRIDE + begin / BLOCK_TOKENS;
  const int grp = tid / 8, l = tid % 8;
  float qf[GROUP][16];
#pragma unroll
  for (int g = 0; g < GROUP; g++) {
    const uint4* qp = reinterpret_cast<const uint4*>(q + (seq * Q_HEADS + kvh * GROUP + g) * HEAD_DIM);
    unpack8(qp[l], qf[g]);
    unpack8(qp[l + 8], qf[g] + 8);
  }
  for (int b = 0; b * BLOCK_TOKENS < n; b++) {
    const uint4* kp =
        reinterpret_cast<const uint4*>(kc + table[b] * BLOCK_ELEMS + (kvh * BLOCK_TOKENS + grp) * HEAD_DIM);
    float kf[16];
    unpack8(kp[l], kf);
    unpack8(kp[l + 8], kf + 8);
    float s[GROUP];
#pragma unroll
    for (int g = 0; g < GROUP; g++) {
      s[g] = 0.f;
#pragma unroll
      for (int i = 0; i < 16; i++) s[g] = fmaf(qf[g][i], kf[i], s[g]);
      s[g] += __shfl_xor_sync(0xffffffffu, s[g], 4);
      s[g] += __shfl_xor_sync(0xffffffffu, s[g], 2);
      s[g] += __shfl_xor_sync(0xffffffffu, s[g], 1);
    }
    const int t = b * BLOCK_TOKENS + grp;
    if (l == 0)
      *reinterpret_cast<float4*>(p[t]) = t < n ? make_float4(s[0] * scale, s[1] * scale, s[2] * scale, s[3] * scale)
                                               : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
  }
  __syncthreads();
  {  // warp g normalises head g
    const int g = tid / 32, lane = tid % 32;
    float mx = -INFINITY, sum = 0.f;
    for (int t = lane; t < n; t += 32) mx = fmaxf(mx, p[t][g]);
    for (int o = 16; o; o >>= 1) mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, o));
    for (int t = lane; t < n; t += 32) {
      const float e = __expf(p[t][g] - mx);
      p[t][g] = e;
      sum += e;
    }
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (lane == 0) part_stat[(seq * Q_HEADS + kvh * GROUP + g) * MAX_PARTS + part] = make_float2(mx, sum);
  }
  __syncthreads();
  float acc[GROUP] = {};
#pragma unroll 4
  for (int t = 0; t < n; t++) {
    const float v = __half2float(
        vc[table[t / BLOCK_TOKENS] * BLOCK_ELEMS + (kvh * BLOCK_TOKENS + t % BLOCK_TOKENS) * HEAD_DIM + tid]);
    const float4 w = *reinterpret_cast<const float4*>(p[t]);
    acc[0] = fmaf(w.x, v, acc[0]);
    acc[1] = fmaf(w.y, v, acc[1]);
    acc[2] = fmaf(w.z, v, acc[2]);
    acc[3] = fmaf(w.w, v, acc[3]);
  }
#pragma unroll
  for (int g = 0; g < GROUP; g++)
    part_out[((seq * Q_HEADS + kvh * GROUP + g) * MAX_PARTS + part) * HEAD_DIM + tid] = acc[g];
}

__global__ void merge_partitions(__half* __restrict__ out, const float* __restrict__ part_out,
                                 const float2* __restrict__ part_stat, const int* __restrict__ ctx) {
  const int row = blockIdx.x, seq = row / Q_HEADS, d = threadIdx.x;
  const int parts = (ctx[seq] + PARTITION - 1) / PARTITION;
  float mx = -INFINITY;
  for (int i = 0; i < parts; i++) mx = fmaxf(mx, part_stat[row * MAX_PARTS + i].x);
  float num = 0.f, den = 0.f;
  for (int i = 0; i < parts; i++) {
    const float2 s = part_stat[row * MAX_PARTS + i];
    const float w = __expf(s.x - mx);
    den += w * s.y;
    num += w * part_out[(row * MAX_PARTS + i) * HEAD_DIM + d];
  }
  out[row * HEAD_DIM + d] = __float2half_rn(num / den);
}

// ---- relevance of a cache block: query (summed over heads) . key (summed over the block). One warp per block.
__global__ void score_blocks(float* __restrict__ score, const __half* __restrict__ q, const __half* __restrict__ kc,
                             const int* __restrict__ tables, const int* __restrict__ ctx) {
  const int seq = blockIdx.y, lane = threadIdx.x % 32, b = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int n = ctx[seq], nblk = (n + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
  if (b >= nblk) return;
  const int tokens = min(BLOCK_TOKENS, n - b * BLOCK_TOKENS);
  float s = 0.f;
  for (int h = 0; h < KV_HEADS; h++)
    for (int d2 = lane; d2 < HEAD_DIM / 2; d2 += 32) {
      const __half2* kp = reinterpret_cast<const __half2*>(kc + tables[seq * TABLE_STRIDE + b] * BLOCK_ELEMS +
                                                           h * BLOCK_TOKENS * HEAD_DIM) + d2;
      float2 m = make_float2(0.f, 0.f), w = make_float2(0.f, 0.f);
      for (int t = 0; t < tokens; t++) {
        const float2 k = __half22float2(kp[t * HEAD_DIM / 2]);
        m.x += k.x;
        m.y += k.y;
      }
      for (int g = 0; g < GROUP; g++) {
        const float2 v = __half22float2(
            reinterpret_cast<const __half2*>(q + (seq * Q_HEADS + h * GROUP + g) * HEAD_DIM)[d2]);
        w.x += v.x;
        w.y += v.y;
      }
      s += m.x * w.x + m.y * w.y;
    }
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (lane == 0) score[seq * TABLE_STRIDE + b] = s / tokens;
}

// ---- keep the first block, the last block and the best others, in order (128 threads, one block per sequence)
__global__ void select_blocks(const float* __restrict__ score, const int* __restrict__ tables,
                              const int* __restrict__ ctx, int* __restrict__ sp_tables, int* __restrict__ sp_ctx) {
  __shared__ float s[128];
  __shared__ int warp_count[4];
  const int seq = blockIdx.x, b = threadIdx.x, n = ctx[seq];
  const int nblk = (n + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
  s[b] = b >= nblk ? -INFINITY : (b == 0 || b == nblk - 1) ? INFINITY : score[seq * TABLE_STRIDE + b];
  __syncthreads();
  int rank = 0;
  for (int i = 0; i < nblk; i++) rank += s[i] > s[b] || (s[i] == s[b] && i < b);
  const bool keep = b < nblk && rank < SPARSE_BLOCKS;
  const unsigned ball = __ballot_sync(0xffffffffu, keep);
  if (b % 32 == 0) warp_count[b / 32] = __popc(ball);
  __syncthreads();
  int pos = __popc(ball & ((1u << (b % 32)) - 1));
  for (int w = 0; w < b / 32; w++) pos += warp_count[w];
  if (keep) sp_tables[seq * TABLE_STRIDE + pos] = tables[seq * TABLE_STRIDE + b];
  if (b == nblk - 1) sp_ctx[seq] = pos * BLOCK_TOKENS + (n - (nblk - 1) * BLOCK_TOKENS);
}

// =============================== host ===============================
static uint32_t rnd(uint32_t a, uint32_t b) {
  uint64_t x = (uint64_t(a) << 32) ^ b;
  x = (x + 0x632be59bd9b4e019ull) * 0x9fb21c651e98df25ull;
  x ^= x >> 28;
  x *= 0x9fb21c651e98df25ull;
  return uint32_t(x >> 32);
}
static void fill_half(std::vector<__half>& v, uint32_t seed, float amp) {
  for (size_t i = 0; i < v.size(); i++)
    v[i] = __float2half((int(rnd(seed, uint32_t(i)) % 4097) - 2048) * (amp / 2048.f));
}
template <class T> static T* dev(size_t n) {
  void* p;
  MUST(cudaMalloc(&p, n * sizeof(T)));
  return static_cast<T*>(p);
}
template <class T> static void put(T* d, const std::vector<T>& h) {
  MUST(cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice));
}
static uint64_t fold(uint64_t h, uint64_t v) { return (h ^ v) * 1099511628211ull; }

struct BlockManager {
  std::vector<int> refs;
  std::vector<int> free_list;
  explicit BlockManager(int n) : refs(n, 0) { for (int i = n - 1; i >= 0; i--) free_list.push_back((i * 37) % n); }
  int take() { int b = free_list.back(); free_list.pop_back(); refs[b] = 1; return b; }
  void drop(int b) { if (--refs[b] == 0) free_list.push_back(b); }
};

static void summarize(const char* name, const __half* d, size_t n) {
  std::vector<__half> h(n);
  MUST(cudaMemcpy(h.data(), d, n * sizeof(__half), cudaMemcpyDeviceToHost));
  double s = 0, a = 0;
  for (auto x : h) { double f = __half2float(x); s += f; a += fabs(f); }
  printf("%-12s sum %.1f  abs %.1f\n", name, s, a);
}

int main() {
  const int NBLOCKS = 601;  // prime, so that (i * 37) % n is a permutation
  const int prompt_len[PROMPTS] = {420, 777, 1310, 256, 991, 1600};
  BlockManager mgr(NBLOCKS);
  std::vector<std::vector<int>> table(SEQS);
  std::vector<int> ctx(SEQS);
  for (int p = 0; p < PROMPTS; p++) {
    std::vector<int> t;
    for (int i = 0; i < (prompt_len[p] + BLOCK_TOKENS - 1) / BLOCK_TOKENS; i++) t.push_back(mgr.take());
    for (int b = 0; b < BEAMS; b++) {
      table[p * BEAMS + b] = t;
      ctx[p * BEAMS + b] = prompt_len[p];
      if (b) for (int x : t) mgr.refs[x]++;
    }
  }
  const size_t cache_elems = NBLOCKS * BLOCK_ELEMS;
  __half *kc = dev<__half>(cache_elems), *vc = dev<__half>(cache_elems);
  {
    std::vector<__half> h(cache_elems);
    fill_half(h, 1, 1.0f); put(kc, h);
    fill_half(h, 2, 1.5f); put(vc, h);
  }
  std::vector<float2> rot(size_t(MAX_CTX) * HEAD_DIM / 2);
  for (int pos = 0; pos < MAX_CTX; pos++)
    for (int d = 0; d < HEAD_DIM / 2; d++) {
      const double a = pos * pow(10000.0, -2.0 * d / HEAD_DIM);
      rot[pos * HEAD_DIM / 2 + d] = make_float2(float(cos(a)), float(sin(a)));
    }
  float2* d_rot = dev<float2>(rot.size());
  put(d_rot, rot);
  const size_t qn = size_t(SEQS) * Q_HEADS * HEAD_DIM, kn = size_t(SEQS) * KV_HEADS * HEAD_DIM;
  __half *q = dev<__half>(qn), *k = dev<__half>(kn), *v = dev<__half>(kn), *out = dev<__half>(qn);
  int *d_tab = dev<int>(SEQS * TABLE_STRIDE), *d_ctx = dev<int>(SEQS), *sp_tab = dev<int>(SEQS * TABLE_STRIDE),
      *sp_ctx = dev<int>(SEQS);
  float* part_out = dev<float>(qn * MAX_PARTS);
  float2* part_stat = dev<float2>(size_t(SEQS) * Q_HEADS * MAX_PARTS);
  float* score = dev<float>(SEQS * TABLE_STRIDE);
  int2* d_pairs = dev<int2>(SEQS);
  const float scale = 1.f / sqrtf(float(HEAD_DIM));

  for (int step = 0; step < 4; step++) {
    if (step > 0)  // beam reordering: some beams continue from another parent
      for (int p = 0; p < PROMPTS; p++) {
        std::vector<std::vector<int>> next(BEAMS);
        for (int b = 0; b < BEAMS; b++) {
          next[b] = table[p * BEAMS + rnd(500 + step, p * BEAMS + b) % BEAMS];
          for (int x : next[b]) mgr.refs[x]++;
        }
        for (int b = 0; b < BEAMS; b++) {
          for (int x : table[p * BEAMS + b]) mgr.drop(x);
          table[p * BEAMS + b] = next[b];
        }
      }
    std::vector<int2> pairs;
    for (int s = 0; s < SEQS; s++) {
      if (ctx[s] % BLOCK_TOKENS == 0) {
        table[s].push_back(mgr.take());
      } else if (mgr.refs[table[s].back()] > 1) {
        const int fresh = mgr.take();
        pairs.push_back(make_int2(table[s].back(), fresh));
        mgr.drop(table[s].back());
        table[s].back() = fresh;
      }
      ctx[s]++;
    }
    std::vector<int> flat(SEQS * TABLE_STRIDE, 0);
    for (int s = 0; s < SEQS; s++) std::copy(table[s].begin(), table[s].end(), flat.begin() + s * TABLE_STRIDE);
    put(d_tab, flat);
    put(d_ctx, ctx);
    {
      std::vector<__half> hq(qn), hk(kn), hv(kn);
      fill_half(hq, 100 + step, 2.f); put(q, hq);
      fill_half(hk, 200 + step, 1.f); put(k, hk);
      fill_half(hv, 300 + step, 1.5f); put(v, hv);
    }
    if (!pairs.empty()) {
      put(d_pairs, pairs);
      copy_blocks<<<dim3(unsigned(pairs.size()), 2), 256>>>(kc, vc, d_pairs);
      LAUNCHED();
    }
    rope_append<<<SEQS, 256>>>(q, k, v, d_rot, d_ctx, d_tab, kc, vc);
    LAUNCHED();
    const int longest = *std::max_element(ctx.begin(), ctx.end());
    if (step % 2 == 0) {
      paged_attention_v1<<<dim3(Q_HEADS, SEQS), 128, longest * sizeof(float)>>>(out, q, kc, vc, d_tab, d_ctx, scale);
      LAUNCHED();
      summarize("one-pass", out, qn);
    }
    if (step >= 1) {
      const int parts = (longest + PARTITION - 1) / PARTITION;
      paged_attention_v2<<<dim3(KV_HEADS, SEQS, parts), 128>>>(part_out, part_stat, q, kc, vc, d_tab, d_ctx, scale);
      LAUNCHED();
      merge_partitions<<<SEQS * Q_HEADS, HEAD_DIM>>>(out, part_out, part_stat, d_ctx);
      LAUNCHED();
      summarize("split-kv", out, qn);
    }
    if (step >= 2) {
      score_blocks<<<dim3((TABLE_STRIDE + 3) / 4, SEQS), 128>>>(score, q, kc, d_tab, d_ctx);
      LAUNCHED();
      select_blocks<<<SEQS, 128>>>(score, d_tab, d_ctx, sp_tab, sp_ctx);
      LAUNCHED();
      paged_attention_v1<<<dim3(Q_HEADS, SEQS), 128, SPARSE_BLOCKS * BLOCK_TOKENS * sizeof(float)>>>(
          out, q, kc, vc, sp_tab, sp_ctx, scale);
      LAUNCHED();
      summarize("sparse", out, qn);
      std::vector<int> st(SEQS * TABLE_STRIDE), sc(SEQS);
      MUST(cudaMemcpy(st.data(), sp_tab, st.size() * sizeof(int), cudaMemcpyDeviceToHost));
      MUST(cudaMemcpy(sc.data(), sp_ctx, sc.size() * sizeof(int), cudaMemcpyDeviceToHost));
      uint64_t h = 14695981039346656037ull;
      for (int s = 0; s < SEQS; s++) {
        h = fold(h, sc[s]);
        for (int i = 0; i < (sc[s] + BLOCK_TOKENS - 1) / BLOCK_TOKENS; i++) h = fold(h, st[s * TABLE_STRIDE + i]);
      }
      printf("selection %016llx\n", (unsigned long long)h);
    }
    printf("step %d: %zu copies, %zu free blocks\n", step, pairs.size(), mgr.free_list.size());
  }
  std::vector<uint16_t> raw(cache_elems);
  uint64_t hk = 14695981039346656037ull, hv = hk;
  MUST(cudaMemcpy(raw.data(), kc, cache_elems * 2, cudaMemcpyDeviceToHost));
  for (uint16_t x : raw) hk = fold(hk, x);
  MUST(cudaMemcpy(raw.data(), vc, cache_elems * 2, cudaMemcpyDeviceToHost));
  for (uint16_t x : raw) hv = fold(hv, x);
  printf("K cache %016llx\nV cache %016llx\n", (unsigned long long)hk, (unsigned long long)hv);
  return 0;
}
