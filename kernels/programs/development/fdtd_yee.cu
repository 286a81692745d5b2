// fdtd_yee.cu -- 3-D Yee scheme in normalised units, first-order Mur walls on
// all six sides, a dielectric sphere and a lossy slab, soft dipole source.
//
// Field arrays all have the padded size nx*ny*nz with x fastest.

#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cstring>
#include <cstdint>
#include <cuda_runtime.h>

static void die_if(cudaError_t err, int line)
{
    if (err != cudaSuccess) {
        fprintf(stderr, "CUDA failure at line %d: %s\n", line, cudaGetErrorString(err));
        exit(2);
    }
}
#define GPU(x) die_if((x), __LINE__)

enum { NX = 158, NY = 130, NZ = 84, STEPS = 5, NMAT = 4, MAXSTEPS = 64 };
enum { BX = 32, BY = 4, ZCHUNK = 12 };

#define IDX(i, j, k) (((size_t)(k) * NY + (j)) * NX + (i))

struct Fields {
    float *ex, *ey, *ez, *hx, *hy, *hz;
    unsigned char *mat;
};

// per material: E decay, E curl factor ; Mur factor ; H curl factor
__constant__ float2 c_mat[NMAT];
__constant__ float  c_pulse[MAXSTEPS];
__constant__ float  c_h, c_mur;

__device__ unsigned hash3(unsigned i, unsigned j, unsigned k)
{
    unsigned h = i * 73856093u ^ j * 19349663u ^ k * 83492791u;
    h ^= h >> 13; h *= 0x5bd1e995u; h ^= h >> 15;
    return h;
}

// Materials and a weak deterministic noise as initial E field
__global__ void setup(Fields f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z;
    if (i >= NX || j >= NY) return;
    size_t c = IDX(i, j, k);
    int dx = i - NX / 3, dy = j - NY / 2, dz = k - NZ / 2;
    unsigned char m = 0;
    if (dx * dx + dy * dy + dz * dz < 19 * 19) m = 1;
    if (i > NX - 40 && i < NX - 25)            m = 2;
    if (k == 20 && j > 30 && j < 60 && i > 90) m = 3;       // metal plate
    f.mat[c] = m;
    bool inner = i > 1 && i < NX - 2 && j > 1 && j < NY - 2 && k > 1 && k < NZ - 2;
    unsigned h = hash3(i, j, k);
    float s = inner && m != 3 ? 1.0f / 65536.0f : 0.0f;
    f.ex[c] = ((int)(h & 255u) - 128) * s;
    f.ey[c] = ((int)(h >> 8 & 255u) - 128) * s;
    f.ez[c] = ((int)(h >> 16 & 255u) - 128) * s;
    f.hx[c] = f.hy[c] = f.hz[c] = 0.0f;
}

// H update; a thread marches ZCHUNK cells along z and keeps the E values of the
// plane in registers.
__global__ void __launch_bounds__(BX * BY) update_h(Fields f)
{
    const int i = blockIdx.x * BX + threadIdx.x;
    const int j = blockIdx.y * BY + threadIdx.y;
    const int k0 = blockIdx.z * ZCHUNK;
    if (i >= NX - 1 || j >= NY - 1) return;
    const float ch = c_h;
    const int k1 = min(k0 + (int)ZCHUNK, (int)NZ - 1);
    size_t c = IDX(i, j, k0);
    float ex = f.ex[c], ey = f.ey[c];
    for (int k = k0; k < k1; ++k, c += (size_t)NX * NY) {
        const size_t up = c + (size_t)NX * NY;
        const float ex_up = f.ex[up], ey_up = f.ey[up];
        const float ez = f.ez[c], ez_x = f.ez[c + 1], ez_y = f.ez[c + NX];
        f.hx[c] += ch * ((ey_up - ey) - (ez_y - ez));
        f.hy[c] += ch * ((ez_x - ez) - (ex_up - ex));
        f.hz[c] += ch * ((f.ex[c + NX] - ex) - (f.ey[c + 1] - ey));
        ex = ex_up;
        ey = ey_up;
    }
}

// E update, one cell per thread, x-y tile of H staged in shared memory
__global__ void update_e(Fields f)
{
    __shared__ float sx[BY + 1][BX + 1], sy[BY + 1][BX + 1], sz[BY + 1][BX + 1];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int i = blockIdx.x * BX + threadIdx.x;
    const int j = blockIdx.y * BY + threadIdx.y;
    const int k = blockIdx.z + 1;
    const bool in = i < NX && j < NY;
    const size_t c = IDX(i, j, k);
    if (in) {
        sx[ty][tx] = f.hx[c];
        sy[ty][tx] = f.hy[c];
        sz[ty][tx] = f.hz[c];
        if (threadIdx.x == 0 && i > 0) {
            sy[ty][0] = f.hy[c - 1];
            sz[ty][0] = f.hz[c - 1];
        }
        if (threadIdx.y == 0 && j > 0) {
            sx[0][tx] = f.hx[c - NX];
            sz[0][tx] = f.hz[c - NX];
        }
    }
    __syncthreads();
    if (!in) return;
    const float2 m = c_mat[f.mat[c]];
    const size_t dn = c - (size_t)NX * NY;
    const float hx = sx[ty][tx], hy = sy[ty][tx], hz = sz[ty][tx];
    const bool ii = i > 0 && i < NX - 1, jj = j > 0 && j < NY - 1, kk = k < NZ - 1;
    if (i < NX - 1 && jj && kk)
        f.ex[c] = m.x * f.ex[c] + m.y * ((hz - sz[ty - 1][tx]) - (hy - f.hy[dn]));
    if (j < NY - 1 && ii && kk)
        f.ey[c] = m.x * f.ey[c] + m.y * ((hx - f.hx[dn]) - (hz - sz[ty][tx - 1]));
    if (ii && jj)
        f.ez[c] = m.x * f.ez[c] + m.y * ((hy - sy[ty][tx - 1]) - (hx - sx[ty - 1][tx]));
}

// E update of the lowest z layer only concerns ez
__global__ void update_ez_bottom(Fields f, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < NX - 1 && j > 0 && j < NY - 1) {
        size_t c = IDX(i, j, 0);
        float2 m = c_mat[f.mat[c]];
        f.ez[c] = m.x * f.ez[c] + m.y * ((f.hy[c] - f.hy[c - 1]) - (f.hx[c] - f.hx[c - NX]));
    }
    // soft source: short vertical dipole
    if (i == NX / 2 && j == NY / 2)
        for (int k = NZ / 2 - 3; k <= NZ / 2 + 3; ++k)
            f.ez[IDX(i, j, k)] += c_pulse[step];
}

// One pair of opposite walls.  a and b are the tangential components; old holds
// for both walls and both components the previous values of the wall plane and
// of the plane next to it.
__global__ void mur_pair(float *a, float *b, float *old, int nu, int nv,
                         int su, int sv, int sn, int nn)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int area = nu * nv;
    if (t >= area) return;
    const int v = t / nu, u = t - v * nu;
    const float g = c_mur;
    for (int side = 0; side < 2; ++side) {
        const int wall = u * su + v * sv + (side ? (nn - 1) * sn : 0);
        const int next = side ? wall - sn : wall + sn;
        for (int comp = 0; comp < 2; ++comp) {
            float *e = comp ? b : a;
            float *o = old + (size_t)(side * 2 + comp) * 2 * area + t;
            const float now = e[next];
            const float w = o[area] + g * (now - o[0]);
            e[wall] = w;
            o[0] = w;
            o[area] = now;
        }
    }
}

// Field energy in fixed point, one partial integer per block
__global__ void energy(Fields f, unsigned long long *sum, size_t n)
{
    __shared__ unsigned long long part[8];
    unsigned long long acc = 0;
    for (size_t c = blockIdx.x * (size_t)blockDim.x + threadIdx.x; c < n; c += (size_t)gridDim.x * blockDim.x) {
        float e = f.ex[c] * f.ex[c] + f.ey[c] * f.ey[c] + f.ez[c] * f.ez[c];
        float h = f.hx[c] * f.hx[c] + f.hy[c] * f.hy[c] + f.hz[c] * f.hz[c];
        acc += (unsigned long long)((e + h) * 1073741824.0f);
    }
    for (int d = 16; d > 0; d /= 2) acc += __shfl_down_sync(~0u, acc, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = acc;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < (int)blockDim.x / 32; ++w) acc += part[w];
        atomicAdd(sum, acc);
    }
}

int main()
{
    const size_t n = (size_t)NX * NY * NZ;
    Fields f;
    float *base;
    GPU(cudaMalloc(&base, 6 * n * sizeof(float)));
    GPU(cudaMalloc(&f.mat, n));
    f.ex = base;         f.ey = base + n;     f.ez = base + 2 * n;
    f.hx = base + 3 * n; f.hy = base + 4 * n; f.hz = base + 5 * n;

    const float courant = 0.5f;
    float2 mats[NMAT] = { {1.0f, 0.5f}, {1.0f, 0.125f}, {0.96f, 0.22f}, {0.0f, 0.0f} };
    float pulse[MAXSTEPS];
    for (int s = 0; s < MAXSTEPS; ++s) {
        double t = (s - 4.0) / 3.0;
        pulse[s] = (float)(exp(-t * t) * 0.75);
    }
    float mur = (courant - 1.0f) / (courant + 1.0f);
    GPU(cudaMemcpyToSymbol(c_mat, mats, sizeof mats));
    GPU(cudaMemcpyToSymbol(c_pulse, pulse, sizeof pulse));
    GPU(cudaMemcpyToSymbol(c_h, &courant, sizeof courant));
    GPU(cudaMemcpyToSymbol(c_mur, &mur, sizeof mur));

    float *oldx, *oldy, *oldz;
    GPU(cudaMalloc(&oldx, 8 * sizeof(float) * NY * NZ));
    GPU(cudaMalloc(&oldy, 8 * sizeof(float) * NX * NZ));
    GPU(cudaMalloc(&oldz, 8 * sizeof(float) * NX * NY));
    GPU(cudaMemset(oldx, 0, 8 * sizeof(float) * NY * NZ));
    GPU(cudaMemset(oldy, 0, 8 * sizeof(float) * NX * NZ));
    GPU(cudaMemset(oldz, 0, 8 * sizeof(float) * NX * NY));
    unsigned long long *sum, hsum[2];
    GPU(cudaMalloc(&sum, 2 * sizeof *sum));
    GPU(cudaMemset(sum, 0, 2 * sizeof *sum));

    dim3 blk(BX, BY);
    dim3 gcell((NX + BX - 1) / BX, (NY + BY - 1) / BY, NZ);
    dim3 gh(gcell.x, gcell.y, (NZ - 1 + ZCHUNK - 1) / ZCHUNK);
    dim3 ge(gcell.x, gcell.y, NZ - 1);
    dim3 gb(gcell.x, gcell.y);

    setup<<<gcell, blk>>>(f);
    GPU(cudaGetLastError());
    for (int s = 0; s < STEPS; ++s) {
        update_h<<<gh, blk>>>(f);
        GPU(cudaGetLastError());
        update_e<<<ge, blk>>>(f);
        GPU(cudaGetLastError());
        update_ez_bottom<<<gb, blk>>>(f, s);
        GPU(cudaGetLastError());
        mur_pair<<<(NY * NZ + 127) / 128, 128>>>(f.ey, f.ez, oldx, NY, NZ, NX, NX * NY, 1, NX);
        GPU(cudaGetLastError());
        mur_pair<<<(NX * NZ + 127) / 128, 128>>>(f.ex, f.ez, oldy, NX, NZ, 1, NX * NY, NX, NY);
        GPU(cudaGetLastError());
        mur_pair<<<(NX * NY + 127) / 128, 128>>>(f.ex, f.ey, oldz, NX, NY, 1, NX, NX * NY, NZ);
        GPU(cudaGetLastError());
    }
    energy<<<264, 256>>>(f, sum, n);
    GPU(cudaGetLastError());
    GPU(cudaMemcpy(hsum, sum, sizeof hsum, cudaMemcpyDeviceToHost));

    float *host = (float *)malloc(6 * n * sizeof(float));
    if (!host) return 3;
    GPU(cudaMemcpy(host, base, 6 * n * sizeof(float), cudaMemcpyDeviceToHost));
    const char *names[6] = {"ex", "ey", "ez", "hx", "hy", "hz"};
    for (int a = 0; a < 6; ++a) {
        uint64_t h = 0xcbf29ce484222325ull;
        int bad = 0;
        for (size_t c = 0; c < n; ++c) {
            float v = host[a * n + c];
            if (!(fabsf(v) < 100.0f)) ++bad;
            if (v == 0.0f) v = 0.0f;
            uint32_t bits;
            memcpy(&bits, &v, 4);
            if (bits == 0x80000000u) bits = 0;
            h = (h ^ bits) * 0x100000001b3ull;
        }
        printf("%s %016llx bad=%d centre=%.6f\n", names[a], (unsigned long long)h, bad,
               host[a * n + IDX(NX / 2 + 2, NY / 2, NZ / 2)]);
    }
    printf("energy %llu\n", hsum[0]);
    free(host);
    GPU(cudaFree(base)); GPU(cudaFree(f.mat)); GPU(cudaFree(oldx));
    GPU(cudaFree(oldy)); GPU(cudaFree(oldz)); GPU(cudaFree(sum));
    return 0;
}
