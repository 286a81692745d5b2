// crc32 (slicing-by-8), Reed-Solomon(255,223) parity, K=7 Viterbi, Salsa20 keystream, BLAKE2s
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <array>

using u8 = uint8_t; using u32 = uint32_t; using u64 = unsigned long long;

static void must(cudaError_t rc, const char* where) {
  if (rc == cudaSuccess) return;
  fprintf(stderr, "cuda failure in %s: %s\n", where, cudaGetErrorString(rc));
  abort();
}

static u64 digest(const std::vector<u8>& v) {
  u64 h = 14695981039346656037ull;
  for (u8 b : v) h = (h ^ b) * 1099511628211ull;
  return h;
}

template <class T> static std::vector<u8> fetch(const T* dev, size_t count) {
  std::vector<u8> v(count * sizeof(T));
  must(cudaMemcpy(v.data(), dev, v.size(), cudaMemcpyDeviceToHost), "fetch");
  return v;
}

// ---- Salsa20/20: each thread makes one 64 byte block and XORs it into the buffer ---------------
__device__ __forceinline__ u32 rotl(u32 x, int n) { return __funnelshift_l(x, x, n); }
__device__ __forceinline__ u32 rotr(u32 x, int n) { return __funnelshift_r(x, x, n); }

#define QR(a, b, c, d)            \
  x[b] ^= rotl(x[a] + x[d], 7);   \
  x[c] ^= rotl(x[b] + x[a], 9);   \
  x[d] ^= rotl(x[c] + x[b], 13);  \
  x[a] ^= rotl(x[d] + x[c], 18)

struct SalsaKey { u32 k[8]; u32 nonce[2]; };

__global__ void salsa20_xor(SalsaKey key, uint4* buf, u32 nblocks) {
  u32 blk = blockIdx.x * blockDim.x + threadIdx.x;
  if (blk >= nblocks) return;
  u32 in[16] = {0x61707865, key.k[0], key.k[1], key.k[2], key.k[3], 0x3320646e, key.nonce[0], key.nonce[1],
                blk, 0, 0x79622d32, key.k[4], key.k[5], key.k[6], key.k[7], 0x6b206574};
  u32 x[16];
#pragma unroll
  for (int i = 0; i < 16; i++) x[i] = in[i];
#pragma unroll 2
  for (int r = 0; r < 10; r++) {
    QR(0, 4, 8, 12); QR(5, 9, 13, 1); QR(10, 14, 2, 6); QR(15, 3, 7, 11);
    QR(0, 1, 2, 3);  QR(5, 6, 7, 4);  QR(10, 11, 8, 9); QR(15, 12, 13, 14);
  }
#pragma unroll
  for (int q = 0; q < 4; q++) {
    uint4 v = buf[4 * blk + q];
    v.x ^= x[4 * q + 0] + in[4 * q + 0];
    v.y ^= x[4 * q + 1] + in[4 * q + 1];
    v.z ^= x[4 * q + 2] + in[4 * q + 2];
    v.w ^= x[4 * q + 3] + in[4 * q + 3];
    buf[4 * blk + q] = v;
  }
}

// ---- CRC32: a thread per chunk, 8 tables in shared memory ---------------------------------------
__global__ void __launch_bounds__(256) crc32_sb8(const u32* __restrict__ tables, const uint2* __restrict__ data,
                                                 int words8, int chunks, u32* __restrict__ out) {
  __shared__ u32 T[8][256];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) T[i >> 8][i & 255] = tables[i];
  __syncthreads();
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= chunks) return;
  const uint2* p = data + (size_t)c * words8;
  u32 crc = ~0u;
  for (int i = 0; i < words8; i++) {
    uint2 w = p[i];
    u32 a = w.x ^ crc, b = w.y;
    crc = T[7][a & 255] ^ T[6][(a >> 8) & 255] ^ T[5][(a >> 16) & 255] ^ T[4][a >> 24] ^
          T[3][b & 255] ^ T[2][(b >> 8) & 255] ^ T[1][(b >> 16) & 255] ^ T[0][b >> 24];
  }
  out[c] = ~crc;
}

// ---- Reed-Solomon over GF(256): a warp per codeword, lane l owns parity register l ----------------
constexpr int RS_K = 223, RS_P = 32;
__constant__ u8 c_gen_log[RS_P];   // logs of the generator polynomial, all coefficients nonzero

__global__ void __launch_bounds__(128) rs_encode(const u8* __restrict__ gf_exp, const u8* __restrict__ gf_log,
                                                 const u8* __restrict__ msg, int words, u8* __restrict__ parity) {
  __shared__ u8 ex[512], lg[256];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) ex[i] = gf_exp[i];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) lg[i] = gf_log[i];
  __syncthreads();
  int lane = threadIdx.x & 31;
  int word = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  if (word >= words) return;
  const u8* m = msg + (size_t)word * RS_K;
  int glog = c_gen_log[lane];
  u32 reg = 0, window = 0;
  for (int i = 0; i < RS_K; i++) {
    if ((i & 31) == 0) window = (i + lane < RS_K) ? m[i + lane] : 0;
    u32 sym = __shfl_sync(0xffffffffu, window, i & 31);
    u32 fb = sym ^ __shfl_sync(0xffffffffu, reg, 31);
    u32 up = __shfl_up_sync(0xffffffffu, reg, 1);
    if (lane == 0) up = 0;
    u32 prod = fb ? ex[lg[fb] + glog] : 0;
    reg = up ^ prod;
  }
  parity[(size_t)word * RS_P + (31 - lane)] = (u8)reg;
}

// ---- Viterbi, rate 1/2, K=7 (0171, 0133): a 64 thread block per frame, hard decisions -----------
constexpr int VT_BITS = 250, VT_STEPS = VT_BITS + 6;

__global__ void conv_encode_noisy(const u32* __restrict__ src, int frames, u8* __restrict__ sym) {
  // naive: thread per (frame, step)
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= frames * VT_STEPS) return;
  int f = t / VT_STEPS, s = t % VT_STEPS;
  u32 sr = 0;
  for (int k = 0; k < 7; k++) {
    int b = s - k;
    u32 bit = (b >= 0 && b < VT_BITS) ? (src[f * 8 + (b >> 5)] >> (b & 31)) & 1u : 0u;
    sr |= bit << (6 - k);
  }
  u32 o = (__popc(sr & 0171) & 1) | ((__popc(sr & 0133) & 1) << 1);
  u32 h = (u32)t * 2654435761u; h ^= h >> 15; h *= 2246822519u; h ^= h >> 13;
  if (h % 29 == 0) o ^= 1;
  if ((h >> 8) % 31 == 0) o ^= 2;
  sym[t] = (u8)o;
}

__global__ void __launch_bounds__(64) viterbi_k7(const u8* __restrict__ sym, u32* __restrict__ decoded) {
  __shared__ int metric[2][64];
  __shared__ u32 surv[VT_STEPS][2];
  __shared__ u8 rx[VT_STEPS];
  int s = threadIdx.x, f = blockIdx.x;
  for (int i = s; i < VT_STEPS; i += 64) rx[i] = sym[(size_t)f * VT_STEPS + i];
  metric[0][s] = s == 0 ? 0 : 1000;
  // new state s = (bit << 5) | (old >> 1); the predecessors are 2*(s&31) and 2*(s&31)+1
  int p0 = (s & 31) * 2, p1 = p0 + 1;
  u32 in = (u32)s >> 5;
  u32 r0 = (in << 6) | p0, r1 = (in << 6) | p1;
  u32 e0 = (__popc(r0 & 0171) & 1) | ((__popc(r0 & 0133) & 1) << 1);
  u32 e1 = (__popc(r1 & 0171) & 1) | ((__popc(r1 & 0133) & 1) << 1);
  __syncthreads();
  for (int t = 0; t < VT_STEPS; t++) {
    u32 r = rx[t];
    int a = metric[t & 1][p0] + __popc(e0 ^ r);
    int b = metric[t & 1][p1] + __popc(e1 ^ r);
    bool pick = b < a;
    metric[(t & 1) ^ 1][s] = pick ? b : a;
    u32 m = __ballot_sync(0xffffffffu, pick);
    if ((s & 31) == 0) surv[t][s >> 5] = m;
    __syncthreads();
  }
  if (s == 0) { // trace back from the zero state
    u32 st = 0, acc = 0;
    for (int t = VT_STEPS - 1; t >= 0; t--) {
      u32 bit = st >> 5;
      if (t < VT_BITS) {
        acc |= bit << (t & 31);
        if ((t & 31) == 0) { decoded[f * 8 + (t >> 5)] = acc; acc = 0; }
      }
      u32 pick = (surv[t][st >> 5] >> (st & 31)) & 1u;
      st = ((st & 31) << 1) | pick;
    }
  }
}

// ---- BLAKE2s-256, one message per thread --------------------------------------------------------
__constant__ u32 c_iv[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};

#define G(a, b, c, d, x, y)                            \
  a += b + (x); d = rotr(d ^ a, 16); c += d; b = rotr(b ^ c, 12); \
  a += b + (y); d = rotr(d ^ a, 8);  c += d; b = rotr(b ^ c, 7)

template <int s0, int s1, int s2, int s3, int s4, int s5, int s6, int s7, int s8, int s9, int sa, int sb, int sc, int sd, int se, int sf>
__device__ __forceinline__ void b2s_round(u32 (&v)[16], const u32 (&m)[16]) {
  G(v[0], v[4], v[8],  v[12], m[s0], m[s1]);
  G(v[1], v[5], v[9],  v[13], m[s2], m[s3]);
  G(v[2], v[6], v[10], v[14], m[s4], m[s5]);
  G(v[3], v[7], v[11], v[15], m[s6], m[s7]);
  G(v[0], v[5], v[10], v[15], m[s8], m[s9]);
  G(v[1], v[6], v[11], v[12], m[sa], m[sb]);
  G(v[2], v[7], v[8],  v[13], m[sc], m[sd]);
  G(v[3], v[4], v[9],  v[14], m[se], m[sf]);
}

__global__ void __launch_bounds__(128) blake2s_many(const uint4* __restrict__ data, int blocks_per_msg, int msgs, u32* __restrict__ out) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= msgs) return;
  u32 h[8];
#pragma unroll
  for (int i = 0; i < 8; i++) h[i] = c_iv[i];
  h[0] ^= 0x01010020;
  const uint4* p = data + (size_t)id * blocks_per_msg * 4;
  for (int b = 0; b < blocks_per_msg; b++) {
    u32 m[16], v[16];
#pragma unroll
    for (int q = 0; q < 4; q++) {
      uint4 w = p[4 * b + q];
      m[4 * q] = w.x; m[4 * q + 1] = w.y; m[4 * q + 2] = w.z; m[4 * q + 3] = w.w;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) { v[i] = h[i]; v[i + 8] = c_iv[i]; }
    v[12] ^= 64u * (b + 1);
    if (b + 1 == blocks_per_msg) v[14] = ~v[14];
    b2s_round<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(v, m);
    b2s_round<14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3>(v, m);
    b2s_round<11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4>(v, m);
    b2s_round<7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8>(v, m);
    b2s_round<9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13>(v, m);
    b2s_round<2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9>(v, m);
    b2s_round<12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11>(v, m);
    b2s_round<13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10>(v, m);
    b2s_round<6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5>(v, m);
    b2s_round<10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0>(v, m);
#pragma unroll
    for (int i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
  }
  uint4* o = reinterpret_cast<uint4*>(out) + 2 * (size_t)id;
  o[0] = make_uint4(h[0], h[1], h[2], h[3]);
  o[1] = make_uint4(h[4], h[5], h[6], h[7]);
}

int main() {
  const size_t BYTES = 5u << 20;
  u8* buf;
  must(cudaMalloc(&buf, BYTES), "malloc");
  must(cudaMemset(buf, 0x5a, BYTES), "memset");

  // salsa
  SalsaKey key;
  for (u32 i = 0; i < 8; i++) key.k[i] = 0x01234567u * (i + 3);
  key.nonce[0] = 0xdeadbeef; key.nonce[1] = 0x00c0ffee;
  for (int rep = 0; rep < 3; rep++) {
    key.nonce[1] += rep;
    salsa20_xor<<<(unsigned)(BYTES / 64 / 256), 256>>>(key, (uint4*)buf, (u32)(BYTES / 64));
    must(cudaGetLastError(), "salsa20_xor");
  }
  printf("salsa20  %016llx\n", digest(fetch(buf, BYTES)));

  // crc
  std::vector<u32> tab(2048);
  for (u32 i = 0; i < 256; i++) {
    u32 c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? (c >> 1) ^ 0xEDB88320u : c >> 1;
    tab[i] = c;
  }
  for (int t = 1; t < 8; t++)
    for (int i = 0; i < 256; i++) tab[t * 256 + i] = (tab[(t - 1) * 256 + i] >> 8) ^ tab[tab[(t - 1) * 256 + i] & 255];
  const int chunk8 = 25, chunks = (int)(BYTES / (8 * chunk8));
  u32 *d_tab, *d_crc;
  must(cudaMalloc(&d_tab, 8192), "malloc");
  must(cudaMalloc(&d_crc, chunks * 4), "malloc");
  must(cudaMemcpy(d_tab, tab.data(), 8192, cudaMemcpyHostToDevice), "copy");
  crc32_sb8<<<(chunks + 255) / 256, 256>>>(d_tab, (const uint2*)buf, chunk8, chunks, d_crc);
  must(cudaGetLastError(), "crc32_sb8");
  // fewer and longer chunks: very little parallelism
  const int long8 = 160, longs = (int)(BYTES / (8 * long8));
  u32* d_crc2;
  must(cudaMalloc(&d_crc2, longs * 4), "malloc");
  crc32_sb8<<<(longs + 63) / 64, 64>>>(d_tab, (const uint2*)buf, long8, longs, d_crc2);
  must(cudaGetLastError(), "crc32_sb8");
  printf("crc32    %016llx %016llx\n", digest(fetch(d_crc, chunks)), digest(fetch(d_crc2, longs)));
  {
    u32 first;
    must(cudaMemcpy(&first, d_crc, 4, cudaMemcpyDeviceToHost), "copy");
    auto v = fetch(buf, 8 * chunk8);
    u32 c = ~0u;
    for (u8 b : v) c = (c >> 8) ^ tab[(c ^ b) & 255];
    printf("crc32 check %s\n", ~c == first ? "ok" : "BAD");
  }

  // reed-solomon
  std::array<u8, 512> ex{}; std::array<u8, 256> lg{};
  for (int i = 0, x = 1; i < 255; i++) {
    ex[i] = ex[i + 255] = (u8)x; lg[x] = (u8)i;
    x <<= 1; if (x & 256) x ^= 0x11d;
  }
  std::vector<int> gen{1};
  for (int i = 0; i < RS_P; i++) {  // multiply by (x + a^i), lowest coefficient first
    std::vector<int> n(gen.size() + 1, 0);
    for (size_t k = 0; k < gen.size(); k++) { n[k + 1] ^= gen[k]; if (gen[k]) n[k] ^= ex[lg[gen[k]] + i]; }
    gen = n;
  }
  u8 gl[RS_P];
  for (int i = 0; i < RS_P; i++) { if (!gen[i]) { puts("zero coefficient"); return 1; } gl[i] = lg[gen[i]]; }
  must(cudaMemcpyToSymbol(c_gen_log, gl, sizeof gl), "symbol");
  const int words = 4001;
  u8 *d_ex, *d_lg, *d_par;
  must(cudaMalloc(&d_ex, 512), "malloc"); must(cudaMalloc(&d_lg, 256), "malloc"); must(cudaMalloc(&d_par, words * RS_P), "malloc");
  must(cudaMemcpy(d_ex, ex.data(), 512, cudaMemcpyHostToDevice), "copy");
  must(cudaMemcpy(d_lg, lg.data(), 256, cudaMemcpyHostToDevice), "copy");
  rs_encode<<<(words + 3) / 4, 128>>>(d_ex, d_lg, buf, words, d_par);
  must(cudaGetLastError(), "rs_encode");
  auto par = fetch(d_par, words * RS_P), msg = fetch(buf, (size_t)words * RS_K);
  int bad = 0;
  for (int w = 0; w < words; w += 500)
    for (int r = 0; r < RS_P; r++) { // the codeword vanishes at every root
      int acc = 0;
      auto step = [&](int sym) { acc = (acc ? ex[lg[acc] + r] : 0) ^ sym; };
      for (int i = 0; i < RS_K; i++) step(msg[(size_t)w * RS_K + i]);
      for (int i = 0; i < RS_P; i++) step(par[w * RS_P + i]);
      bad += acc != 0;
    }
  printf("rs       %016llx syndromes %s\n", digest(par), bad ? "BAD" : "ok");

  // viterbi: payload is taken from the front of the buffer
  const int frames = 1500;
  u8* d_sym; u32* d_dec;
  must(cudaMalloc(&d_sym, frames * VT_STEPS), "malloc");
  must(cudaMalloc(&d_dec, frames * 32), "malloc");
  must(cudaMemset(d_dec, 0, frames * 32), "memset");
  conv_encode_noisy<<<(frames * VT_STEPS + 191) / 192, 192>>>((const u32*)buf, frames, d_sym);
  must(cudaGetLastError(), "conv_encode_noisy");
  viterbi_k7<<<frames, 64>>>(d_sym, d_dec);
  must(cudaGetLastError(), "viterbi_k7");
  auto dec = fetch(d_dec, frames * 8), src = fetch(buf, frames * 32);
  int errs = 0;
  for (int f = 0; f < frames; f++)
    for (int b = 0; b < VT_BITS; b++) errs += ((dec[f * 32 + b / 8] ^ src[f * 32 + b / 8]) >> (b % 8)) & 1;
  printf("viterbi  %016llx bit errors %d of %d\n", digest(dec), errs, frames * VT_BITS);

  // blake2s
  const int bpm = 3, msgs = (int)(BYTES / (64 * bpm));
  u32* d_hash;
  must(cudaMalloc(&d_hash, (size_t)msgs * 32), "malloc");
  blake2s_many<<<(msgs + 127) / 128, 128>>>((const uint4*)buf, bpm, msgs, d_hash);
  must(cudaGetLastError(), "blake2s_many");
  printf("blake2s  %016llx\n", digest(fetch(d_hash, (size_t)msgs * 8)));

  for (void* p : {(void*)buf, (void*)d_tab, (void*)d_crc, (void*)d_crc2, (void*)d_ex, (void*)d_lg, (void*)d_par, (void*)d_sym, (void*)d_dec, (void*)d_hash})
    must(cudaFree(p), "free");
  return 0;
}
