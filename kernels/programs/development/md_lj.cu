/*
 * mini MD: Lennard-Jones fluid, cell binning -> Verlet list -> force -> velocity Verlet.
 * Reduced units, single precision, periodic cube.
 */
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <math.h>
#include <cuda_runtime.h>

#define CELLCAP 64
#define MAXNBR  128

#define GPU(call) gpu_check((call), #call, __LINE__)
static void gpu_check(cudaError_t e, const char *what, int line)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "line %d: %s -> %s\n", line, what, cudaGetErrorString(e));
        exit(2);
    }
}

struct Params {
    int   n;
    int   nc;          /* cells per side */
    float box, ibox;
    float rc2, rl2;    /* force cutoff^2, list cutoff^2 */
    float icell;
    float dt;
};
__constant__ Params P;

__device__ __forceinline__ float minimg(float d) { return d - P.box * rintf(d * P.ibox); }

__global__ void wrap_and_bin(float4 *pos, float4 *ref, int *cellcount, int *cells, int *overflow)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= P.n) return;
    float4 p = pos[i];
    p.x -= P.box * floorf(p.x * P.ibox);
    p.y -= P.box * floorf(p.y * P.ibox);
    p.z -= P.box * floorf(p.z * P.ibox);
    pos[i] = p;
    ref[i] = p;
    int cx = min(max((int)(p.x * P.icell), 0), P.nc - 1);
    int cy = min(max((int)(p.y * P.icell), 0), P.nc - 1);
    int cz = min(max((int)(p.z * P.icell), 0), P.nc - 1);
    int c = (cz * P.nc + cy) * P.nc + cx;
    int slot = atomicAdd(&cellcount[c], 1);
    if (slot < CELLCAP) cells[c * CELLCAP + slot] = i;
    else atomicExch(overflow, 1);
}

/* slots come in any order; sort them so that runs are reproducible */
__global__ void sort_cells(const int *cellcount, int *cells)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= P.nc * P.nc * P.nc) return;
    int m = min(cellcount[c], CELLCAP);
    int *a = cells + c * CELLCAP;
    for (int i = 1; i < m; i++) {
        int v = a[i], j = i - 1;
        while (j >= 0 && a[j] > v) { a[j + 1] = a[j]; j--; }
        a[j + 1] = v;
    }
}

__global__ void build_list(const float4 *__restrict__ pos, const int *__restrict__ cellcount,
                           const int *__restrict__ cells, int *__restrict__ nnbr, int *__restrict__ nbr, int *overflow)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= P.n) return;
    float4 p = pos[i];
    int cx = min((int)(p.x * P.icell), P.nc - 1);
    int cy = min((int)(p.y * P.icell), P.nc - 1);
    int cz = min((int)(p.z * P.icell), P.nc - 1);
    int cnt = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int x = (cx + dx + P.nc) % P.nc, y = (cy + dy + P.nc) % P.nc, z = (cz + dz + P.nc) % P.nc;
                int c = (z * P.nc + y) * P.nc + x;
                int m = cellcount[c];
                for (int s = 0; s < m; s++) {
                    int j = cells[c * CELLCAP + s];
                    if (j == i) continue;
                    float4 q = pos[j];
                    float rx = minimg(p.x - q.x), ry = minimg(p.y - q.y), rz = minimg(p.z - q.z);
                    if (rx * rx + ry * ry + rz * rz < P.rl2) {
                        if (cnt < MAXNBR) nbr[(size_t)cnt * P.n + i] = j;   /* transposed: coalesced later */
                        cnt++;
                    }
                }
            }
    if (cnt > MAXNBR) { *overflow = 2; cnt = MAXNBR; }
    nnbr[i] = cnt;
}

__global__ void force(const float4 *__restrict__ pos, const int *__restrict__ nnbr, const int *__restrict__ nbr,
                      float4 *__restrict__ frc)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= P.n) return;
    float4 p = pos[i];
    float fx = 0.f, fy = 0.f, fz = 0.f, pe = 0.f;
    int m = nnbr[i];
    for (int k = 0; k < m; k++) {
        int j = nbr[(size_t)k * P.n + i];
        float4 q = pos[j];
        float dx = minimg(p.x - q.x), dy = minimg(p.y - q.y), dz = minimg(p.z - q.z);
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < P.rc2) {
            float i2 = 1.0f / r2;
            float i6 = i2 * i2 * i2;
            float ff = 48.0f * i6 * (i6 - 0.5f) * i2;
            fx += ff * dx; fy += ff * dy; fz += ff * dz;
            pe += 4.0f * i6 * (i6 - 1.0f);
        }
    }
    frc[i] = make_float4(fx, fy, fz, 0.5f * pe);
}

__global__ void kick_drift(float4 *pos, float4 *vel, const float4 *frc)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= P.n) return;
    float h = 0.5f * P.dt;
    float4 v = vel[i], f = frc[i], p = pos[i];
    v.x += h * f.x; v.y += h * f.y; v.z += h * f.z;
    p.x += P.dt * v.x; p.y += P.dt * v.y; p.z += P.dt * v.z;
    vel[i] = v; pos[i] = p;
}

__global__ void kick(float4 *vel, const float4 *frc)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= P.n) return;
    float h = 0.5f * P.dt;
    float4 v = vel[i], f = frc[i];
    v.x += h * f.x; v.y += h * f.y; v.z += h * f.z;
    vel[i] = v;
}

/* energies in fixed point so that the order of the atomics does not matter */
__global__ void energies(const float4 *vel, const float4 *frc, unsigned long long *out)
{
    long long ke = 0, pe = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < P.n; i += blockDim.x * gridDim.x) {
        float4 v = vel[i];
        ke += (long long)(0.5f * (v.x * v.x + v.y * v.y + v.z * v.z) * 1048576.0f);
        pe += (long long)(frc[i].w * 1048576.0f);
    }
    for (int o = 16; o; o >>= 1) {
        ke += __shfl_down_sync(~0u, ke, o);
        pe += __shfl_down_sync(~0u, pe, o);
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(out, (unsigned long long)ke);
        atomicAdd(out + 1, (unsigned long long)pe);
    }
}

__global__ void max_displacement(const float4 *pos, const float4 *ref, int *maxbits)
{
    __shared__ int smax;
    if (threadIdx.x == 0) smax = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < P.n) {
        float dx = pos[i].x - ref[i].x, dy = pos[i].y - ref[i].y, dz = pos[i].z - ref[i].z;
        atomicMax(&smax, __float_as_int(dx * dx + dy * dy + dz * dz));
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(maxbits, smax);
}

static uint64_t fnv(const void *d, size_t n)
{
    const uint8_t *p = (const uint8_t *)d;
    uint64_t h = 0xcbf29ce484222325ull;
    while (n--) { h ^= *p++; h *= 0x100000001b3ull; }
    return h;
}

int main(void)
{
    const int K = 26, n = 4 * K * K * K;
    const float a = 1.6796f;
    Params hp;
    hp.n = n;
    hp.box = K * a; hp.ibox = 1.0f / hp.box;
    hp.rc2 = 2.5f * 2.5f; hp.rl2 = 2.8f * 2.8f;
    hp.nc = (int)(hp.box / 2.8f);
    hp.icell = hp.nc / hp.box;
    hp.dt = 0.004f;
    GPU(cudaMemcpyToSymbol(P, &hp, sizeof hp));

    float4 *hpos = (float4 *)malloc(n * sizeof(float4));
    float4 *hvel = (float4 *)malloc(n * sizeof(float4));
    const float ox[4] = {0, .5f, .5f, 0}, oy[4] = {0, .5f, 0, .5f}, oz[4] = {0, 0, .5f, .5f};
    int t = 0;
    uint32_t s = 2463534242u;
    double px = 0, py = 0, pz = 0;
    for (int z = 0; z < K; z++) for (int y = 0; y < K; y++) for (int x = 0; x < K; x++)
        for (int q = 0; q < 4; q++, t++) {
            hpos[t] = make_float4((x + ox[q] + .25f) * a, (y + oy[q] + .25f) * a, (z + oz[q] + .25f) * a, 0);
            float v[3];
            for (int c = 0; c < 3; c++) {       /* sum of uniforms, close to a gaussian */
                float u = 0;
                for (int k = 0; k < 4; k++) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; u += (s >> 8) / 16777216.0f - 0.5f; }
                v[c] = u * 2.078f;
            }
            hvel[t] = make_float4(v[0], v[1], v[2], 0);
            px += v[0]; py += v[1]; pz += v[2];
        }
    for (int i = 0; i < n; i++) { hvel[i].x -= (float)(px / n); hvel[i].y -= (float)(py / n); hvel[i].z -= (float)(pz / n); }

    const int ncell = hp.nc * hp.nc * hp.nc;
    float4 *pos, *vel, *frc, *ref;
    int *cellcount, *cells, *nnbr, *nbr, *flags;
    unsigned long long *en;
    GPU(cudaMalloc(&pos, n * sizeof(float4)));
    GPU(cudaMalloc(&vel, n * sizeof(float4)));
    GPU(cudaMalloc(&frc, n * sizeof(float4)));
    GPU(cudaMalloc(&ref, n * sizeof(float4)));
    GPU(cudaMalloc(&cellcount, ncell * sizeof(int)));
    GPU(cudaMalloc(&cells, (size_t)ncell * CELLCAP * sizeof(int)));
    GPU(cudaMalloc(&nnbr, n * sizeof(int)));
    GPU(cudaMalloc(&nbr, (size_t)n * MAXNBR * sizeof(int)));
    GPU(cudaMalloc(&flags, 2 * sizeof(int)));
    GPU(cudaMalloc(&en, 2 * sizeof(unsigned long long)));
    GPU(cudaMemcpy(pos, hpos, n * sizeof(float4), cudaMemcpyHostToDevice));
    GPU(cudaMemcpy(vel, hvel, n * sizeof(float4), cudaMemcpyHostToDevice));
    GPU(cudaMemset(frc, 0, n * sizeof(float4)));
    GPU(cudaMemset(flags, 0, 2 * sizeof(int)));

    const int B = 128, NB = (n + B - 1) / B;
    for (int step = 0; step < 10; step++) {
        if (step % 5 == 0) {
            GPU(cudaMemset(cellcount, 0, ncell * sizeof(int)));
            wrap_and_bin<<<(n + 255) / 256, 256>>>(pos, ref, cellcount, cells, flags);
            sort_cells<<<(ncell + 63) / 64, 64>>>(cellcount, cells);
            build_list<<<NB, B>>>(pos, cellcount, cells, nnbr, nbr, flags);
            GPU(cudaGetLastError());
            if (step == 0) {
                /* brute-force check of a handful of particles */
                int bad = 0;
                int *hn = (int *)malloc(n * sizeof(int));
                GPU(cudaMemcpy(hn, nnbr, n * sizeof(int), cudaMemcpyDeviceToHost));
                long long pairs = 0;
                for (int i = 0; i < n; i++) pairs += hn[i];
                for (int i = 11; i < n; i += n / 9) {
                    int c = 0;
                    for (int j = 0; j < n; j++) {
                        if (j == i) continue;
                        float dx = hpos[i].x - hpos[j].x, dy = hpos[i].y - hpos[j].y, dz = hpos[i].z - hpos[j].z;
                        dx -= hp.box * rintf(dx * hp.ibox); dy -= hp.box * rintf(dy * hp.ibox); dz -= hp.box * rintf(dz * hp.ibox);
                        c += dx * dx + dy * dy + dz * dz < hp.rl2;
                    }
                    if (c != hn[i]) bad++;
                }
                printf("pairs %lld, list %s\n", pairs, bad ? "mismatch" : "ok");
                free(hn);
                force<<<NB, B>>>(pos, nnbr, nbr, frc);
            }
        }
        kick_drift<<<(n + 511) / 512, 512>>>(pos, vel, frc);
        force<<<NB, B>>>(pos, nnbr, nbr, frc);
        kick<<<(n + 511) / 512, 512>>>(vel, frc);
        GPU(cudaGetLastError());
        if (step % 5 == 4) {
            int hf[2];
            unsigned long long he[2];
            GPU(cudaMemset(flags + 1, 0, sizeof(int)));
            GPU(cudaMemset(en, 0, 2 * sizeof(unsigned long long)));
            max_displacement<<<(n + 95) / 96, 96>>>(pos, ref, flags + 1);
            energies<<<96, 192>>>(vel, frc, en);
            GPU(cudaGetLastError());
            GPU(cudaMemcpy(hf, flags, sizeof hf, cudaMemcpyDeviceToHost));
            GPU(cudaMemcpy(he, en, sizeof he, cudaMemcpyDeviceToHost));
            union { int i; float f; } c; c.i = hf[1];
            printf("step %d ke %lld pe %lld overflow %d skin %s\n", step, (long long)he[0], (long long)he[1], hf[0],
                   sqrtf(c.f) < 0.15f ? "ok" : "exceeded");
        }
    }
    GPU(cudaMemcpy(hpos, pos, n * sizeof(float4), cudaMemcpyDeviceToHost));
    GPU(cudaMemcpy(hvel, vel, n * sizeof(float4), cudaMemcpyDeviceToHost));
    printf("pos %016llx\n", (unsigned long long)fnv(hpos, n * sizeof(float4)));
    printf("vel %016llx\n", (unsigned long long)fnv(hvel, n * sizeof(float4)));
    void *fr[] = {pos, vel, frc, ref, cellcount, cells, nnbr, nbr, flags, en};
    for (void *p : fr) GPU(cudaFree(p));
    free(hpos); free(hvel);
    return 0;
}
