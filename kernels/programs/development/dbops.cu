// Column-store operators: selection (prefix-sum compaction), hash group-by,
// LSD radix sort, sort-merge join, final aggregation.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CK(call)                                                                       \
  do {                                                                                 \
    cudaError_t rc = (call);                                                           \
    if (rc != cudaSuccess) {                                                           \
      fprintf(stderr, "cuda: %s (%s:%d)\n", cudaGetErrorString(rc), __FILE__, __LINE__); \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)

using u32 = uint32_t;
using u64 = unsigned long long;

struct Orders { u32 *cust; int *price; int *date; uint8_t *status; int n; };

// ---------------------------------------------------------------- helpers
__device__ inline u32 blockExclusive(u32 v, u32 *warpSums, u32 &total) {
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5, nw = blockDim.x >> 5;
  u32 x = v;
  for (int o = 1; o < 32; o <<= 1) { u32 y = __shfl_up_sync(0xffffffffu, x, o); if (lane >= o) x += y; }
  if (lane == 31) warpSums[w] = x;
  __syncthreads();
  if (w == 0) {
    u32 s = lane < nw ? warpSums[lane] : 0;
    for (int o = 1; o < 32; o <<= 1) { u32 y = __shfl_up_sync(0xffffffffu, s, o); if (lane >= o) s += y; }
    warpSums[lane] = s;
  }
  __syncthreads();
  total = warpSums[nw - 1];
  u32 r = x - v + (w ? warpSums[w - 1] : 0);
  __syncthreads();
  return r;
}

// a[0..n) -> exclusive, a[n] = total, by one block
__global__ void __launch_bounds__(1024) scanSingle(u32 *a, int n) {
  __shared__ u32 ws[32];
  u32 carry = 0;
  for (int base = 0; base < n; base += blockDim.x) {
    int i = base + threadIdx.x;
    u32 tot, e = blockExclusive(i < n ? a[i] : 0, ws, tot);
    if (i < n) a[i] = carry + e;
    carry += tot;
  }
  if (threadIdx.x == 0) a[n] = carry;
}

// ---------------------------------------------------------------- selection
constexpr int SEL_T = 256, SEL_I = 4;
__device__ inline bool keep(const Orders &o, int i, int d0, int d1) {
  return o.date[i] >= d0 && o.date[i] < d1 && o.status[i] != 2 && o.price[i] * (100 - o.status[i] * 5) > 25000;
}
__global__ void selectCount(Orders o, int d0, int d1, u32 *cnt) {
  int c = 0, base = blockIdx.x * SEL_T * SEL_I;
  for (int k = 0; k < SEL_I; k++) {
    int i = base + k * SEL_T + threadIdx.x;
    c += __syncthreads_count(i < o.n && keep(o, i, d0, d1));
  }
  if (threadIdx.x == 0) cnt[blockIdx.x] = c;
}
__global__ void selectWrite(Orders o, int d0, int d1, const u32 *off, u32 *rows, u32 *keys) {
  __shared__ u32 ws[32];
  u32 out = off[blockIdx.x];
  int base = blockIdx.x * SEL_T * SEL_I;
  for (int k = 0; k < SEL_I; k++) {
    int i = base + k * SEL_T + threadIdx.x;
    bool f = i < o.n && keep(o, i, d0, d1);
    u32 tot, e = blockExclusive(f, ws, tot);
    if (f) { rows[out + e] = i; keys[out + e] = o.cust[i]; }
    out += tot;
  }
}

// ---------------------------------------------------------------- group by
__device__ inline u32 hash(u32 x) { x *= 0x9e3779b1u; return x ^ (x >> 15); }
struct GroupTable { u32 *key; u64 *sum; u32 *cnt; int *mx; u32 mask; };

__global__ void groupGlobal(const u32 *rows, const u32 *keys, const int *price, u32 n, GroupTable t) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 k = keys[i] + 1, s = hash(k) & t.mask;
  int p = price[rows[i]];
  for (;;) {
    u32 old = atomicCAS(&t.key[s], 0u, k);
    if (old == 0 || old == k) break;
    s = (s + 1) & t.mask;
  }
  atomicAdd(&t.sum[s], (u64)p);
  atomicAdd(&t.cnt[s], 1u);
  atomicMax(&t.mx[s], p);
}
__global__ void groupDigest(GroupTable t, u64 *out) {
  u64 d = 0, g = 0;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i <= t.mask; i += gridDim.x * blockDim.x) {
    u32 k = t.key[i];
    if (!k) continue;
    g++;
    d += (u64)k * 0x9e3779b97f4a7c15ull ^ (t.sum[i] * 31 + t.cnt[i] * 7 + (u64)t.mx[i]);
  }
  for (int o = 16; o; o >>= 1) { d += __shfl_down_sync(~0u, d, o); g += __shfl_down_sync(~0u, g, o); }
  if ((threadIdx.x & 31) == 0) { atomicAdd(out, d); atomicAdd(out + 1, g); }
}

// few groups (month, status): table in shared memory first, then direct-addressed result
constexpr int LOWCARD = 512;
__global__ void groupShared(Orders o, u64 *result /* [LOWCARD] sum */, u32 *count) {
  __shared__ int key[LOWCARD];
  __shared__ u64 sum[LOWCARD];
  __shared__ u32 cnt[LOWCARD];
  for (int i = threadIdx.x; i < LOWCARD; i += blockDim.x) { key[i] = -1; sum[i] = 0; cnt[i] = 0; }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < o.n; i += gridDim.x * blockDim.x) {
    int k = o.date[i] / 30 * 4 + o.status[i];
    u32 s = hash(k) & (LOWCARD - 1);
    while (true) {
      int old = atomicCAS(&key[s], -1, k);
      if (old == -1 || old == k) break;
      s = (s + 1) & (LOWCARD - 1);
    }
    atomicAdd(&sum[s], (u64)o.price[i]);
    atomicAdd(&cnt[s], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < LOWCARD; i += blockDim.x)
    if (key[i] >= 0) { atomicAdd(&result[key[i]], sum[i]); atomicAdd(&count[key[i]], cnt[i]); }
}

// ---------------------------------------------------------------- radix sort
constexpr int RS_T = 256, RS_I = 8, RS_TILE = RS_T * RS_I;
__global__ void radixHist(const u32 *keys, u32 n, int shift, u32 *hist, int nb) {
  __shared__ u32 h[16];
  if (threadIdx.x < 16) h[threadIdx.x] = 0;
  __syncthreads();
  u32 base = blockIdx.x * RS_TILE;
  for (int k = 0; k < RS_I; k++) {
    u32 i = base + k * RS_T + threadIdx.x;
    if (i < n) atomicAdd(&h[(keys[i] >> shift) & 15], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 16) hist[threadIdx.x * nb + blockIdx.x] = h[threadIdx.x];
}
__global__ void radixScatter(const u32 *keys, const u32 *vals, u32 n, int shift, const u32 *hist, int nb, u32 *okeys,
                             u32 *ovals) {
  __shared__ u32 cnt[16 * RS_T];
  __shared__ u32 start[16], ws[32];
  int t = threadIdx.x;
  for (int d = 0; d < 16; d++) cnt[d * RS_T + t] = 0;
  u32 base = blockIdx.x * RS_TILE + t * RS_I;
  u32 k[RS_I], rank[RS_I];
#pragma unroll
  for (int j = 0; j < RS_I; j++) {
    rank[j] = 0;
    k[j] = 0;
    if (base + j < n) {
      k[j] = keys[base + j];
      rank[j] = cnt[((k[j] >> shift) & 15) * RS_T + t]++;
    }
  }
  __syncthreads();
  u32 s = 0, tot;
  for (int j = 0; j < 16; j++) s += cnt[t * 16 + j];
  u32 e = blockExclusive(s, ws, tot);
  for (int j = 0; j < 16; j++) { u32 c = cnt[t * 16 + j]; cnt[t * 16 + j] = e; e += c; }
  __syncthreads();
  if (t < 16) start[t] = hist[t * nb + blockIdx.x] - cnt[t * RS_T];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < RS_I; j++)
    if (base + j < n) {
      u32 d = (k[j] >> shift) & 15, p = start[d] + cnt[d * RS_T + t] + rank[j];
      okeys[p] = k[j];
      ovals[p] = vals[base + j];
    }
}
__global__ void iota(u32 *a, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}

static void radixSort(u32 *&k, u32 *&v, u32 *&k2, u32 *&v2, u32 n, int bits, u32 *hist) {
  int nb = (n + RS_TILE - 1) / RS_TILE;
  for (int sh = 0; sh < bits; sh += 4) {
    radixHist<<<nb, RS_T>>>(k, n, sh, hist, nb);
    scanSingle<<<1, 1024>>>(hist, 16 * nb);
    radixScatter<<<nb, RS_T>>>(k, v, n, sh, hist, nb, k2, v2);
    CK(cudaGetLastError());
    std::swap(k, k2);
    std::swap(v, v2);
  }
}

// ---------------------------------------------------------------- merge join
constexpr int MJ = 12;   // left rows per thread
__device__ inline u32 lowerBound(const u32 *a, u32 n, u32 key) {
  u32 lo = 0, hi = n;
  while (lo < hi) { u32 m = (lo + hi) / 2; if (a[m] < key) lo = m + 1; else hi = m; }
  return lo;
}
template <bool EMIT>
__global__ void mergeJoin(const u32 *lk, const u32 *lv, u32 ln, const u32 *rk, const u32 *rv, u32 rn, u32 *off, uint2 *out) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x, b = t * MJ;
  if (b >= ln) return;
  u32 e = min(b + MJ, ln), r = lowerBound(rk, rn, lk[b]), c = EMIT ? off[t] : 0;
  for (u32 i = b; i < e; i++) {
    u32 key = lk[i];
    while (r < rn && rk[r] < key) r++;
    for (u32 q = r; q < rn && rk[q] == key; q++) {
      if (EMIT) out[c] = make_uint2(lv[i], rv[q]);
      c++;
    }
  }
  if (!EMIT) off[t] = c;
}
__global__ void sumPerRegion(const uint2 *pairs, u32 n, const int *price, const uint8_t *region, u64 *out) {
  __shared__ u64 s[25];
  if (threadIdx.x < 25) s[threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint2 p = pairs[i];
    atomicAdd(&s[region[p.y]], (u64)price[p.x]);
  }
  __syncthreads();
  if (threadIdx.x < 25) atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
}

static u64 fnv(const void *p, size_t n) {
  u64 h = 14695981039346656037ull;
  for (size_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)p)[i]) * 1099511628211ull;
  return h;
}
template <class T> static T *upload(const std::vector<T> &v) {
  T *d;
  CK(cudaMalloc(&d, v.size() * sizeof(T)));
  CK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}
template <class T> static T *zeros(size_t n) {
  T *d;
  CK(cudaMalloc(&d, n * sizeof(T)));
  CK(cudaMemset(d, 0, n * sizeof(T)));
  return d;
}
template <class T> static std::vector<T> down(const T *d, size_t n) {
  std::vector<T> v(n);
  CK(cudaMemcpy(v.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
  return v;
}

int main() {
  const int n = 1700021, m = 250013, NCUST = 200003;
  std::vector<u32> cust(n), ck(m);
  std::vector<int> price(n), date(n);
  std::vector<uint8_t> status(n), region(m);
  u64 s = 0x853c49e6748fea9bull;
  auto rnd = [&]() { s = s * 6364136223846793005ull + 1442695040888963407ull; return (u32)(s >> 33); };
  for (int i = 0; i < n; i++) {
    cust[i] = rnd() % 5 == 0 ? rnd() % 2000 : rnd() % NCUST;     // some heavy customers
    price[i] = 100 + rnd() % 9900;
    date[i] = rnd() % 2400;
    status[i] = rnd() % 4;
  }
  for (int i = 0; i < m; i++) { ck[i] = rnd() % NCUST; region[i] = rnd() % 25; }

  Orders o{upload(cust), upload(price), upload(date), upload(status), n};
  const int D0 = 150, D1 = 2100, nsel = (n + SEL_T * SEL_I - 1) / (SEL_T * SEL_I);
  u32 *cnt = zeros<u32>(nsel + 1), *rows = zeros<u32>(n), *keys = zeros<u32>(n), *rows2 = zeros<u32>(n), *keys2 = zeros<u32>(n);
  selectCount<<<nsel, SEL_T>>>(o, D0, D1, cnt);
  scanSingle<<<1, 1024>>>(cnt, nsel);
  selectWrite<<<nsel, SEL_T>>>(o, D0, D1, cnt, rows, keys);
  CK(cudaGetLastError());
  u32 ns;
  CK(cudaMemcpy(&ns, cnt + nsel, 4, cudaMemcpyDeviceToHost));
  auto hr = down(rows, ns);
  printf("selected %u rows %016llx\n", ns, fnv(hr.data(), ns * 4ul));

  const u32 slots = 1u << 19;
  GroupTable gt{zeros<u32>(slots), zeros<u64>(slots), zeros<u32>(slots), zeros<int>(slots), slots - 1};
  u64 *dig = zeros<u64>(2), *low = zeros<u64>(LOWCARD), *reg = zeros<u64>(25);
  u32 *lowc = zeros<u32>(LOWCARD);
  groupGlobal<<<(ns + 191) / 192, 192>>>(rows, keys, o.price, ns, gt);
  groupDigest<<<256, 256>>>(gt, dig);
  groupShared<<<264, 384>>>(o, low, lowc);
  CK(cudaGetLastError());
  auto hd = down(dig, 2); auto hl = down(low, LOWCARD); auto hc = down(lowc, LOWCARD);
  std::vector<u64> ref(LOWCARD, 0);
  for (int i = 0; i < n; i++) ref[date[i] / 30 * 4 + status[i]] += price[i];
  printf("groups %llu digest %016llx\n", hd[1], hd[0]);
  printf("monthly %016llx %016llx %s\n", fnv(hl.data(), LOWCARD * 8), fnv(hc.data(), LOWCARD * 4), ref == hl ? "ok" : "mismatch");

  u32 *hist = zeros<u32>(16 * ((n + RS_TILE - 1) / RS_TILE) + 1);
  radixSort(keys, rows, keys2, rows2, ns, 18, hist);
  u32 *rk = upload(ck), *rv = zeros<u32>(m), *rk2 = zeros<u32>(m), *rv2 = zeros<u32>(m);
  uint8_t *dreg = upload(region);
  iota<<<(m + 511) / 512, 512>>>(rv, m);
  radixSort(rk, rv, rk2, rv2, m, 18, hist);
  auto sk = down(keys, ns); auto sv = down(rows, ns);
  bool sorted = true;
  for (u32 i = 1; i < ns; i++) sorted = sorted && (sk[i - 1] < sk[i] || (sk[i - 1] == sk[i] && sv[i - 1] < sv[i]));
  printf("sorted %016llx %016llx %s\n", fnv(sk.data(), ns * 4ul), fnv(sv.data(), ns * 4ul), sorted ? "ok" : "mismatch");

  int nt = (ns + MJ - 1) / MJ, jb = (nt + 127) / 128;
  u32 *joff = zeros<u32>(nt + 1), nj;
  mergeJoin<false><<<jb, 128>>>(keys, rows, ns, rk, rv, m, joff, nullptr);
  scanSingle<<<1, 1024>>>(joff, nt);
  CK(cudaGetLastError());
  CK(cudaMemcpy(&nj, joff + nt, 4, cudaMemcpyDeviceToHost));
  uint2 *pairs = zeros<uint2>(nj);
  mergeJoin<true><<<jb, 128>>>(keys, rows, ns, rk, rv, m, joff, pairs);
  sumPerRegion<<<200, 256>>>(pairs, nj, o.price, dreg, reg);
  CK(cudaGetLastError());
  auto hp = down(pairs, nj); auto hg = down(reg, 25);
  std::vector<u32> per(NCUST, 0);
  for (u32 c : ck) per[c]++;
  u64 want = 0;
  for (u32 k : sk) want += per[k];
  printf("join %u pairs %016llx regions %016llx %s\n", nj, fnv(hp.data(), nj * 8ul), fnv(hg.data(), 200), want == nj ? "ok" : "mismatch");
  void *all[] = {o.cust, o.price, o.date, o.status, cnt, rows, keys, rows2, keys2, gt.key, gt.sum, gt.cnt, gt.mx, dig, low,
                 lowc, reg, hist, rk, rv, rk2, rv2, dreg, joff, pairs};
  for (void *p : all) CK(cudaFree(p));
  return 0;
}
