// Naive linear algebra kernels: one thread per output element / row / column.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda_runtime.h>

#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
static inline void gpuAssert(cudaError_t code, const char *file, int line)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        exit(code);
    }
}

typedef float DATA_TYPE;

static unsigned long long hash_bytes(const void *p, size_t n)
{
    const unsigned char *c = (const unsigned char *)p;
    unsigned long long h = 0xcbf29ce484222325ULL;
    while (n--) { h ^= *c++; h *= 0x100000001b3ULL; }
    return h;
}

/* ------------------------------ 2mm ------------------------------ */
#define MM_NI 1040
#define MM_NJ 1000
#define MM_NK 60
#define MM_NL 36

__global__ void mm2_kernel1(int ni, int nj, int nk, DATA_TYPE alpha, DATA_TYPE *tmp,
                            DATA_TYPE *A, DATA_TYPE *B)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < ni) && (j < nj)) {
        tmp[i * nj + j] = 0;
        for (int k = 0; k < nk; k++)
            tmp[i * nj + j] += alpha * A[i * nk + k] * B[k * nj + j];
    }
}

__global__ void mm2_kernel2(int ni, int nl, int nj, DATA_TYPE beta, DATA_TYPE *tmp,
                            DATA_TYPE *C, DATA_TYPE *D)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < ni) && (j < nl)) {
        D[i * nl + j] *= beta;
        for (int k = 0; k < nj; k++)
            D[i * nl + j] += tmp[i * nj + k] * C[k * nl + j];
    }
}

/* ---------------------------- gesummv ---------------------------- */
__global__ void gesummv_kernel(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE *A,
                               DATA_TYPE *B, DATA_TYPE *tmp, DATA_TYPE *x, DATA_TYPE *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int j = 0; j < n; j++) {
            tmp[i] += A[i * n + j] * x[j];
            y[i] += B[i * n + j] * x[j];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}

/* ------------------------------ atax ----------------------------- */
__global__ void atax_kernel1(int nx, int ny, const DATA_TYPE *A, const DATA_TYPE *x, DATA_TYPE *tmp)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nx) {
        DATA_TYPE s = 0;
        for (int j = 0; j < ny; j++) s += A[i * ny + j] * x[j];
        tmp[i] = s;
    }
}

__global__ void atax_kernel2(int nx, int ny, const DATA_TYPE *A, DATA_TYPE *y, const DATA_TYPE *tmp)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < ny) {
        y[j] = 0;
        for (int i = 0; i < nx; i++) y[j] += A[i * ny + j] * tmp[i];
    }
}

/* --------------------------- bicg (double) ----------------------- */
__global__ void bicg_kernel1(int nx, int ny, double *A, double *r, double *s)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < ny) {
        s[j] = 0.0;
        for (int i = 0; i < nx; i++) s[j] += r[i] * A[i * ny + j];
    }
}

__global__ void bicg_kernel2(int nx, int ny, double *A, double *p, double *q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nx) {
        q[i] = 0.0;
        for (int j = 0; j < ny; j++) q[i] += A[i * ny + j] * p[j];
    }
}

/* ------------------------------ mvt ------------------------------ */
__global__ void mvt_kernel1(int n, const DATA_TYPE *__restrict__ a, DATA_TYPE *__restrict__ x1,
                            const DATA_TYPE *__restrict__ y1)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int j = 0; j < n; j++) x1[i] += a[i * n + j] * y1[j];
    }
}

__global__ void mvt_kernel2(int n, const DATA_TYPE *__restrict__ a, DATA_TYPE *__restrict__ x2,
                            const DATA_TYPE *__restrict__ y2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int j = 0; j < n; j++) x2[i] += a[j * n + i] * y2[j];
    }
}

/* --------------------------- syrk / syr2k ------------------------ */
__global__ void syrk_kernel(int n, int m, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE *A, DATA_TYPE *C)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) {
        C[i * n + j] *= beta;
        for (int k = 0; k < m; k++)
            C[i * n + j] += alpha * A[i * m + k] * A[j * m + k];
    }
}

/* ---------------- correlation: column mean and stddev ------------- */
__global__ void col_mean(int m, int n, const DATA_TYPE *data, DATA_TYPE *mean)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < m) {
        DATA_TYPE s = 0;
        for (int i = 0; i < n; i++) s += data[i * m + j];
        mean[j] = s / n;
    }
}

__global__ void col_std(int m, int n, const DATA_TYPE *data, const DATA_TYPE *mean, DATA_TYPE *sd)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < m) {
        DATA_TYPE s = 0;
        for (int i = 0; i < n; i++) {
            DATA_TYPE d = data[i * m + j] - mean[j];
            s += d * d;
        }
        s = sqrtf(s / n);
        sd[j] = s <= 0.005f ? 1.0f : s;
    }
}

__global__ void center_reduce(int m, int n, DATA_TYPE *data, const DATA_TYPE *mean, const DATA_TYPE *sd)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < m) {
        data[i * m + j] -= mean[j];
        data[i * m + j] /= sqrtf((DATA_TYPE)n) * sd[j];
    }
}

template <class T> static T *fill(size_t n, int a, int b, int mod, T scale)
{
    T *h = (T *)malloc(n * sizeof(T));
    for (size_t i = 0; i < n; i++) h[i] = (T)((int)((i * a + b + i / 97) % mod) - mod / 3) * scale;
    return h;
}

template <class T> static T *upload(const T *h, size_t n)
{
    T *d;
    gpuErrchk(cudaMalloc((void **)&d, n * sizeof(T)));
    gpuErrchk(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}

template <class T> static void report(const char *name, const T *d, size_t n)
{
    T *h = (T *)malloc(n * sizeof(T));
    gpuErrchk(cudaMemcpy(h, d, n * sizeof(T), cudaMemcpyDeviceToHost));
    double s = 0;
    for (size_t i = 0; i < n; i++) s += h[i];
    printf("%-10s %016llx  sum %.6e\n", name, hash_bytes(h, n * sizeof(T)), s);
    free(h);
}

static int iceil(int a, int b) { return (a + b - 1) / b; }

int main(void)
{
    {   // 2mm
        DATA_TYPE *hA = fill<float>(MM_NI * MM_NK, 7, 3, 101, 0.01f);
        DATA_TYPE *hB = fill<float>(MM_NK * MM_NJ, 11, 5, 89, 0.02f);
        DATA_TYPE *hC = fill<float>(MM_NJ * MM_NL, 13, 1, 97, 0.01f);
        DATA_TYPE *hD = fill<float>(MM_NI * MM_NL, 3, 2, 53, 0.1f);
        DATA_TYPE *A = upload(hA, MM_NI * MM_NK), *B = upload(hB, MM_NK * MM_NJ);
        DATA_TYPE *C = upload(hC, MM_NJ * MM_NL), *D = upload(hD, MM_NI * MM_NL), *tmp;
        gpuErrchk(cudaMalloc((void **)&tmp, MM_NI * MM_NJ * sizeof(DATA_TYPE)));
        dim3 block(32, 8);
        mm2_kernel1<<<dim3(iceil(MM_NJ, 32), iceil(MM_NI, 8)), block>>>(MM_NI, MM_NJ, MM_NK, 1.5f, tmp, A, B);
        gpuErrchk(cudaGetLastError());
        mm2_kernel2<<<dim3(iceil(MM_NL, 32), iceil(MM_NI, 8)), block>>>(MM_NI, MM_NL, MM_NJ, 1.2f, tmp, C, D);
        gpuErrchk(cudaGetLastError());
        report("2mm.tmp", tmp, MM_NI * MM_NJ);
        report("2mm.D", D, MM_NI * MM_NL);
        float *ht = (float *)malloc(MM_NJ * sizeof(float));
        const int row = 517;
        gpuErrchk(cudaMemcpy(ht, tmp + row * MM_NJ, MM_NJ * sizeof(float), cudaMemcpyDeviceToHost));
        int bad = 0;
        for (int j = 0; j < MM_NJ; j++) {
            double s = 0;
            for (int k = 0; k < MM_NK; k++) s += 1.5 * hA[row * MM_NK + k] * hB[k * MM_NJ + j];
            if (fabs(s - ht[j]) > 1e-3 * (1.0 + fabs(s))) bad++;
        }
        printf("2mm row check: %s\n", bad ? "mismatch" : "ok");
        free(hA); free(hB); free(hC); free(hD); free(ht);
        cudaFree(A); cudaFree(B); cudaFree(C); cudaFree(D); cudaFree(tmp);
    }
    {   // gesummv
        const int n = 2100;
        float *hA = fill<float>(n * n, 5, 1, 113, 0.01f), *hB = fill<float>(n * n, 3, 7, 71, 0.01f);
        float *hx = fill<float>(n, 1, 0, 37, 0.1f);
        float *A = upload(hA, n * n), *B = upload(hB, n * n), *x = upload(hx, n), *y, *tmp;
        gpuErrchk(cudaMalloc((void **)&y, n * sizeof(float)));
        gpuErrchk(cudaMalloc((void **)&tmp, n * sizeof(float)));
        gpuErrchk(cudaMemset(y, 0, n * sizeof(float)));
        gpuErrchk(cudaMemset(tmp, 0, n * sizeof(float)));
        gesummv_kernel<<<iceil(n, 256), 256>>>(n, 1.1f, 0.7f, A, B, tmp, x, y);
        gpuErrchk(cudaGetLastError());
        report("gesummv", y, n);
        free(hA); free(hB); free(hx);
        cudaFree(A); cudaFree(B); cudaFree(x); cudaFree(y); cudaFree(tmp);
    }
    {   // atax, mvt share one matrix
        const int nx = 2400, ny = 2712;
        float *hA = fill<float>(nx * ny, 7, 9, 131, 0.01f), *hx = fill<float>(ny, 1, 3, 29, 0.05f);
        float *A = upload(hA, nx * ny), *x = upload(hx, ny), *y, *tmp;
        gpuErrchk(cudaMalloc((void **)&y, ny * sizeof(float)));
        gpuErrchk(cudaMalloc((void **)&tmp, nx * sizeof(float)));
        atax_kernel1<<<iceil(nx, 128), 128>>>(nx, ny, A, x, tmp);
        atax_kernel2<<<iceil(ny, 128), 128>>>(nx, ny, A, y, tmp);
        gpuErrchk(cudaGetLastError());
        report("atax", y, ny);
        const int n = 2400;
        float *hx1 = fill<float>(n, 2, 1, 41, 0.1f);
        float *x1 = upload(hx1, n), *x2 = upload(hx1, n);
        mvt_kernel1<<<iceil(n, 256), 256>>>(n, A, x1, x);
        mvt_kernel2<<<iceil(n, 256), 256>>>(n, A, x2, x);
        gpuErrchk(cudaGetLastError());
        report("mvt.x1", x1, n);
        report("mvt.x2", x2, n);
        // covariance-style preprocessing of the same data
        float *mean, *sd;
        gpuErrchk(cudaMalloc((void **)&mean, ny * sizeof(float)));
        gpuErrchk(cudaMalloc((void **)&sd, ny * sizeof(float)));
        col_mean<<<iceil(ny, 64), 64>>>(ny, nx, A, mean);
        col_std<<<iceil(ny, 64), 64>>>(ny, nx, A, mean, sd);
        center_reduce<<<dim3(iceil(ny, 32), iceil(nx, 16)), dim3(32, 16)>>>(ny, nx, A, mean, sd);
        gpuErrchk(cudaGetLastError());
        report("corr.data", A, nx * ny);
        free(hA); free(hx); free(hx1);
        cudaFree(A); cudaFree(x); cudaFree(y); cudaFree(tmp); cudaFree(x1); cudaFree(x2);
        cudaFree(mean); cudaFree(sd);
    }
    {   // bicg in double precision
        const int nx = 1900, ny = 1500;
        double *hA = fill<double>(nx * ny, 3, 11, 127, 0.001), *hp = fill<double>(ny, 1, 5, 31, 0.01);
        double *hr = fill<double>(nx, 1, 7, 43, 0.01);
        double *A = upload(hA, nx * ny), *p = upload(hp, ny), *r = upload(hr, nx), *s, *q;
        gpuErrchk(cudaMalloc((void **)&s, ny * sizeof(double)));
        gpuErrchk(cudaMalloc((void **)&q, nx * sizeof(double)));
        bicg_kernel1<<<iceil(ny, 256), 256>>>(nx, ny, A, r, s);
        bicg_kernel2<<<iceil(nx, 256), 256>>>(nx, ny, A, p, q);
        gpuErrchk(cudaGetLastError());
        report("bicg.s", s, ny);
        report("bicg.q", q, nx);
        free(hA); free(hp); free(hr);
        cudaFree(A); cudaFree(p); cudaFree(r); cudaFree(s); cudaFree(q);
    }
    {   // syrk
        const int n = 1016, m = 28;
        float *hA = fill<float>(n * m, 3, 1, 61, 0.05f), *hC = fill<float>(n * n, 1, 1, 83, 0.1f);
        float *A = upload(hA, n * m), *C = upload(hC, n * n);
        syrk_kernel<<<dim3(iceil(n, 16), iceil(n, 16)), dim3(16, 16)>>>(n, m, 0.5f, 0.9f, A, C);
        gpuErrchk(cudaGetLastError());
        report("syrk", C, n * n);
        free(hA); free(hC);
        cudaFree(A); cudaFree(C);
    }
    gpuErrchk(cudaDeviceSynchronize());
    return 0;
}
