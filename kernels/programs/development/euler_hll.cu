// 2-D compressible Euler, MUSCL (minmod) + HLL, dimensionally split, reflecting walls.
// single precision, SoA in one pitched allocation
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <float.h>

#define GAMMA 1.4f
#define NG 2            /* ghost layers */
#define NX 509
#define NY 302
#define NVAR 4
#define XT 128          /* x sweep tile */
#define YTX 32
#define YTY 16

static void die(cudaError_t e, int line) {
  fprintf(stderr, "line %d: CUDA: %s\n", line, cudaGetErrorString(e));
  exit(1);
}
#define OK(x) do { cudaError_t e__ = (x); if (e__ != cudaSuccess) die(e__, __LINE__); } while (0)

struct Field { float *base; int pitch; /* in floats */ int rows; };

struct State { float r, u, v, p; };
struct Cons { float r, mu, mv, e; };

__device__ __forceinline__ float *var(const Field &f, int k) { return f.base + (size_t)k * f.rows * f.pitch; }

__device__ __forceinline__ Cons load(const Field &f, int idx) {
  Cons c;
  c.r = var(f, 0)[idx]; c.mu = var(f, 1)[idx]; c.mv = var(f, 2)[idx]; c.e = var(f, 3)[idx];
  return c;
}
__device__ __forceinline__ void store(const Field &f, int idx, const Cons &c) {
  var(f, 0)[idx] = c.r; var(f, 1)[idx] = c.mu; var(f, 2)[idx] = c.mv; var(f, 3)[idx] = c.e;
}
__device__ __forceinline__ State prim(const Cons &c) {
  State s;
  s.r = fmaxf(c.r, 1e-6f);
  float inv = 1.0f / s.r;
  s.u = c.mu * inv;
  s.v = c.mv * inv;
  s.p = fmaxf((GAMMA - 1.0f) * (c.e - 0.5f * s.r * (s.u * s.u + s.v * s.v)), 1e-6f);
  return s;
}
__device__ __forceinline__ float minmod(float a, float b) {
  return a * b <= 0.0f ? 0.0f : (fabsf(a) < fabsf(b) ? a : b);
}
__device__ __forceinline__ State half(const State &m, const State &c, const State &p, float sgn) {
  State o;
  o.r = c.r + sgn * 0.5f * minmod(c.r - m.r, p.r - c.r);
  o.u = c.u + sgn * 0.5f * minmod(c.u - m.u, p.u - c.u);
  o.v = c.v + sgn * 0.5f * minmod(c.v - m.v, p.v - c.v);
  o.p = c.p + sgn * 0.5f * minmod(c.p - m.p, p.p - c.p);
  return o;
}
/* u is the velocity normal to the face */
__device__ Cons hll(const State &L, const State &R) {
  float cl = sqrtf(GAMMA * L.p / L.r), cr = sqrtf(GAMMA * R.p / R.r);
  float sl = fminf(L.u - cl, R.u - cr), sr = fmaxf(L.u + cl, R.u + cr);
  float el = L.p / (GAMMA - 1.0f) + 0.5f * L.r * (L.u * L.u + L.v * L.v);
  float er = R.p / (GAMMA - 1.0f) + 0.5f * R.r * (R.u * R.u + R.v * R.v);
  Cons fl = { L.r * L.u, L.r * L.u * L.u + L.p, L.r * L.u * L.v, (el + L.p) * L.u };
  Cons fr = { R.r * R.u, R.r * R.u * R.u + R.p, R.r * R.u * R.v, (er + R.p) * R.u };
  if (sl >= 0.0f) return fl;
  if (sr <= 0.0f) return fr;
  float inv = 1.0f / (sr - sl), ss = sl * sr;
  Cons f;
  f.r  = (sr * fl.r  - sl * fr.r  + ss * (R.r - L.r)) * inv;
  f.mu = (sr * fl.mu - sl * fr.mu + ss * (R.r * R.u - L.r * L.u)) * inv;
  f.mv = (sr * fl.mv - sl * fr.mv + ss * (R.r * R.v - L.r * L.v)) * inv;
  f.e  = (sr * fl.e  - sl * fr.e  + ss * (er - el)) * inv;
  return f;
}

__device__ unsigned hash2(unsigned a, unsigned b) {
  unsigned h = a * 0x9E3779B1u ^ (b + 0x7F4A7C15u) * 0x85EBCA77u;
  h ^= h >> 15; h *= 0x2C1B3C6Du; h ^= h >> 12; h *= 0x297A2D39u; h ^= h >> 15;
  return h;
}

__global__ void k_init(Field f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= NX || j >= NY) return;
  float x = (i + 0.5f) / NX - 0.4f, y = ((j + 0.5f) / NY - 0.55f) * ((float)NY / NX);
  float r2 = x * x + y * y;
  float noise = (hash2(i / 8, j / 8) >> 8) * (1.0f / 16777216.0f);
  float p = r2 < 0.012f ? 12.0f : 1.0f;
  float rho = (x + y > 0.25f ? 2.5f : 1.0f) + 0.1f * noise;
  Cons c = { rho, 0.3f * rho, 0.0f, p / (GAMMA - 1.0f) + 0.5f * rho * 0.09f };
  store(f, (j + NG) * f.pitch + i + NG, c);
}

/* reflecting ghosts; one thread per ghost column entry / row entry */
__global__ void k_ghost(Field f) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < NY) {
    int row = (t + NG) * f.pitch;
    for (int g = 0; g < NG; g++) {
      Cons a = load(f, row + NG + g), b = load(f, row + NG + NX - 1 - g);
      a.mu = -a.mu; b.mu = -b.mu;
      store(f, row + NG - 1 - g, a);
      store(f, row + NG + NX + g, b);
    }
  } else if (t < NY + NX) {
    int i = t - NY + NG;
    for (int g = 0; g < NG; g++) {
      Cons a = load(f, (NG + g) * f.pitch + i), b = load(f, (NG + NY - 1 - g) * f.pitch + i);
      a.mv = -a.mv; b.mv = -b.mv;
      store(f, (NG - 1 - g) * f.pitch + i, a);
      store(f, (NG + NY + g) * f.pitch + i, b);
    }
  }
}

/* the largest wave speed; positive floats compare like their bit patterns, so the atomic is exact */
__global__ void k_cfl(Field f, unsigned *smax) {
  float best = 0.0f;
  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < NX * NY; t += gridDim.x * blockDim.x) {
    int j = t / NX, i = t - j * NX;
    State s = prim(load(f, (j + NG) * f.pitch + i + NG));
    float c = sqrtf(GAMMA * s.p / s.r);
    best = fmaxf(best, fmaxf(fabsf(s.u), fabsf(s.v)) + c);
  }
  unsigned b = __reduce_max_sync(0xffffffffu, __float_as_uint(best));
  __shared__ unsigned sh;
  if (threadIdx.x == 0) sh = 0;
  __syncthreads();
  if ((threadIdx.x & 31) == 0) atomicMax(&sh, b);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(smax, sh);
}

/* shared memory along x: each block updates XT cells of one row */
__global__ void __launch_bounds__(XT + 2 * NG) k_sweep_x(Field in, Field out, const unsigned *smax, float cfl) {
  __shared__ State s[XT + 2 * NG];
  __shared__ Cons fx[XT + 1];
  int t = threadIdx.x, j = blockIdx.y + NG, x0 = blockIdx.x * XT;
  int i = x0 + t;                       /* index with ghosts of the cell this thread loads */
  Cons c = { 1.0f, 0.0f, 0.0f, 1.0f };
  if (i < NX + 2 * NG) c = load(in, j * in.pitch + i);
  s[t] = prim(c);
  __syncthreads();
  /* face k lies between local cells k+1 and k+2 */
  if (t <= XT) {
    State L = half(s[t], s[t + 1], s[t + 2], 1.0f);
    State R = half(s[t + 1], s[t + 2], s[t + 3], -1.0f);
    fx[t] = hll(L, R);
  }
  __syncthreads();
  if (t >= NG && t < XT + NG && i < NX + NG) {
    float k = cfl / __uint_as_float(*smax);
    Cons a = fx[t - NG], b = fx[t - NG + 1];
    c.r -= k * (b.r - a.r); c.mu -= k * (b.mu - a.mu); c.mv -= k * (b.mv - a.mv); c.e -= k * (b.e - a.e);
    store(out, j * out.pitch + i, c);
  }
}

/* no shared memory: each thread walks up a column strip and carries its stencil in registers */
__global__ void k_sweep_y(Field in, Field out, const unsigned *smax, float cfl) {
  int i = blockIdx.x * YTX + threadIdx.x + NG;
  int j0 = (blockIdx.y * blockDim.y + threadIdx.y) * YTY + NG;
  if (i >= NX + NG || j0 >= NY + NG) return;
  float k = cfl / __uint_as_float(*smax);
  int j1 = min(j0 + YTY, NY + NG);
  State w[4];
  for (int q = 0; q < 3; q++) {
    w[q] = prim(load(in, (j0 - 2 + q) * in.pitch + i));
    float tmp = w[q].u; w[q].u = w[q].v; w[q].v = tmp;
  }
  Cons flo = { 0, 0, 0, 0 }, cell = { 0, 0, 0, 0 };
  Cons mid = load(in, j0 * in.pitch + i);
  for (int j = j0 - 1; j < j1; j++) {
    /* face between j and j+1: needs j-1 .. j+2; w[] holds j-1, j, j+1 */
    Cons nextc = load(in, (j + 2) * in.pitch + i);
    State n = prim(nextc);
    w[3].r = n.r; w[3].u = n.v; w[3].v = n.u; w[3].p = n.p;
    Cons fhi = hll(half(w[0], w[1], w[2], 1.0f), half(w[1], w[2], w[3], -1.0f));
    if (j >= j0) {
      cell.r -= k * (fhi.r - flo.r); cell.mv -= k * (fhi.mu - flo.mu);
      cell.mu -= k * (fhi.mv - flo.mv); cell.e -= k * (fhi.e - flo.e);
      store(out, j * out.pitch + i, cell);
    }
    flo = fhi; cell = mid; mid = nextc;
    w[0] = w[1]; w[1] = w[2]; w[2] = w[3];
  }
}

/* integer totals so that the atomics commute exactly */
__global__ void k_totals(Field f, unsigned long long *tot) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned m = 0, e = 0, hot = 0;
  if (t < NX * NY) {
    int j = t / NX, i = t % NX;
    Cons c = load(f, (j + NG) * f.pitch + i + NG);
    State s = prim(c);
    m = (unsigned)(c.r * 4096.0f);
    e = (unsigned)(c.e * 1024.0f);
    hot = s.p > 1.5f;
  }
  m = __reduce_add_sync(0xffffffffu, m);
  e = __reduce_add_sync(0xffffffffu, e);
  hot = __popc(__ballot_sync(0xffffffffu, hot));
  if ((threadIdx.x & 31) == 0) {
    atomicAdd(&tot[0], (unsigned long long)m);
    atomicAdd(&tot[1], (unsigned long long)e);
    atomicAdd(&tot[2], (unsigned long long)hot);
  }
}

static Field make_field(void) {
  Field f;
  size_t pitch;
  void *p;
  f.rows = NY + 2 * NG;
  OK(cudaMallocPitch(&p, &pitch, (NX + 2 * NG) * sizeof(float), (size_t)f.rows * NVAR));
  OK(cudaMemset(p, 0, pitch * f.rows * NVAR));
  f.base = (float *)p;
  f.pitch = (int)(pitch / sizeof(float));
  return f;
}

int main(void) {
  Field a = make_field(), b = make_field();
  unsigned *smax;
  unsigned long long *tot, htot[3];
  const int steps = 5;
  OK(cudaMalloc((void **)&smax, steps * sizeof(unsigned)));
  OK(cudaMemset(smax, 0, steps * sizeof(unsigned)));
  OK(cudaMalloc((void **)&tot, sizeof htot));

  dim3 b2(32, 8), g2((NX + 31) / 32, (NY + 7) / 8);
  k_init<<<g2, b2>>>(a);
  OK(cudaGetLastError());
  dim3 gx((NX + XT - 1) / XT, NY);
  dim3 by(YTX, 4), gy((NX + YTX - 1) / YTX, (NY + 4 * YTY - 1) / (4 * YTY));
  int gg = (NX + NY + 127) / 128;
  const float cfl = 0.4f;

  for (int s = 0; s < steps; s++) {
    k_cfl<<<200, 256>>>(a, smax + s);
    OK(cudaGetLastError());
    k_ghost<<<gg, 128>>>(a);
    OK(cudaGetLastError());
    if (s % 2 == 0) {
      k_sweep_x<<<gx, XT + 2 * NG>>>(a, b, smax + s, cfl);
      OK(cudaGetLastError());
      k_ghost<<<gg, 128>>>(b);
      OK(cudaGetLastError());
      k_sweep_y<<<gy, by>>>(b, a, smax + s, cfl);
    } else {
      k_sweep_y<<<gy, by>>>(a, b, smax + s, cfl);
      OK(cudaGetLastError());
      k_ghost<<<gg, 128>>>(b);
      OK(cudaGetLastError());
      k_sweep_x<<<gx, XT + 2 * NG>>>(b, a, smax + s, cfl);
    }
    OK(cudaGetLastError());
    if (s == 0 || s == steps - 1) {
      OK(cudaMemset(tot, 0, sizeof htot));
      k_totals<<<(NX * NY + 255) / 256, 256>>>(a, tot);
      OK(cudaGetLastError());
      OK(cudaMemcpy(htot, tot, sizeof htot, cudaMemcpyDeviceToHost));
      printf("step %d mass %llu energy %llu hot %llu\n", s, htot[0], htot[1], htot[2]);
    }
  }
  unsigned hs[steps];
  OK(cudaMemcpy(hs, smax, sizeof hs, cudaMemcpyDeviceToHost));
  printf("smax bits");
  for (int s = 0; s < steps; s++) printf(" %08x", hs[s]);
  printf("\n");

  static float host[NVAR][NY][NX];
  for (int k = 0; k < NVAR; k++)
    OK(cudaMemcpy2D(host[k], NX * sizeof(float), a.base + ((size_t)k * a.rows + NG) * a.pitch + NG,
                    a.pitch * sizeof(float), NX * sizeof(float), NY, cudaMemcpyDeviceToHost));
  unsigned long long h = 14695981039346656037ull;
  const unsigned char *pb = (const unsigned char *)host;
  for (size_t q = 0; q < sizeof host; q++) h = (h ^ pb[q]) * 1099511628211ull;
  printf("state hash %016llx\n", h);
  OK(cudaFree(a.base)); OK(cudaFree(b.base)); OK(cudaFree(smax)); OK(cudaFree(tot));
  return 0;
}
