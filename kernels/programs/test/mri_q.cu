// MRI reconstruction Q matrix: for every voxel the sum over k-space samples of magnitude times cos and sin of 2 pi k.x; precise, fast and tabulated.
// Hard for a GPU: bound by the special function unit (fast) or by range reduction (precise), almost no memory traffic.
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <math.h>

#define K_CHUNK 384
#define TABLE 1024

struct kValues {
    float kx, ky, kz, phi_mag;
};

__constant__ struct kValues ck[K_CHUNK];

#define GPU(x)                                                                              \
    {                                                                                       \
        cudaError_t rc = x;                                                                 \
        if (rc != cudaSuccess) {                                                            \
            fprintf(stderr, "error %d (%s) at %d\n", (int)rc, cudaGetErrorString(rc), __LINE__); \
            exit(1);                                                                        \
        }                                                                                   \
    }

__global__ void compute_phi_mag(const float *phi_r, const float *phi_i, float *mag, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        mag[i] = phi_r[i] * phi_r[i] + phi_i[i] * phi_i[i];
}

// one voxel per thread, samples in constant memory, fast sines
__global__ void q_fast(const float *x, const float *y, const float *z, float *qr, float *qi, int voxels)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= voxels)
        return;
    float sx = x[v], sy = y[v], sz = z[v];
    float re = qr[v], im = qi[v];
#pragma unroll 4
    for (int k = 0; k < K_CHUNK; k++) {
        float arg = 6.2831853071795864f * (ck[k].kx * sx + ck[k].ky * sy + ck[k].kz * sz);
        re += ck[k].phi_mag * __cosf(arg);
        im += ck[k].phi_mag * __sinf(arg);
    }
    qr[v] = re;
    qi[v] = im;
}

// two voxels per thread, precise functions
__global__ void q_precise(const float *x, const float *y, const float *z, float *qr, float *qi, int voxels)
{
    int v0 = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    float sx[2], sy[2], sz[2], re[2] = {0, 0}, im[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        int v = min(v0 + i * (int)blockDim.x, voxels - 1);
        sx[i] = x[v];
        sy[i] = y[v];
        sz[i] = z[v];
    }
    for (int k = 0; k < K_CHUNK; k++) {
        struct kValues s = ck[k];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float sn, cs;
            sincosf(6.2831853071795864f * (s.kx * sx[i] + s.ky * sy[i] + s.kz * sz[i]), &sn, &cs);
            re[i] = fmaf(s.phi_mag, cs, re[i]);
            im[i] = fmaf(s.phi_mag, sn, im[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        int v = v0 + i * blockDim.x;
        if (v < voxels) {
            qr[v] = re[i];
            qi[v] = im[i];
        }
    }
}

// a table of one turn in shared memory, linear interpolation; bank conflicts follow the data
__global__ void q_table(const float *x, const float *y, const float *z, float *qr, float *qi, int voxels)
{
    __shared__ float2 table[TABLE + 1];
    for (int i = threadIdx.x; i <= TABLE; i += blockDim.x) {
        float s, c;
        sincospif(2.0f * i / TABLE, &s, &c);
        table[i] = make_float2(c, s);
    }
    __syncthreads();
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= voxels)
        return;
    float sx = x[v], sy = y[v], sz = z[v];
    float re = 0, im = 0;
    for (int k = 0; k < K_CHUNK; k++) {
        float turn = ck[k].kx * sx + ck[k].ky * sy + ck[k].kz * sz;
        turn -= floorf(turn);
        float at = turn * TABLE;
        int cell = min((int)at, TABLE - 1);
        float part = at - cell;
        float2 a = table[cell], b = table[cell + 1];
        re += ck[k].phi_mag * (a.x + part * (b.x - a.x));
        im += ck[k].phi_mag * (a.y + part * (b.y - a.y));
    }
    qr[v] = re;
    qi[v] = im;
}

static uint32_t state = 1;
static float rnd(void)
{
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 8388608.0f - 1.0f;
}

static uint64_t hash_floats(const float *dev, int n)
{
    float *tmp = (float *)malloc(n * sizeof(float));
    GPU(cudaMemcpy(tmp, dev, n * sizeof(float), cudaMemcpyDeviceToHost));
    uint64_t h = 0xcbf29ce484222325ull;
    for (int i = 0; i < n; i++) {
        uint32_t w;
        memcpy(&w, tmp + i, 4);
        h = (h ^ w) * 0x100000001b3ull;
    }
    free(tmp);
    return h;
}

int main(void)
{
    const int samples = 3 * K_CHUNK, voxels = 262144, precise_voxels = 100001;
    float *h = (float *)malloc(voxels * sizeof(float));
    float *d[3], *qr, *qi, *phi_r, *phi_i, *mag;
    for (int k = 0; k < 3; k++) {
        GPU(cudaMalloc(&d[k], voxels * sizeof(float)));
        for (int i = 0; i < voxels; i++)
            h[i] = rnd() * 4.0f;
        GPU(cudaMemcpy(d[k], h, voxels * sizeof(float), cudaMemcpyHostToDevice));
    }
    GPU(cudaMalloc(&qr, voxels * sizeof(float)));
    GPU(cudaMalloc(&qi, voxels * sizeof(float)));
    GPU(cudaMalloc(&phi_r, samples * sizeof(float)));
    GPU(cudaMalloc(&phi_i, samples * sizeof(float)));
    GPU(cudaMalloc(&mag, samples * sizeof(float)));
    for (int i = 0; i < samples; i++)
        h[i] = rnd();
    GPU(cudaMemcpy(phi_r, h, samples * sizeof(float), cudaMemcpyHostToDevice));
    for (int i = 0; i < samples; i++)
        h[i] = rnd();
    GPU(cudaMemcpy(phi_i, h, samples * sizeof(float), cudaMemcpyHostToDevice));
    compute_phi_mag<<<(samples + 127) / 128, 128>>>(phi_r, phi_i, mag, samples);
    GPU(cudaGetLastError());
    GPU(cudaMemcpy(h, mag, samples * sizeof(float), cudaMemcpyDeviceToHost));
    struct kValues *kv = (struct kValues *)malloc(samples * sizeof *kv);
    for (int i = 0; i < samples; i++) {
        kv[i].kx = rnd() * 2;
        kv[i].ky = rnd() * 2;
        kv[i].kz = rnd() * 2;
        kv[i].phi_mag = h[i];
    }
    GPU(cudaMemset(qr, 0, voxels * sizeof(float)));
    GPU(cudaMemset(qi, 0, voxels * sizeof(float)));
    for (int chunk = 0; chunk < 3; chunk++) {
        GPU(cudaMemcpyToSymbol(ck, kv + chunk * K_CHUNK, sizeof ck));
        q_fast<<<voxels / 256, 256>>>(d[0], d[1], d[2], qr, qi, voxels);
        GPU(cudaGetLastError());
    }
    GPU(cudaDeviceSynchronize());
    uint64_t a = hash_floats(qr, voxels) ^ hash_floats(qi, voxels) * 3;
    q_precise<<<(precise_voxels + 319) / 320, 160>>>(d[0], d[1], d[2], qr, qi, precise_voxels);
    GPU(cudaGetLastError());
    uint64_t b = hash_floats(qr, precise_voxels) ^ hash_floats(qi, precise_voxels) * 3;
    q_table<<<(precise_voxels + 511) / 512, 512>>>(d[0], d[1], d[2], qr, qi, precise_voxels);
    GPU(cudaGetLastError());
    uint64_t c = hash_floats(qr, precise_voxels) ^ hash_floats(qi, precise_voxels) * 3;
    printf("fast %016llx\nprecise %016llx\ntable %016llx\n", (unsigned long long)a, (unsigned long long)b, (unsigned long long)c);
    for (int k = 0; k < 3; k++)
        GPU(cudaFree(d[k]));
    GPU(cudaFree(qr));
    GPU(cudaFree(qi));
    GPU(cudaFree(phi_r));
    GPU(cudaFree(phi_i));
    GPU(cudaFree(mag));
    free(kv);
    free(h);
    return 0;
}
