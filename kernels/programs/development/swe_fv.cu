// Shallow water equations on a structured grid, first order finite volumes
// (Rusanov flux + hydrostatic reconstruction of Audusse et al.).
// Course project: everything lives in managed memory.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cmath>
#include <cuda_runtime.h>

#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(e_), __FILE__, __LINE__); exit(1); } } while (0)

static const int NX = 1531;
static const int NY = 1187;
static const int STEPS = 7;

#define G 9.81f
#define HDRY 1e-4f

// cell arrays have one ghost cell on each side
__host__ __device__ inline int cidx(int i, int j, int nx) { return j * (nx + 2) + i; }

struct State { float *h, *hu, *hv, *b; };
struct Flux  { float *m, *nL, *nR, *t; };   // mass, normal momentum seen by left/right cell, tangential

__global__ void ghost_lr(State s, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= ny + 2) return;
    int a = cidx(0, j, nx), a1 = cidx(1, j, nx);
    int c = cidx(nx + 1, j, nx), c1 = cidx(nx, j, nx);
    // reflective west wall
    s.h[a] = s.h[a1]; s.hu[a] = -s.hu[a1]; s.hv[a] = s.hv[a1]; s.b[a] = s.b[a1];
    // open east boundary
    s.h[c] = s.h[c1]; s.hu[c] = s.hu[c1]; s.hv[c] = s.hv[c1]; s.b[c] = s.b[c1];
}

__global__ void ghost_tb(State s, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx + 2) return;
    int a = cidx(i, 0, nx), a1 = cidx(i, 1, nx);
    int c = cidx(i, ny + 1, nx), c1 = cidx(i, ny, nx);
    s.h[a] = s.h[a1]; s.hu[a] = s.hu[a1]; s.hv[a] = -s.hv[a1]; s.b[a] = s.b[a1];
    s.h[c] = s.h[c1]; s.hu[c] = s.hu[c1]; s.hv[c] = -s.hv[c1]; s.b[c] = s.b[c1];
}

__device__ void rusanov(float hl, float unl, float utl, float bl,
                        float hr, float unr, float utr, float br,
                        float &fm, float &fnL, float &fnR, float &ft)
{
    float bm = fmaxf(bl, br);
    float hls = fmaxf(0.0f, hl + bl - bm);
    float hrs = fmaxf(0.0f, hr + br - bm);
    float cl = fabsf(unl) + sqrtf(G * hls);
    float cr = fabsf(unr) + sqrtf(G * hrs);
    float c = fmaxf(cl, cr);
    float ql = hls * unl, qr = hrs * unr;
    fm = 0.5f * (ql + qr) - 0.5f * c * (hrs - hls);
    float fn = 0.5f * (ql * unl + 0.5f * G * hls * hls + qr * unr + 0.5f * G * hrs * hrs) - 0.5f * c * (qr - ql);
    ft = 0.5f * (ql * utl + qr * utr) - 0.5f * c * (hrs * utr - hls * utl);
    fnL = fn + 0.5f * G * (hl * hl - hls * hls);
    fnR = fn + 0.5f * G * (hr * hr - hrs * hrs);
}

__device__ void velocity(const State &s, int k, float &h, float &u, float &v)
{
    h = s.h[k];
    if (h > HDRY) { u = s.hu[k] / h; v = s.hv[k] / h; }
    else { u = 0.0f; v = 0.0f; }
}

// flux through face between cells (i,j) and (i+1,j), i = 0..nx
__global__ void flux_x(State s, Flux f, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > nx || j >= ny) return;
    int l = cidx(i, j + 1, nx), r = l + 1;
    float hl, ul, vl, hr, ur, vr;
    velocity(s, l, hl, ul, vl);
    velocity(s, r, hr, ur, vr);
    int o = j * (nx + 1) + i;
    rusanov(hl, ul, vl, s.b[l], hr, ur, vr, s.b[r], f.m[o], f.nL[o], f.nR[o], f.t[o]);
}

__global__ void flux_y(State s, Flux f, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j > ny) return;
    int l = cidx(i + 1, j, nx), r = l + nx + 2;
    float hl, ul, vl, hr, ur, vr;
    velocity(s, l, hl, ul, vl);
    velocity(s, r, hr, ur, vr);
    int o = j * nx + i;
    rusanov(hl, vl, ul, s.b[l], hr, vr, ur, s.b[r], f.m[o], f.nL[o], f.nR[o], f.t[o]);
}

__global__ void update(State s, Flux fx, Flux fy, int nx, int ny, float dtdx, float dtdy, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    int k = cidx(i + 1, j + 1, nx);
    int xl = j * (nx + 1) + i, xr = xl + 1;
    int yl = j * nx + i, yr = yl + nx;
    float h  = s.h[k]  - dtdx * (fx.m[xr]  - fx.m[xl])  - dtdy * (fy.m[yr]  - fy.m[yl]);
    float hu = s.hu[k] - dtdx * (fx.nL[xr] - fx.nR[xl]) - dtdy * (fy.t[yr]  - fy.t[yl]);
    float hv = s.hv[k] - dtdx * (fx.t[xr]  - fx.t[xl])  - dtdy * (fy.nL[yr] - fy.nR[yl]);
    if (h < HDRY) { h = fmaxf(h, 0.0f); hu = 0.0f; hv = 0.0f; }
    else {
        // implicit quadratic bottom friction
        float u = hu / h, v = hv / h;
        float fr = 1.0f + dt * 0.0025f * sqrtf(u * u + v * v) / h;
        hu /= fr; hv /= fr;
    }
    s.h[k] = h; s.hu[k] = hu; s.hv[k] = hv;
}

// max wave speed, bits of a non-negative float compare like ints
__global__ void max_speed(State s, int nx, int ny, int *result)
{
    __shared__ float sm[256];
    float m = 0.0f;
    int n = nx * ny;
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < n; t += gridDim.x * blockDim.x) {
        int j = t / nx, i = t - j * nx;
        int k = cidx(i + 1, j + 1, nx);
        float h, u, v;
        velocity(s, k, h, u, v);
        float c = sqrtf(G * h);
        m = fmaxf(m, fmaxf(fabsf(u), fabsf(v)) + c);
    }
    sm[threadIdx.x] = m;
    __syncthreads();
    for (int o = blockDim.x / 2; o > 0; o >>= 1) {
        if (threadIdx.x < o) sm[threadIdx.x] = fmaxf(sm[threadIdx.x], sm[threadIdx.x + o]);
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicMax(result, __float_as_int(sm[0]));
}

// highest free surface each row has seen: one thread per row, for the report
__global__ void row_peak(State s, float *peak, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= ny) return;
    float p = peak[j];
    for (int i = 1; i <= nx; i++) {
        int k = cidx(i, j + 1, nx);
        if (s.h[k] > HDRY) p = fmaxf(p, s.h[k] + s.b[k]);
    }
    peak[j] = p;
}

static uint64_t fnv(const void *p, size_t n, uint64_t h = 1469598103934665603ull)
{
    const unsigned char *c = (const unsigned char *)p;
    for (size_t i = 0; i < n; i++) { h ^= c[i]; h *= 1099511628211ull; }
    return h;
}

static float *managed(size_t n)
{
    float *p;
    CHECK(cudaMallocManaged(&p, n * sizeof(float)));
    return p;
}

int main()
{
    const int nx = NX, ny = NY;
    const size_t nc = (size_t)(nx + 2) * (ny + 2);
    const float dx = 2.0f, dy = 2.5f;
    State s;
    s.h = managed(nc); s.hu = managed(nc); s.hv = managed(nc); s.b = managed(nc);
    Flux fx, fy;
    size_t nfx = (size_t)(nx + 1) * ny, nfy = (size_t)nx * (ny + 1);
    fx.m = managed(nfx); fx.nL = managed(nfx); fx.nR = managed(nfx); fx.t = managed(nfx);
    fy.m = managed(nfy); fy.nL = managed(nfy); fy.nR = managed(nfy); fy.t = managed(nfy);
    float *peak = managed(ny);
    int *speed;
    CHECK(cudaMallocManaged(&speed, sizeof(int)));

    // dam in the west, three islands, sloping beach in the east
    for (int j = 0; j < ny + 2; j++)
        for (int i = 0; i < nx + 2; i++) {
            int k = cidx(i, j, nx);
            float bed = 0.0f;
            const int cxs[3] = {500, 900, 760}, cys[3] = {300, 610, 980};
            for (int q = 0; q < 3; q++) {
                float rx = (i - cxs[q]) / 120.0f, ry = (j - cys[q]) / 90.0f;
                float r2 = rx * rx + ry * ry;
                if (r2 < 1.0f) bed += 4.0f * (1.0f - r2) * (1.0f - r2);
            }
            if (i > 1200) bed += (i - 1200) * 0.01f;
            s.b[k] = bed;
            float surf = i < 430 ? 5.0f : 2.0f;
            if (i < 430 && ((i / 37 + j / 53) & 1)) surf += 0.25f;
            s.h[k] = fmaxf(0.0f, surf - bed);
            s.hu[k] = 0.0f;
            s.hv[k] = 0.0f;
        }
    for (int j = 0; j < ny; j++) peak[j] = 0.0f;

    dim3 bx(32, 8), by(64, 4), bu(16, 16);
    dim3 gx((nx + 1 + bx.x - 1) / bx.x, (ny + bx.y - 1) / bx.y);
    dim3 gy((nx + by.x - 1) / by.x, (ny + 1 + by.y - 1) / by.y);
    dim3 gu((nx + bu.x - 1) / bu.x, (ny + bu.y - 1) / bu.y);

    double time = 0.0;
    for (int step = 0; step < STEPS; step++) {
        *speed = 0;
        max_speed<<<264, 256>>>(s, nx, ny, speed);
        ghost_lr<<<(ny + 2 + 127) / 128, 128>>>(s, nx, ny);
        ghost_tb<<<(nx + 2 + 127) / 128, 128>>>(s, nx, ny);
        flux_x<<<gx, bx>>>(s, fx, nx, ny);
        flux_y<<<gy, by>>>(s, fy, nx, ny);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        float smax;
        { union { int i; float f; } c; c.i = *speed; smax = c.f; }
        float dt = 0.4f * fminf(dx, dy) / smax;
        update<<<gu, bu>>>(s, fx, fy, nx, ny, dt / dx, dt / dy, dt);
        if (step % 3 == 2) row_peak<<<(ny + 63) / 64, 64>>>(s, peak, nx, ny);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        time += dt;
        if (step % 2 == 1) {
            // gauges: host reads right out of managed memory
            float g1 = s.h[cidx(440, 600, nx)], g2 = s.h[cidx(425, 90, nx)];
            printf("step %d gauges %08llx\n", step, (unsigned long long)(fnv(&g2, 4, fnv(&g1, 4)) & 0xffffffffu));
        }
        if (step == 3) {
            // wave maker: the host perturbs a short strip
            for (int j = 400; j < 480; j++) s.hu[cidx(300, j, nx)] += 1.5f;
        }
    }
    uint64_t hh = 1469598103934665603ull;
    double mass = 0.0;
    bool good = true;
    for (int j = 1; j <= ny; j++) {
        hh = fnv(&s.h[cidx(1, j, nx)], nx * sizeof(float), hh);
        hh = fnv(&s.hu[cidx(1, j, nx)], nx * sizeof(float), hh);
        hh = fnv(&s.hv[cidx(1, j, nx)], nx * sizeof(float), hh);
        for (int i = 1; i <= nx; i++) {
            float h = s.h[cidx(i, j, nx)];
            if (!(h >= 0.0f) || h > 50.0f) good = false;
            mass += h;
        }
    }
    printf("state hash %016llx\n", (unsigned long long)hh);
    printf("peak hash %016llx\n", (unsigned long long)fnv(peak, ny * sizeof(float)));
    printf("mean depth %.3f t=%.3f %s\n", mass / ((double)nx * ny), time, good ? "ok" : "mismatch");
    float *all[] = {s.h, s.hu, s.hv, s.b, fx.m, fx.nL, fx.nR, fx.t, fy.m, fy.nL, fy.nR, fy.t, peak};
    for (float *p : all) CHECK(cudaFree(p));
    CHECK(cudaFree(speed));
    return 0;
}
