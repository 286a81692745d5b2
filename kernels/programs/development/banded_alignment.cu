// Banded sequence alignment: affine-gap anti-diagonal wavefront (warp per pair), linear-gap rows with a max-scan (16 lanes per pair), X-drop extension (thread per pair).
// Hard for a GPU: a long chain of dependent steps through shuffles with little parallelism per pair; the extension ends at very different lengths.
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <vector>

#define MAX_LEN 272
#define PAIRS 2800
#define NEG (-100000)

#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))
static void HandleError(cudaError_t err, const char *file, int line) {
  if (err != cudaSuccess) { printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line); exit(EXIT_FAILURE); }
}

__host__ __device__ inline uint32_t lcg(uint32_t &s) { s = s * 1664525u + 1013904223u; return s >> 8; }

// second sequence is a mutated copy of the first; one thread per pair
__global__ void mutate(uint8_t *ref, uint8_t *qry, int *ref_len, int *qry_len, int n) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  uint32_t s = p * 2246822519u + 374761393u;
  int len = 180 + lcg(s) % 77;
  int rate = 3 + lcg(s) % 12;     // percent
  uint8_t *r = ref + (size_t)p * MAX_LEN, *q = qry + (size_t)p * MAX_LEN;
  int j = 0;
  for (int i = 0; i < len; i++) {
    uint8_t b = lcg(s) & 3;
    r[i] = b;
    uint32_t x = lcg(s) % 300;
    if (j < MAX_LEN - 2) {
      if (x < (uint32_t)rate) q[j++] = (b + 1 + lcg(s) % 3) & 3;
      else if (x < (uint32_t)(rate * 4 / 3)) { q[j++] = b; q[j++] = lcg(s) & 3; }
      else if (x >= (uint32_t)(rate * 5 / 3)) q[j++] = b;
    }
  }
  ref_len[p] = len;
  qry_len[p] = j;
}

// Band of 64 diagonals; lane l owns diagonals 2l-32 (even steps) and 2l-31 (odd steps).
template <int MATCH, int MISMATCH, int OPEN, int EXTEND>
__global__ void __launch_bounds__(128) banded_affine(const uint8_t *__restrict__ ref, const uint8_t *__restrict__ qry,
                                                     const int *__restrict__ ref_len, const int *__restrict__ qry_len,
                                                     int2 *__restrict__ best_out, int n) {
  __shared__ uint8_t s_ref[4][MAX_LEN], s_qry[4][MAX_LEN];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  int p = blockIdx.x * 4 + w;
  if (p >= n) return;
  int rl = ref_len[p], ql = qry_len[p];
  for (int i = lane; i < MAX_LEN / 4; i += 32) {
    ((uint32_t *)s_ref[w])[i] = ((const uint32_t *)(ref + (size_t)p * MAX_LEN))[i];
    ((uint32_t *)s_qry[w])[i] = ((const uint32_t *)(qry + (size_t)p * MAX_LEN))[i];
  }
  __syncwarp();
  int he = 0, ho = 0;           // H on the even and the odd diagonals
  int E = NEG, F = NEG, Eo = NEG, Fo = NEG;
  int best = 0, best_at = 0;
  for (int d = 0; d < rl + ql - 1; d += 2) {
    // even step: i - j = 2l - 32, i + j = d
    {
      int i = (d >> 1) + lane - 16, j = d - i;
      int up_h = __shfl_up_sync(~0u, ho, 1), up_f = __shfl_up_sync(~0u, Fo, 1);
      if (lane == 0) { up_h = 0; up_f = NEG; }
      int left_h = ho, left_e = Eo;
      bool in = i >= 0 && i < rl && j >= 0 && j < ql;
      int e = max(left_e - EXTEND, left_h - OPEN), f = max(up_f - EXTEND, up_h - OPEN);
      int h = 0;
      if (in) {
        h = max(0, he + (s_ref[w][i] == s_qry[w][j] ? MATCH : -MISMATCH));
        h = max(h, max(e, f));
      } else {
        e = f = NEG;
      }
      he = h; E = e; F = f;
      if (h > best) { best = h; best_at = i << 16 | j; }
    }
    // odd step: i - j = 2l - 31, i + j = d + 1
    {
      int i = (d >> 1) + lane - 15, j = d + 1 - i;
      int left_h = __shfl_down_sync(~0u, he, 1), left_e = __shfl_down_sync(~0u, E, 1);
      if (lane == 31) { left_h = 0; left_e = NEG; }
      int up_h = he, up_f = F;
      bool in = i >= 0 && i < rl && j >= 0 && j < ql;
      int e = max(left_e - EXTEND, left_h - OPEN), f = max(up_f - EXTEND, up_h - OPEN);
      int h = 0;
      if (in) {
        h = max(0, ho + (s_ref[w][i] == s_qry[w][j] ? MATCH : -MISMATCH));
        h = max(h, max(e, f));
      } else {
        e = f = NEG;
      }
      ho = h; Eo = e; Fo = f;
      if (h > best) { best = h; best_at = i << 16 | j; }
    }
  }
  for (int o = 16; o; o >>= 1) {
    int b2 = __shfl_xor_sync(~0u, best, o), a2 = __shfl_xor_sync(~0u, best_at, o);
    if (b2 > best || (b2 == best && a2 < best_at)) { best = b2; best_at = a2; }
  }
  if (lane == 0) best_out[p] = make_int2(best, best_at);
}

// Global edit-like score, row by row: 16 lanes cover the band, the horizontal dependence is a max-scan.
__global__ void banded_rows16(const uint8_t *__restrict__ ref, const uint8_t *__restrict__ qry, const int *ref_len,
                              const int *qry_len, int *out, int n) {
  int group = (blockIdx.x * blockDim.x + threadIdx.x) / 16;
  int lane = threadIdx.x & 15;
  unsigned mask = 0xffffu << (threadIdx.x & 16);
  if (group >= n) return;
  const int GAP = 2;
  int rl = ref_len[group], ql = qry_len[group];
  const uint8_t *r = ref + (size_t)group * MAX_LEN, *q = qry + (size_t)group * MAX_LEN;
  int h = lane >= 8 ? -GAP * (lane - 8) : NEG;   // column j = i + lane - 8 at row i = 0
  for (int i = 1; i <= rl; i++) {
    int j = i + lane - 8;
    int above = __shfl_down_sync(mask, h, 1, 16);
    if (lane == 15) above = NEG;
    int v = above - GAP;
    if (j >= 1 && j <= ql) v = max(v, h + (r[i - 1] == __ldg(q + j - 1) ? 2 : -3));
    else if (j == 0) v = -GAP * i;
    else v = NEG;
    // v[lane] = max over k <= lane of v[k] - GAP * (lane - k)
    v += GAP * lane;
#pragma unroll
    for (int o = 1; o < 16; o <<= 1) {
      int u = __shfl_up_sync(mask, v, o, 16);
      if (lane >= o) v = max(v, u);
    }
    h = v - GAP * lane;
  }
  int target = ql - rl + 8;
  int score = __shfl_sync(mask, h, target & 15, 16);
  if (lane == 0) out[group] = (target >= 0 && target < 16) ? score : NEG;
}

__global__ void ungapped_xdrop(const uint8_t *ref, const uint8_t *qry, const int *ref_len, const int *qry_len, int *out,
                               int n, int seeds, int xdrop) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n * seeds) return;
  int p = t / seeds, s = t % seeds;
  int m = min(ref_len[p], qry_len[p]);
  int pos = (int)((long long)m * s / seeds);
  const uint8_t *r = ref + (size_t)p * MAX_LEN, *q = qry + (size_t)p * MAX_LEN;
  int best = 0, run = 0, at = pos;
  for (int k = pos; k < m; k++) {
    run += r[k] == q[k] ? 1 : -2;
    if (run > best) { best = run; at = k; }
    if (run < best - xdrop) break;
  }
  int run2 = 0, best2 = 0;
  for (int k = pos - 1; k >= 0; k--) {
    run2 += r[k] == q[k] ? 1 : -2;
    if (run2 > best2) best2 = run2;
    if (run2 < best2 - xdrop) break;
  }
  out[t] = (best + best2) * 1024 + at;
}

static unsigned long long hash_ints(const std::vector<int> &v) {
  unsigned long long h = 5381;
  for (size_t i = 0; i < v.size(); i++) h = h * 33 + (unsigned)v[i];
  return h;
}

int main(void) {
  const int SEEDS = 16;
  uint8_t *ref, *qry;
  int *rl, *ql, *out;
  int2 *best;
  HANDLE_ERROR(cudaMalloc(&ref, PAIRS * MAX_LEN));
  HANDLE_ERROR(cudaMalloc(&qry, PAIRS * MAX_LEN));
  HANDLE_ERROR(cudaMalloc(&rl, PAIRS * 4));
  HANDLE_ERROR(cudaMalloc(&ql, PAIRS * 4));
  HANDLE_ERROR(cudaMalloc(&out, PAIRS * SEEDS * 4));
  HANDLE_ERROR(cudaMalloc(&best, PAIRS * 8));
  HANDLE_ERROR(cudaMemset(ref, 0, PAIRS * MAX_LEN));
  HANDLE_ERROR(cudaMemset(qry, 0, PAIRS * MAX_LEN));
  mutate<<<(PAIRS + 63) / 64, 64>>>(ref, qry, rl, ql, PAIRS);
  HANDLE_ERROR(cudaGetLastError());

  const int small = 401;   // less than one block per SM
  std::vector<int> h(PAIRS * 2);
  banded_affine<2, 4, 6, 1><<<(PAIRS / 2 + 3) / 4, 128>>>(ref, qry, rl, ql, best, PAIRS / 2);
  HANDLE_ERROR(cudaGetLastError());
  HANDLE_ERROR(cudaMemcpy(h.data(), best, PAIRS / 2 * 8, cudaMemcpyDeviceToHost));
  h.resize(PAIRS);
  printf("affine 2/4/6/1: %016llx\n", hash_ints(h));

  banded_affine<1, 1, 2, 1><<<(small + 3) / 4, 128>>>(ref, qry, rl, ql, best, small);
  HANDLE_ERROR(cudaGetLastError());
  h.resize(small * 2);
  HANDLE_ERROR(cudaMemcpy(h.data(), best, small * 8, cudaMemcpyDeviceToHost));
  printf("affine 1/1/2/1: %016llx\n", hash_ints(h));

  banded_rows16<<<(PAIRS * 16 + 255) / 256, 256>>>(ref, qry, rl, ql, out, PAIRS);
  HANDLE_ERROR(cudaGetLastError());
  h.resize(PAIRS);
  HANDLE_ERROR(cudaMemcpy(h.data(), out, PAIRS * 4, cudaMemcpyDeviceToHost));
  printf("rows: %016llx\n", hash_ints(h));

  ungapped_xdrop<<<(PAIRS * SEEDS + 191) / 192, 192>>>(ref, qry, rl, ql, out, PAIRS, SEEDS, 12);
  HANDLE_ERROR(cudaGetLastError());
  h.resize(PAIRS * SEEDS);
  HANDLE_ERROR(cudaMemcpy(h.data(), out, PAIRS * SEEDS * 4, cudaMemcpyDeviceToHost));
  printf("xdrop: %016llx\n", hash_ints(h));
  cudaFree(ref); cudaFree(qry); cudaFree(rl); cudaFree(ql); cudaFree(out); cudaFree(best);
  return 0;
}
