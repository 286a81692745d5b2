// Canonical k-mer counting in an open-addressing table, minimiser extraction
// (k=15, w=10), spectrum and membership queries.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <cuda_runtime.h>

static void check(cudaError_t e, int line) {
  if (e != cudaSuccess) { fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e)); exit(1); }
}
#define CU(x) check((x), __LINE__)

typedef unsigned long long u64;

constexpr int K = 21;           // counted k-mers
constexpr int MK = 15;          // minimiser k-mers
constexpr int W = 10;           // window of consecutive k-mers
constexpr int CHUNK = 12;       // start positions per thread
constexpr u64 EMPTY = ~0ull;

__host__ __device__ inline u64 mix64(u64 x) {
  x ^= x >> 33; x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

__constant__ uint8_t c_code[256];

__global__ void encode(const char *txt, uint8_t *code, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    uchar4 c = *reinterpret_cast<const uchar4 *>(txt + i);
    *reinterpret_cast<uchar4 *>(code + i) = make_uchar4(c_code[c.x], c_code[c.y], c_code[c.z], c_code[c.w]);
  } else {
    for (; i < n; i++) code[i] = c_code[(uint8_t)txt[i]];
  }
}

__device__ void table_add(u64 *keys, unsigned *counts, unsigned mask, u64 key) {
  unsigned slot = (unsigned)mix64(key) & mask;
  while (true) {
    u64 cur = keys[slot];
    if (cur == EMPTY) cur = atomicCAS(keys + slot, EMPTY, key);
    if (cur == EMPTY || cur == key) { atomicAdd(counts + slot, 1u); return; }
    slot = (slot + 1) & mask;
  }
}

// every thread rolls over CHUNK start positions
__global__ void count_kmers(const uint8_t *code, int n, u64 *keys, unsigned *counts, unsigned mask) {
  int nstart = n - K + 1;
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK;
  if (first >= nstart) return;
  int last = min(first + CHUNK, nstart);           // start positions [first,last)
  const u64 kmask = (1ull << (2 * K)) - 1;
  u64 fwd = 0, rev = 0;
  int good = 0;
  for (int i = first; i < last + K - 1; i++) {
    unsigned c = code[i];
    if (c > 3) { good = 0; continue; }
    fwd = ((fwd << 2) | c) & kmask;
    rev = (rev >> 2) | ((u64)(3 - c) << (2 * (K - 1)));
    if (++good >= K) table_add(keys, counts, mask, fwd < rev ? fwd : rev);
  }
}

// naive: one thread per position, re-reads all MK bases
__global__ void hash_positions(const uint8_t *code, int n, u64 *h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n - MK) return;
  u64 f = 0, r = 0;
  bool bad = false;
  for (int j = 0; j < MK; j++) {
    unsigned c = code[i + j];
    if (c > 3) bad = true;
    f = (f << 2) | (c & 3);
    r |= (u64)(3 - (c & 3)) << (2 * j);
  }
  h[i] = bad ? EMPTY : mix64(f < r ? f : r) >> 1;
}

// leftmost minimum of each window
__global__ void window_min(const u64 *h, int nh, int *minpos) {
  extern __shared__ u64 tile[];
  int base = blockIdx.x * blockDim.x;
  for (int t = threadIdx.x; t < (int)blockDim.x + W - 1; t += blockDim.x)
    tile[t] = base + t < nh ? h[base + t] : EMPTY;
  __syncthreads();
  int i = base + threadIdx.x;
  if (i > nh - W) return;
  u64 best = tile[threadIdx.x];
  int at = 0;
#pragma unroll
  for (int j = 1; j < W; j++) {
    u64 v = tile[threadIdx.x + j];
    if (v < best) { best = v; at = j; }
  }
  minpos[i] = best == EMPTY ? -1 : i + at;
}

__device__ inline bool is_new(const int *minpos, int i, int nw) {
  if (i >= nw || minpos[i] < 0) return false;
  return i == 0 || minpos[i] != minpos[i - 1];
}

__global__ void count_new(const int *minpos, int nw, int *blocksum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int c = __syncthreads_count(is_new(minpos, i, nw));
  if (threadIdx.x == 0) blocksum[blockIdx.x] = c;
}

// exclusive scan by one block, in place; total goes to sum[n]
__global__ void scan_one_block(int *sum, int n) {
  __shared__ int warp[32];
  __shared__ int carry;
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  if (threadIdx.x == 0) carry = 0;
  __syncthreads();
  for (int base = 0; base < n; base += blockDim.x) {
    int i = base + threadIdx.x;
    int v = i < n ? sum[i] : 0, x = v;
    for (int o = 1; o < 32; o <<= 1) { int y = __shfl_up_sync(~0u, x, o); if (lane >= o) x += y; }
    if (lane == 31) warp[w] = x;
    __syncthreads();
    if (w == 0) {
      int y = lane < (int)blockDim.x / 32 ? warp[lane] : 0;
      for (int o = 1; o < 32; o <<= 1) { int q = __shfl_up_sync(~0u, y, o); if (lane >= o) y += q; }
      warp[lane] = y;
    }
    __syncthreads();
    int excl = x - v + (w ? warp[w - 1] : 0) + carry;
    if (i < n) sum[i] = excl;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) carry = excl + v;
    __syncthreads();
  }
  if (threadIdx.x == 0) sum[n] = carry;
}

__global__ void emit_minimisers(const int *minpos, int nw, const int *blockoff, const u64 *h, int *outpos, u64 *outhash) {
  __shared__ int wsum[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  bool f = is_new(minpos, i, nw);
  unsigned b = __ballot_sync(~0u, f);
  if (lane == 0) wsum[w] = __popc(b);
  __syncthreads();
  int off = blockoff[blockIdx.x];
  for (int q = 0; q < w; q++) off += wsum[q];
  if (f) {
    int o = off + __popc(b & ((1u << lane) - 1));
    outpos[o] = minpos[i];
    outhash[o] = h[minpos[i]];
  }
}

__global__ void bucket_histogram(const u64 *hash, int n, unsigned *hist) {
  __shared__ unsigned sh[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) sh[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&sh[hash[i] >> 53], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) if (sh[i]) atomicAdd(hist + i, sh[i]);
}

// spectrum[c] = distinct k-mers seen c times (last bin open); digest independent of slot order
__global__ void spectrum(const u64 *keys, const unsigned *counts, unsigned cap, unsigned *spec, u64 *digest) {
  __shared__ unsigned sh[256];
  sh[threadIdx.x] = 0;
  __syncthreads();
  u64 d = 0;
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < cap; i += gridDim.x * 256) {
    u64 k = keys[i];
    if (k == EMPTY) continue;
    unsigned c = counts[i];
    atomicAdd(&sh[c < 255 ? c : 255], 1u);
    d += mix64(k + 17) * c;
  }
  for (int o = 16; o; o >>= 1) d += __shfl_xor_sync(~0u, d, o);
  if ((threadIdx.x & 31) == 0) atomicAdd(digest, d);
  __syncthreads();
  if (sh[threadIdx.x]) atomicAdd(spec + threadIdx.x, sh[threadIdx.x]);
}

// random substrings, every third one with a changed base
__global__ void query(const uint8_t *code, int n, const u64 *keys, const unsigned *counts, unsigned mask, int nq,
                      unsigned *result) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= nq) return;
  u64 r = mix64(q * 0x9e3779b97f4a7c15ull + 1);
  int p = (int)(r % (u64)(n - K + 1));
  int mut = q % 3 == 0 ? (int)((r >> 40) % K) : -1;
  u64 f = 0, b = 0;
  for (int j = 0; j < K; j++) {
    unsigned c = code[p + j] & 3;
    if (j == mut) c = (c + 1) & 3;
    f = (f << 2) | c;
    b |= (u64)(3 - c) << (2 * j);
  }
  u64 key = f < b ? f : b;
  unsigned slot = (unsigned)mix64(key) & mask, found = 0;
  while (keys[slot] != EMPTY) {
    if (keys[slot] == key) { found = counts[slot]; break; }
    slot = (slot + 1) & mask;
  }
  result[q] = found;
}

static u64 fnv(const void *p, size_t n) {
  u64 h = 14695981039346656037ull;
  for (size_t i = 0; i < n; i++) { h ^= ((const uint8_t *)p)[i]; h *= 1099511628211ull; }
  return h;
}
template <class T> static std::vector<T> fetch(const T *d, size_t n) {
  std::vector<T> v(n);
  CU(cudaMemcpy(v.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
  return v;
}

int main() {
  // synthetic genome: random, with diverged repeats and runs of N
  const int n = 3400007;
  std::string g(n, 'A');
  u64 s = 88172645463325252ull;
  auto rnd = [&]() { s ^= s << 13; s ^= s >> 7; s ^= s << 17; return s; };
  for (int i = 0; i < n; i++) g[i] = "ACGT"[(rnd() >> 20) & 3];
  for (int r = 0; r < 220; r++) {
    int len = 500 + rnd() % 4000, a = rnd() % (n / 50), b = rnd() % (n - len);
    for (int j = 0; j < len; j++) g[b + j] = rnd() % 200 ? g[a + j] : "ACGT"[rnd() & 3];
  }
  for (int r = 0; r < 40; r++) { int a = rnd() % (n - 300); for (int j = 0; j < 200; j++) g[a + j] = 'N'; }

  uint8_t code[256];
  for (int i = 0; i < 256; i++) code[i] = 4;
  code['A'] = 0; code['C'] = 1; code['G'] = 2; code['T'] = 3;
  CU(cudaMemcpyToSymbol(c_code, code, 256));

  const unsigned cap = 1u << 23, mask = cap - 1;
  const int nh = n - MK + 1, nw = nh - W + 1, nq = 1500001;
  char *d_txt; uint8_t *d_code; u64 *keys, *h, *mhash, *digest; unsigned *counts, *hist, *spec, *res; int *minpos, *bsum, *mpos;
  CU(cudaMalloc(&d_txt, n)); CU(cudaMalloc(&d_code, n));
  CU(cudaMalloc(&keys, cap * sizeof(u64))); CU(cudaMalloc(&counts, cap * sizeof(unsigned)));
  CU(cudaMalloc(&h, nh * sizeof(u64))); CU(cudaMalloc(&minpos, nw * sizeof(int)));
  const int TB = 320, nb = (nw + TB - 1) / TB;
  CU(cudaMalloc(&bsum, (nb + 1) * sizeof(int)));
  CU(cudaMalloc(&hist, 1024 * sizeof(unsigned))); CU(cudaMalloc(&spec, 256 * sizeof(unsigned)));
  CU(cudaMalloc(&digest, sizeof(u64))); CU(cudaMalloc(&res, nq * sizeof(unsigned)));
  CU(cudaMemcpy(d_txt, g.data(), n, cudaMemcpyHostToDevice));
  CU(cudaMemset(keys, 0xff, cap * sizeof(u64))); CU(cudaMemset(counts, 0, cap * sizeof(unsigned)));
  CU(cudaMemset(hist, 0, 4096)); CU(cudaMemset(spec, 0, 1024)); CU(cudaMemset(digest, 0, 8));

  encode<<<(n / 4 + 256) / 256, 256>>>(d_txt, d_code, n);
  int nt = (n - K + 1 + CHUNK - 1) / CHUNK;
  count_kmers<<<(nt + 127) / 128, 128>>>(d_code, n, keys, counts, mask);
  spectrum<<<528, 256>>>(keys, counts, cap, spec, digest);
  query<<<(nq + 191) / 192, 192>>>(d_code, n, keys, counts, mask, nq, res);
  CU(cudaGetLastError());

  hash_positions<<<(nh + 255) / 256, 256>>>(d_code, n, h);
  window_min<<<nb, TB, (TB + W - 1) * sizeof(u64)>>>(h, nh, minpos);
  count_new<<<nb, TB>>>(minpos, nw, bsum);
  scan_one_block<<<1, 1024>>>(bsum, nb);
  CU(cudaGetLastError());
  int nm;
  CU(cudaMemcpy(&nm, bsum + nb, 4, cudaMemcpyDeviceToHost));
  CU(cudaMalloc(&mpos, nm * sizeof(int))); CU(cudaMalloc(&mhash, nm * sizeof(u64)));
  emit_minimisers<<<nb, TB>>>(minpos, nw, bsum, h, mpos, mhash);
  bucket_histogram<<<66, 512>>>(mhash, nm, hist);
  CU(cudaGetLastError());
  CU(cudaDeviceSynchronize());

  auto sp = fetch(spec, 256); auto hs = fetch(hist, 1024); auto rs = fetch(res, nq);
  auto mp = fetch(mpos, nm); auto dg = fetch(digest, 1);
  u64 distinct = 0;
  for (unsigned v : sp) distinct += v;
  // host reference by sorting
  std::vector<u64> all;
  all.reserve(n);
  { u64 f = 0, r = 0; int good = 0;
    for (int i = 0; i < n; i++) {
      unsigned c = code[(uint8_t)g[i]];
      if (c > 3) { good = 0; continue; }
      f = ((f << 2) | c) & ((1ull << (2 * K)) - 1);
      r = (r >> 2) | ((u64)(3 - c) << (2 * (K - 1)));
      if (++good >= K) all.push_back(std::min(f, r));
    } }
  u64 ref = 0, total = all.size();
  for (u64 k : all) ref += mix64(k + 17);
  std::sort(all.begin(), all.end());
  u64 du = std::unique(all.begin(), all.end()) - all.begin();
  printf("kmers %llu distinct %llu digest %016llx %s\n", total, distinct, dg[0], ref == dg[0] && du == distinct ? "ok" : "mismatch");
  printf("spectrum 1:%u 2:%u 3:%u 4:%u 5+: hash %016llx\n", sp[1], sp[2], sp[3], sp[4], fnv(sp.data(), 1024));
  u64 hits = 0;
  for (unsigned v : rs) hits += v > 0;
  printf("queries %d hits %llu hash %016llx\n", nq, hits, fnv(rs.data(), nq * 4ul));
  printf("minimisers %d pos %016llx buckets %016llx\n", nm, fnv(mp.data(), nm * 4ul), fnv(hs.data(), 4096));
  void *f[] = {d_txt, d_code, keys, counts, h, minpos, bsum, hist, spec, digest, res, mpos, mhash};
  for (void *p : f) CU(cudaFree(p));
  return 0;
}
