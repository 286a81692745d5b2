// Inverse of many 8x8 float matrices by Gauss-Jordan elimination with pivoting: a matrix per thread, a matrix per 8 lanes, and a double 6x6 Cholesky.
// Hard for a GPU: a matrix per thread needs all the registers there are (or spills), its loads are strided, and pivots differ between lanes.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

#define SAFE(x)                                                                  \
    do {                                                                         \
        cudaError_t s_ = (x);                                                    \
        if (s_ != cudaSuccess) {                                                 \
            printf("cuda error '%s' line %d\n", cudaGetErrorString(s_), __LINE__); \
            exit(3);                                                             \
        }                                                                        \
    } while (0)

constexpr int D = 8;
constexpr int COUNT = 150000;

__global__ void make_matrices(float *m, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count * D * D)
        return;
    uint32_t h = i * 0x9E3779B1u;
    h ^= h >> 15;
    h *= 0x85EBCA77u;
    h ^= h >> 13;
    // values in -1..1, some zeros, so that pivoting is needed
    m[i] = (h & 7) == 0 ? 0.0f : (int)(h >> 8 & 0xffff) / 32768.0f - 1.0f;
}

// whole matrix in registers; the row exchange is done by selects so that all indices are constants
__global__ void __launch_bounds__(64) inverse_thread(const float4 *__restrict__ in, float4 *__restrict__ out, int count)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    float a[D][D];
    int perm[D];
#pragma unroll
    for (int r = 0; r < D; r++) {
        float4 lo = in[(size_t)id * 16 + 2 * r], hi = in[(size_t)id * 16 + 2 * r + 1];
        a[r][0] = lo.x, a[r][1] = lo.y, a[r][2] = lo.z, a[r][3] = lo.w;
        a[r][4] = hi.x, a[r][5] = hi.y, a[r][6] = hi.z, a[r][7] = hi.w;
    }
#pragma unroll
    for (int k = 0; k < D; k++) {
        int best = k;
        float most = fabsf(a[k][k]);
#pragma unroll
        for (int r = k + 1; r < D; r++)
            if (fabsf(a[r][k]) > most) {
                most = fabsf(a[r][k]);
                best = r;
            }
        perm[k] = best;
#pragma unroll
        for (int r = k + 1; r < D; r++)
            if (r == best) {
#pragma unroll
                for (int c = 0; c < D; c++) {
                    float t = a[r][c];
                    a[r][c] = a[k][c];
                    a[k][c] = t;
                }
            }
        float inv = 1.0f / a[k][k];
        a[k][k] = 1.0f;
#pragma unroll
        for (int c = 0; c < D; c++)
            a[k][c] *= inv;
#pragma unroll
        for (int r = 0; r < D; r++) {
            if (r == k)
                continue;
            float f = a[r][k];
            a[r][k] = 0.0f;
#pragma unroll
            for (int c = 0; c < D; c++)
                a[r][c] = fmaf(-f, a[k][c], a[r][c]);
        }
    }
    // undo the exchanges on the columns, last first
#pragma unroll
    for (int k = D - 1; k >= 0; k--)
#pragma unroll
        for (int c = k + 1; c < D; c++)
            if (perm[k] == c) {
#pragma unroll
                for (int r = 0; r < D; r++) {
                    float t = a[r][c];
                    a[r][c] = a[r][k];
                    a[r][k] = t;
                }
            }
#pragma unroll
    for (int r = 0; r < D; r++) {
        out[(size_t)id * 16 + 2 * r] = make_float4(a[r][0], a[r][1], a[r][2], a[r][3]);
        out[(size_t)id * 16 + 2 * r + 1] = make_float4(a[r][4], a[r][5], a[r][6], a[r][7]);
    }
}

// lane r of a group of 8 holds row r of [A | 1]; pivot search and broadcast by shuffles
__global__ void inverse_group(const float *__restrict__ in, float *__restrict__ out, int count)
{
    int id = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    int r = threadIdx.x % 8;
    bool valid = id < count;
    float a[D], b[D];
    for (int c = 0; c < D; c++) {
        a[c] = valid ? in[(size_t)id * 64 + r * 8 + c] : (r == c ? 1.0f : 0.0f);
        b[c] = r == c ? 1.0f : 0.0f;
    }
    bool used = false;
    int place = 0;
#pragma unroll
    for (int k = 0; k < D; k++) {
        float most = used ? -1.0f : fabsf(a[k]);
        int who = r;
#pragma unroll
        for (int d = 4; d; d /= 2) {
            float o = __shfl_xor_sync(0xffffffffu, most, d, 8);
            int w = __shfl_xor_sync(0xffffffffu, who, d, 8);
            if (o > most || (o == most && w < who)) {
                most = o;
                who = w;
            }
        }
        if (r == who) {
            used = true;
            place = k;
            float inv = 1.0f / a[k];
#pragma unroll
            for (int c = 0; c < D; c++) {
                a[c] *= inv;
                b[c] *= inv;
            }
        }
        float f = r == who ? 0.0f : a[k];
#pragma unroll
        for (int c = 0; c < D; c++) {
            a[c] = fmaf(-f, __shfl_sync(0xffffffffu, a[c], who, 8), a[c]);
            b[c] = fmaf(-f, __shfl_sync(0xffffffffu, b[c], who, 8), b[c]);
        }
    }
    if (valid)
        for (int c = 0; c < D; c++)
            out[(size_t)id * 64 + place * 8 + c] = b[c];
}

// normal matrix of the upper left 8x6 part, Cholesky in doubles, log of the determinant's exponent; the arrays are indexed by loops
__global__ void cholesky6(const float *in, double *trace, int count)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    const float *m = in + (size_t)id * 64;
    double g[6][6];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j <= i; j++) {
            double s = i == j ? 0.01 : 0.0;
            for (int r = 0; r < 8; r++)
                s += (double)m[r * 8 + i] * m[r * 8 + j];
            g[i][j] = s;
        }
    double t = 0;
    for (int j = 0; j < 6; j++) {
        for (int k = 0; k < j; k++)
            g[j][j] -= g[j][k] * g[j][k];
        g[j][j] = sqrt(g[j][j]);
        for (int i = j + 1; i < 6; i++) {
            for (int k = 0; k < j; k++)
                g[i][j] -= g[i][k] * g[j][k];
            g[i][j] /= g[j][j];
        }
        t += 1.0 / g[j][j];
    }
    trace[id] = t;
}

// how far is A * B from one, as a count of bad matrices
__global__ void verify(const float *a, const float *b, int count, unsigned *bad)
{
    int id = blockIdx.x * 4 + threadIdx.z;
    float s = 0, scale = 0;
    if (id < count)
        for (int k = 0; k < D; k++) {
            float p = a[(size_t)id * 64 + threadIdx.y * 8 + k] * b[(size_t)id * 64 + k * 8 + threadIdx.x];
            s += p;
            scale += fabsf(p);
        }
    else
        s = threadIdx.x == threadIdx.y;
    bool off = fabsf(s - (threadIdx.x == threadIdx.y ? 1.0f : 0.0f)) > 1e-3f * (1.0f + scale);
    int n = __syncthreads_count(off);
    if (n && threadIdx.x + threadIdx.y + threadIdx.z == 0)
        atomicAdd(bad, 1u);
}

static uint64_t fnv1a(const void *dev, size_t bytes)
{
    std::vector<unsigned char> v(bytes);
    SAFE(cudaMemcpy(v.data(), dev, bytes, cudaMemcpyDeviceToHost));
    uint64_t h = 0xcbf29ce484222325ull;
    for (unsigned char c : v)
        h = (h ^ c) * 0x100000001b3ull;
    return h;
}

int main()
{
    size_t bytes = (size_t)COUNT * D * D * sizeof(float);
    float *in, *by_thread, *by_group;
    double *trace;
    unsigned *bad, host_bad[2];
    SAFE(cudaMalloc(&in, bytes));
    SAFE(cudaMalloc(&by_thread, bytes));
    SAFE(cudaMalloc(&by_group, bytes));
    SAFE(cudaMalloc(&trace, COUNT * sizeof(double)));
    SAFE(cudaMalloc(&bad, sizeof host_bad));
    SAFE(cudaMemset(bad, 0, sizeof host_bad));
    make_matrices<<<COUNT * D * D / 256, 256>>>(in, COUNT);
    SAFE(cudaGetLastError());
    inverse_thread<<<(COUNT + 63) / 64, 64>>>((const float4 *)in, (float4 *)by_thread, COUNT);
    SAFE(cudaGetLastError());
    inverse_group<<<(COUNT * 8 + 127) / 128, 128>>>(in, by_group, COUNT);
    SAFE(cudaGetLastError());
    cholesky6<<<(COUNT + 127) / 128, 128>>>(in, trace, COUNT);
    SAFE(cudaGetLastError());
    verify<<<(COUNT + 3) / 4, dim3(8, 8, 4)>>>(in, by_thread, COUNT, bad);
    verify<<<(COUNT + 3) / 4, dim3(8, 8, 4)>>>(in, by_group, COUNT, bad + 1);
    SAFE(cudaGetLastError());
    SAFE(cudaDeviceSynchronize());
    SAFE(cudaMemcpy(host_bad, bad, sizeof host_bad, cudaMemcpyDeviceToHost));
    printf("thread %016llx group %016llx\n", (unsigned long long)fnv1a(by_thread, bytes), (unsigned long long)fnv1a(by_group, bytes));
    printf("cholesky %016llx bad %u %u\n", (unsigned long long)fnv1a(trace, COUNT * sizeof(double)), host_bad[0], host_bad[1]);
    SAFE(cudaFree(in));
    SAFE(cudaFree(by_thread));
    SAFE(cudaFree(by_group));
    SAFE(cudaFree(trace));
    SAFE(cudaFree(bad));
    return 0;
}
