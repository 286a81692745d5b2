// Sparse kernels: level-scheduled triangular solve, CSR SpMV (scalar and
// vector), 4x4 block-Jacobi preconditioned CG.  Double precision.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cmath>
#include <vector>
#include <algorithm>
#include <cuda_runtime.h>

#define CUDA_OK(call)                                                          \
    do {                                                                       \
        cudaError_t err__ = (call);                                            \
        if (err__ != cudaSuccess) {                                            \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,            \
                         cudaGetErrorString(err__));                           \
            std::exit(EXIT_FAILURE);                                           \
        }                                                                      \
    } while (0)

struct Csr {
    int n = 0;
    std::vector<int> ptr, col;
    std::vector<double> val;
};
struct DCsr { int n; int *ptr, *col; double *val; };

static uint32_t lcg_state = 12345u;
static uint32_t rnd() { lcg_state = lcg_state * 1664525u + 1013904223u; return lcg_state >> 8; }

template <class T> T *to_device(const std::vector<T> &v)
{
    T *d;
    CUDA_OK(cudaMalloc(&d, std::max<size_t>(v.size(), 1) * sizeof(T)));
    CUDA_OK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}
static DCsr upload(const Csr &a) { return {a.n, to_device(a.ptr), to_device(a.col), to_device(a.val)}; }
static void release(DCsr &a) { CUDA_OK(cudaFree(a.ptr)); CUDA_OK(cudaFree(a.col)); CUDA_OK(cudaFree(a.val)); }

// ---- triangular solve --------------------------------------------------
__device__ inline void solve_row(const DCsr &L, int row, const double *b, double *x)
{
    double s = b[row];
    int e = L.ptr[row + 1] - 1;              // diagonal is stored last
    for (int k = L.ptr[row]; k < e; ++k) s -= L.val[k] * x[L.col[k]];
    x[row] = s / L.val[e];
}

__global__ void trsv_level(DCsr L, const int *rows, int begin, int end, const double *b, double *x)
{
    int t = begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (t < end) solve_row(L, rows[t], b, x);
}

// many thin levels in one block
__global__ void __launch_bounds__(1024) trsv_levels_one_block(DCsr L, const int *rows, const int *lptr, int l0, int l1,
                                                             const double *b, double *x)
{
    for (int l = l0; l < l1; ++l) {
        for (int t = lptr[l] + threadIdx.x; t < lptr[l + 1]; t += blockDim.x) solve_row(L, rows[t], b, x);
        __syncthreads();
    }
}

// ---- spmv -----------------------------------------------------------------
__global__ void spmv_scalar(DCsr A, const double *x, double *y)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= A.n) return;
    double s = 0;
    for (int k = A.ptr[r]; k < A.ptr[r + 1]; ++k) s += A.val[k] * x[A.col[k]];
    y[r] = s;
}

template <int LANES>
__global__ void spmv_vector(DCsr A, const double *__restrict__ x, double *__restrict__ y)
{
    int gt = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = gt % LANES;
    int stride = gridDim.x * blockDim.x / LANES;
    int rounded = (A.n + 32 / LANES - 1) / (32 / LANES) * (32 / LANES);
    for (int r = gt / LANES; r < rounded; r += stride) {
        double s = 0;
        if (r < A.n)
            for (int k = A.ptr[r] + lane; k < A.ptr[r + 1]; k += LANES) s += A.val[k] * __ldg(x + A.col[k]);
        for (int o = LANES / 2; o; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o, LANES);
        if (lane == 0 && r < A.n) y[r] = s;
    }
}

// ---- block Jacobi -----------------------------------------------------------
#define BS 4
__global__ void bjacobi_setup(DCsr A, double *inv)
{
    int blk = blockIdx.x * blockDim.x + threadIdx.x;
    int nb = (A.n + BS - 1) / BS;
    if (blk >= nb) return;
    double m[BS][BS], w[BS][BS];
    for (int i = 0; i < BS; i++)
        for (int j = 0; j < BS; j++) { m[i][j] = 0; w[i][j] = i == j; }
    for (int i = 0; i < BS; i++) {
        int row = blk * BS + i;
        if (row >= A.n) { m[i][i] = 1; continue; }
        for (int k = A.ptr[row]; k < A.ptr[row + 1]; k++) {
            int c = A.col[k] - blk * BS;
            if (c >= 0 && c < BS) {
#pragma unroll
                for (int j = 0; j < BS; j++) if (j == c) m[i][j] += A.val[k];
            }
        }
    }
#pragma unroll
    for (int p = 0; p < BS; p++) {           // Gauss-Jordan, diagonally dominant: no pivoting
        double d = 1.0 / m[p][p];
#pragma unroll
        for (int j = 0; j < BS; j++) { m[p][j] *= d; w[p][j] *= d; }
#pragma unroll
        for (int i = 0; i < BS; i++) {
            if (i == p) continue;
            double f = m[i][p];
#pragma unroll
            for (int j = 0; j < BS; j++) { m[i][j] -= f * m[p][j]; w[i][j] -= f * w[p][j]; }
        }
    }
    for (int i = 0; i < BS; i++)
        for (int j = 0; j < BS; j++) inv[(size_t)blk * BS * BS + i * BS + j] = w[i][j];
}

__global__ void bjacobi_apply(int n, const double *inv, const double *r, double *z)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    int base = row / BS * BS;
    const double *a = inv + (size_t)row * BS;
    double s = 0;
    for (int j = 0; j < BS; j++)
        if (base + j < n) s += a[j] * r[base + j];
    z[row] = s;
}

// ---- vectors ----------------------------------------------------------------
__global__ void dot_partial(int n, const double *a, const double *b, double *out)
{
    __shared__ double sh[8];
    double s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += a[i] * b[i];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if ((threadIdx.x & 31) == 0) sh[threadIdx.x >> 5] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        double t = 0;
        for (unsigned w = 0; w < blockDim.x / 32; w++) t += sh[w];
        out[blockIdx.x] = t;
    }
}
__global__ void cg_update(int n, double alpha, const double *p, const double *q, double *x, double *r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { x[i] += alpha * p[i]; r[i] -= alpha * q[i]; }
}
__global__ void xpby(int n, const double *z, double beta, double *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = z[i] + beta * p[i];
}

static const int DOTB = 150;
static double *d_part;
static double dot(int n, const double *a, const double *b)
{
    double h[DOTB];
    dot_partial<<<DOTB, 256>>>(n, a, b, d_part);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(h, d_part, sizeof h, cudaMemcpyDeviceToHost));
    double s = 0;
    for (double v : h) s += v;
    return s;
}

static uint64_t fnv1a(const void *p, size_t n)
{
    uint64_t h = 14695981039346656037ull;
    for (size_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)p)[i]) * 1099511628211ull;
    return h;
}

static void build_levels(const Csr &L, std::vector<int> &rows, std::vector<int> &lptr)
{
    std::vector<int> lev(L.n);
    int nl = 0;
    for (int i = 0; i < L.n; i++) {
        int m = 0;
        for (int k = L.ptr[i]; k < L.ptr[i + 1] - 1; k++) m = std::max(m, lev[L.col[k]] + 1);
        lev[i] = m;
        nl = std::max(nl, m + 1);
    }
    lptr.assign(nl + 1, 0);
    for (int i = 0; i < L.n; i++) lptr[lev[i] + 1]++;
    for (int l = 0; l < nl; l++) lptr[l + 1] += lptr[l];
    rows.resize(L.n);
    std::vector<int> pos(lptr.begin(), lptr.end() - 1);
    for (int i = 0; i < L.n; i++) rows[pos[lev[i]]++] = i;
}

static int solve_lower(const char *name, const Csr &L)
{
    std::vector<int> rows, lptr;
    build_levels(L, rows, lptr);
    int nl = (int)lptr.size() - 1;
    std::vector<double> b(L.n), x(L.n), ref(L.n);
    for (int i = 0; i < L.n; i++) b[i] = 1.0 + (i % 17) * 0.125;
    DCsr d = upload(L);
    int *drows = to_device(rows), *dlptr = to_device(lptr);
    double *db = to_device(b), *dx = to_device(x);
    for (int l = 0; l < nl;) {
        int width = lptr[l + 1] - lptr[l];
        if (width > 1024) {
            trsv_level<<<(width + 191) / 192, 192>>>(d, drows, lptr[l], lptr[l + 1], db, dx);
            l++;
        } else {
            int e = l + 1;
            while (e < nl && lptr[e + 1] - lptr[e] <= 1024) e++;
            trsv_levels_one_block<<<1, 1024>>>(d, drows, dlptr, l, e, db, dx);
            l = e;
        }
        CUDA_OK(cudaGetLastError());
    }
    CUDA_OK(cudaMemcpy(x.data(), dx, L.n * sizeof(double), cudaMemcpyDeviceToHost));
    double err = 0;
    for (int i = 0; i < L.n; i++) {
        double s = b[i];
        int e = L.ptr[i + 1] - 1;
        for (int k = L.ptr[i]; k < e; k++) s -= L.val[k] * ref[L.col[k]];
        ref[i] = s / L.val[e];
        err = std::max(err, std::fabs(ref[i] - x[i]));
    }
    printf("%s: n=%d levels=%d hash %016llx %s\n", name, L.n, nl,
           (unsigned long long)fnv1a(x.data(), x.size() * 8), err < 1e-9 ? "ok" : "mismatch");
    release(d);
    CUDA_OK(cudaFree(drows)); CUDA_OK(cudaFree(dlptr)); CUDA_OK(cudaFree(db)); CUDA_OK(cudaFree(dx));
    return nl;
}

int main()
{
    // unstructured lower factor
    const int n = 400009;
    Csr L;
    L.n = n;
    L.ptr.push_back(0);
    std::vector<int> cols;
    for (int i = 0; i < n; i++) {
        cols.clear();
        if (i & 1) cols.push_back(i - 1);
        int cnt = 2 + rnd() % 7;
        if (i > 9)
            for (int k = 0; k < cnt; k++) cols.push_back((int)(((uint64_t)rnd() * 8191u + rnd()) % (i / 3)));
        std::sort(cols.begin(), cols.end());
        cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
        for (int c : cols) { L.col.push_back(c); L.val.push_back(-0.05 - (rnd() % 64) / 1024.0); }
        L.col.push_back(i); L.val.push_back(1.5 + (rnd() % 16) / 16.0);
        L.ptr.push_back((int)L.col.size());
    }
    solve_lower("unstructured", L);

    // lower triangle of a 5-point grid in natural order: long and thin
    const int gx = 223, gy = 190;
    Csr Gd;
    Gd.n = gx * gy;
    Gd.ptr.push_back(0);
    for (int j = 0; j < gy; j++)
        for (int i = 0; i < gx; i++) {
            int r = j * gx + i;
            if (j) { Gd.col.push_back(r - gx); Gd.val.push_back(-1.0); }
            if (i) { Gd.col.push_back(r - 1); Gd.val.push_back(-0.75); }
            Gd.col.push_back(r); Gd.val.push_back(4.0);
            Gd.ptr.push_back((int)Gd.col.size());
        }
    solve_lower("grid", Gd);

    // A = L + L^T without the diagonal, plus a dominant diagonal
    Csr A;
    A.n = n;
    A.ptr.assign(n + 1, 0);
    std::vector<double> rowsum(n, 0.0);
    for (int i = 0; i < n; i++)
        for (int k = L.ptr[i]; k < L.ptr[i + 1] - 1; k++) {
            A.ptr[i + 1]++; A.ptr[L.col[k] + 1]++;
            rowsum[i] += std::fabs(L.val[k]); rowsum[L.col[k]] += std::fabs(L.val[k]);
        }
    for (int i = 0; i < n; i++) A.ptr[i + 1] += A.ptr[i] + 1;
    A.col.resize(A.ptr[n]); A.val.resize(A.ptr[n]);
    std::vector<int> pos(A.ptr.begin(), A.ptr.end() - 1);
    for (int i = 0; i < n; i++) {
        for (int k = L.ptr[i]; k < L.ptr[i + 1] - 1; k++) {
            int c = L.col[k];
            A.col[pos[i]] = c; A.val[pos[i]++] = L.val[k];
            A.col[pos[c]] = i; A.val[pos[c]++] = L.val[k];
        }
        A.col[pos[i]] = i; A.val[pos[i]++] = rowsum[i] * 1.02 + 0.3;
    }
    std::vector<double> b(n), zero(n, 0.0), y(n);
    for (int i = 0; i < n; i++) b[i] = ((i * 7) % 31) / 31.0 - 0.4;
    DCsr dA = upload(A);
    double *x = to_device(zero), *r = to_device(b), *z = to_device(zero), *p = to_device(zero), *q = to_device(zero);
    double *inv;
    int nb = (n + BS - 1) / BS;
    CUDA_OK(cudaMalloc(&inv, (size_t)nb * BS * BS * sizeof(double)));
    CUDA_OK(cudaMalloc(&d_part, DOTB * sizeof(double)));
    const int T = 256, NB = (n + T - 1) / T;

    spmv_scalar<<<(n + 127) / 128, 128>>>(dA, r, q);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(y.data(), q, n * sizeof(double), cudaMemcpyDeviceToHost));
    double err = 0;
    for (int i = 0; i < n; i += 37) {
        double s = 0;
        for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) s += A.val[k] * b[A.col[k]];
        err = std::max(err, std::fabs(s - y[i]));
    }
    printf("spmv: nnz=%d hash %016llx %s\n", A.ptr[n], (unsigned long long)fnv1a(y.data(), n * 8ul), err < 1e-9 ? "ok" : "mismatch");

    bjacobi_setup<<<(nb + 63) / 64, 64>>>(dA, inv);
    bjacobi_apply<<<NB, T>>>(n, inv, r, z);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(p, z, n * sizeof(double), cudaMemcpyDeviceToDevice));
    double rz = dot(n, r, z), rz0 = rz;
    for (int it = 0; it < 4; it++) {
        spmv_vector<8><<<1320, T>>>(dA, p, q);
        double alpha = rz / dot(n, p, q);
        cg_update<<<NB, T>>>(n, alpha, p, q, x, r);
        bjacobi_apply<<<NB, T>>>(n, inv, r, z);
        double rzn = dot(n, r, z);
        xpby<<<NB, T>>>(n, z, rzn / rz, p);
        CUDA_OK(cudaGetLastError());
        rz = rzn;
    }
    CUDA_OK(cudaMemcpy(y.data(), x, n * sizeof(double), cudaMemcpyDeviceToHost));
    printf("cg: hash %016llx residual %s\n", (unsigned long long)fnv1a(y.data(), n * 8ul), rz < rz0 ? "falls" : "mismatch");
    release(dA);
    for (double *v : {x, r, z, p, q, inv, d_part}) CUDA_OK(cudaFree(v));
    return 0;
}
