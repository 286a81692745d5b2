// Cooperative groups: tiled reductions, warp-aggregated atomics, and iterative
// solvers (Jacobi, conjugate gradients) that run in a single cooperative launch.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

#define HANDLE_ERROR(err) handle_error((err), __FILE__, __LINE__)
static void handle_error(cudaError_t err, const char *file, int line)
{
    if (err != cudaSuccess) {
        printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line);
        exit(EXIT_FAILURE);
    }
}

static unsigned long long fnv(const void *p, size_t n)
{
    unsigned long long h = 14695981039346656037ULL;
    for (size_t i = 0; i < n; i++) { h ^= ((const unsigned char *)p)[i]; h *= 1099511628211ULL; }
    return h;
}

// ---------------------------------------------------------------- row statistics
// a tile of TS threads handles one row
template <int TS>
__global__ void row_stats(const float *a, int rows, int cols, float *sum, int *argmax)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<TS> tile = cg::tiled_partition<TS>(block);
    int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (row >= rows) return;
    const float *p = a + (size_t)row * cols;
    float s = 0.0f, best = -1e30f;
    int at = 0;
    for (int c = tile.thread_rank(); c < cols; c += TS) {
        float v = p[c];
        s += v;
        if (v > best) { best = v; at = c; }
    }
    s = cg::reduce(tile, s, cg::plus<float>());
    float m = cg::reduce(tile, best, cg::greater<float>());
    int cand = best == m ? at : cols;
    cand = cg::reduce(tile, cand, cg::less<int>());
    if (tile.thread_rank() == 0) { sum[row] = s; argmax[row] = cand; }
}

// whole-array sum: shuffles in 32-wide tiles, then one tile over the partials
__global__ void block_sums(const int *in, int n, long long *total)
{
    __shared__ long long part[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    long long s = 0;
    for (int i = cg::this_grid().thread_rank(); i < n; i += gridDim.x * blockDim.x) s += in[i];
    for (int o = warp.size() / 2; o > 0; o /= 2) s += warp.shfl_down(s, o);
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = s;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        s = warp.thread_rank() < warp.meta_group_size() ? part[warp.thread_rank()] : 0;
        s = cg::reduce(warp, s, cg::plus<long long>());
        if (warp.thread_rank() == 0) atomicAdd((unsigned long long *)total, (unsigned long long)s);
    }
}

// ---------------------------------------------------------------- aggregated atomics
__device__ int atomic_inc_aggregated(int *ctr)
{
    cg::coalesced_group g = cg::coalesced_threads();
    int base = 0;
    if (g.thread_rank() == 0) base = atomicAdd(ctr, (int)g.size());
    return g.shfl(base, 0) + g.thread_rank();
}

__global__ void filter_aggregated(const int *in, int n, int limit, int *out, int *count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (in[i] > limit) out[atomic_inc_aggregated(count)] = in[i];
}

__global__ void filter_plain(const int *in, int n, int limit, int *out, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > limit) out[atomicAdd(count, 1)] = in[i];
}

// threads of a warp with the same bucket add together
__global__ void bucket_sums(const int *in, int n, int *bucket_count, int *bucket_sum, int buckets)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i], b = ((unsigned)v >> 3) % buckets;
    cg::coalesced_group active = cg::coalesced_threads();
    cg::coalesced_group same = cg::labeled_partition(active, b);
    int s = cg::reduce(same, v & 0xff, cg::plus<int>());
    if (same.thread_rank() == 0) {
        atomicAdd(&bucket_count[b], (int)same.size());
        atomicAdd(&bucket_sum[b], s);
    }
}

// ---------------------------------------------------------------- Jacobi in one launch
__global__ void jacobi(float *u0, float *u1, const float *f, int nx, int ny, int iters)
{
    cg::grid_group grid = cg::this_grid();
    float *src = u0, *dst = u1;
    int total = nx * ny;
    for (int it = 0; it < iters; it++) {
        for (int i = (int)grid.thread_rank(); i < total; i += (int)grid.size()) {
            int x = i % nx, y = i / nx;
            if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
                dst[i] = 0.25f * (src[i - 1] + src[i + 1] + src[i - nx] + src[i + nx] + f[i]);
        }
        grid.sync();
        float *t = src; src = dst; dst = t;
    }
}

// ---------------------------------------------------------------- CG in one launch
#define CG_THREADS 256

__device__ double grid_dot(const double *a, const double *b, int n, double *partial, double *smem,
                           cg::grid_group &grid, cg::thread_block &block)
{
    double s = 0.0;
    for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) s += a[i] * b[i];
    auto warp = cg::tiled_partition<32>(block);
    s = cg::reduce(warp, s, cg::plus<double>());
    if (warp.thread_rank() == 0) smem[warp.meta_group_rank()] = s;
    block.sync();
    if (block.thread_rank() == 0) {
        double t = 0.0;
        for (int w = 0; w < CG_THREADS / 32; w++) t += smem[w];
        partial[blockIdx.x] = t;
    }
    grid.sync();
    // every block adds up the partial sums in the same order
    double t = 0.0;
    for (int k = (int)block.thread_rank(); k < (int)gridDim.x; k += CG_THREADS) t += partial[k];
    t = cg::reduce(warp, t, cg::plus<double>());
    if (warp.thread_rank() == 0) smem[warp.meta_group_rank()] = t;
    block.sync();
    double r = 0.0;
    for (int w = 0; w < CG_THREADS / 32; w++) r += smem[w];
    grid.sync();        // partial and smem may be used again
    return r;
}

// 5-point operator (4 + shift on the diagonal)
__device__ double apply_row(const double *p, int i, int nx, int ny, double shift)
{
    int x = i % nx, y = i / nx;
    double v = (4.0 + shift) * p[i];
    if (x > 0) v -= p[i - 1];
    if (x < nx - 1) v -= p[i + 1];
    if (y > 0) v -= p[i - nx];
    if (y < ny - 1) v -= p[i + nx];
    return v;
}

__global__ void __launch_bounds__(CG_THREADS) cg_solve(double *x, double *r, double *p, double *ap, int nx, int ny,
                                                       double shift, int maxit, double tol, double *partial, double *result)
{
    __shared__ double smem[CG_THREADS / 32];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    int n = nx * ny, rank = (int)grid.thread_rank(), stride = (int)grid.size();
    for (int i = rank; i < n; i += stride) { p[i] = r[i]; x[i] = 0.0; }
    double rr = grid_dot(r, r, n, partial, smem, grid, block);
    int it = 0;
    while (it < maxit && rr > tol) {
        for (int i = rank; i < n; i += stride) ap[i] = apply_row(p, i, nx, ny, shift);
        double pap = grid_dot(p, ap, n, partial, smem, grid, block);
        double alpha = rr / pap;
        for (int i = rank; i < n; i += stride) {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        double rn = grid_dot(r, r, n, partial, smem, grid, block);
        double beta = rn / rr;
        rr = rn;
        for (int i = rank; i < n; i += stride) p[i] = r[i] + beta * p[i];
        grid.sync();
        it++;
    }
    if (rank == 0) { result[0] = rr; result[1] = it; }
}

static int coop_blocks(const void *kernel, int threads, int wanted)
{
    int dev = 0, sms = 0, per_sm = 0, coop = 0;
    HANDLE_ERROR(cudaGetDevice(&dev));
    HANDLE_ERROR(cudaDeviceGetAttribute(&coop, cudaDevAttrCooperativeLaunch, dev));
    HANDLE_ERROR(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, dev));
    HANDLE_ERROR(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, 0));
    if (!coop) { printf("no cooperative launch\n"); exit(0); }
    return wanted < sms * per_sm ? wanted : sms * per_sm;
}

int main()
{
    // ---- reductions
    const int rows = 7003, cols = 301;
    std::vector<float> a((size_t)rows * cols);
    for (size_t i = 0; i < a.size(); i++) a[i] = (float)((i * 2654435761u >> 7) % 1009) * 0.01f - 3.0f;
    float *d_a, *d_sum;
    int *d_arg;
    HANDLE_ERROR(cudaMalloc(&d_a, a.size() * sizeof(float)));
    HANDLE_ERROR(cudaMalloc(&d_sum, rows * sizeof(float)));
    HANDLE_ERROR(cudaMalloc(&d_arg, rows * sizeof(int)));
    HANDLE_ERROR(cudaMemcpy(d_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    std::vector<float> sum(rows);
    std::vector<int> arg(rows);
    for (int v = 0; v < 3; v++) {
        if (v == 0) row_stats<8><<<(rows + 15) / 16, 128>>>(d_a, rows, cols, d_sum, d_arg);
        if (v == 1) row_stats<16><<<(rows + 11) / 12, 192>>>(d_a, rows, cols, d_sum, d_arg);
        if (v == 2) row_stats<32><<<(rows + 7) / 8, 256>>>(d_a, rows, cols, d_sum, d_arg);
        HANDLE_ERROR(cudaGetLastError());
        HANDLE_ERROR(cudaMemcpy(sum.data(), d_sum, rows * sizeof(float), cudaMemcpyDeviceToHost));
        HANDLE_ERROR(cudaMemcpy(arg.data(), d_arg, rows * sizeof(int), cudaMemcpyDeviceToHost));
        printf("rows, tile %2d: %016llx %016llx\n", 8 << v, fnv(sum.data(), rows * sizeof(float)), fnv(arg.data(), rows * sizeof(int)));
    }

    // ---- integer data: sums, filters, buckets
    const int n = 3500021, buckets = 37, limit = 600000;
    std::vector<int> in(n);
    unsigned s = 5;
    long long want = 0, want_f = 0;
    int want_c = 0;
    for (int i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        in[i] = (int)(s >> 12);
        want += in[i];
        if (in[i] > limit) { want_c++; want_f += in[i]; }
    }
    int *d_in, *d_out, *d_ctr;
    long long *d_tot, tot;
    HANDLE_ERROR(cudaMalloc(&d_in, n * sizeof(int)));
    HANDLE_ERROR(cudaMalloc(&d_out, n * sizeof(int)));
    HANDLE_ERROR(cudaMalloc(&d_ctr, (2 * buckets + 1) * sizeof(int)));
    HANDLE_ERROR(cudaMalloc(&d_tot, sizeof(long long)));
    HANDLE_ERROR(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    HANDLE_ERROR(cudaMemset(d_tot, 0, sizeof(long long)));
    block_sums<<<300, 480>>>(d_in, n, d_tot);
    HANDLE_ERROR(cudaGetLastError());
    HANDLE_ERROR(cudaMemcpy(&tot, d_tot, sizeof tot, cudaMemcpyDeviceToHost));
    printf("sum %lld %s\n", tot, tot == want ? "ok" : "mismatch");
    for (int v = 0; v < 2; v++) {
        HANDLE_ERROR(cudaMemset(d_ctr, 0, sizeof(int)));
        if (v == 0) filter_plain<<<(n + 255) / 256, 256>>>(d_in, n, limit, d_out, d_ctr);
        else filter_aggregated<<<640, 320>>>(d_in, n, limit, d_out, d_ctr);
        HANDLE_ERROR(cudaGetLastError());
        int c;
        HANDLE_ERROR(cudaMemcpy(&c, d_ctr, sizeof(int), cudaMemcpyDeviceToHost));
        HANDLE_ERROR(cudaMemset(d_tot, 0, sizeof(long long)));
        block_sums<<<132, 1024>>>(d_out, c, d_tot);
        HANDLE_ERROR(cudaGetLastError());
        HANDLE_ERROR(cudaMemcpy(&tot, d_tot, sizeof tot, cudaMemcpyDeviceToHost));
        printf("filter %d: %d items, sum %lld %s\n", v, c, tot, c == want_c && tot == want_f ? "ok" : "mismatch");
    }
    HANDLE_ERROR(cudaMemset(d_ctr, 0, (2 * buckets + 1) * sizeof(int)));
    const int nb = 900000;
    bucket_sums<<<(nb + 127) / 128, 128>>>(d_in, nb, d_ctr, d_ctr + buckets, buckets);
    HANDLE_ERROR(cudaGetLastError());
    std::vector<int> bk(2 * buckets);
    HANDLE_ERROR(cudaMemcpy(bk.data(), d_ctr, bk.size() * sizeof(int), cudaMemcpyDeviceToHost));
    printf("buckets %016llx\n", fnv(bk.data(), bk.size() * sizeof(int)));

    // ---- Jacobi
    int jx = 901, jy = 655, iters = 40;
    std::vector<float> u(jx * jy, 0.0f), f(jx * jy);
    for (int i = 0; i < jx * jy; i++) f[i] = ((i % jx) / 50 + (i / jx) / 40) % 3 == 0 ? 0.01f : -0.003f;
    for (int x = 0; x < jx; x++) u[x] = 1.0f + (x % 10) * 0.1f;
    float *d_u0, *d_u1, *d_f;
    HANDLE_ERROR(cudaMalloc(&d_u0, u.size() * sizeof(float)));
    HANDLE_ERROR(cudaMalloc(&d_u1, u.size() * sizeof(float)));
    HANDLE_ERROR(cudaMalloc(&d_f, u.size() * sizeof(float)));
    HANDLE_ERROR(cudaMemcpy(d_u0, u.data(), u.size() * sizeof(float), cudaMemcpyHostToDevice));
    HANDLE_ERROR(cudaMemcpy(d_u1, u.data(), u.size() * sizeof(float), cudaMemcpyHostToDevice));
    HANDLE_ERROR(cudaMemcpy(d_f, f.data(), u.size() * sizeof(float), cudaMemcpyHostToDevice));
    void *jargs[] = {&d_u0, &d_u1, &d_f, &jx, &jy, &iters};
    HANDLE_ERROR(cudaLaunchCooperativeKernel((const void *)jacobi, dim3(coop_blocks((const void *)jacobi, 512, 396)), dim3(512), jargs, 0, 0));
    HANDLE_ERROR(cudaMemcpy(u.data(), iters % 2 ? d_u1 : d_u0, u.size() * sizeof(float), cudaMemcpyDeviceToHost));
    printf("jacobi %016llx\n", fnv(u.data(), u.size() * sizeof(float)));

    // ---- conjugate gradients
    int cx = 403, cy = 322, maxit = 30;
    double shift = 0.05, tol = 1e-16;
    const int cn = cx * cy;
    std::vector<double> rhs(cn), x(cn);
    for (int i = 0; i < cn; i++) rhs[i] = ((i * 7) % 31 - 15) * 0.125;
    double *d_x, *d_r, *d_p, *d_ap, *d_part, *d_res, res[2];
    HANDLE_ERROR(cudaMalloc(&d_x, cn * sizeof(double)));
    HANDLE_ERROR(cudaMalloc(&d_r, cn * sizeof(double)));
    HANDLE_ERROR(cudaMalloc(&d_p, cn * sizeof(double)));
    HANDLE_ERROR(cudaMalloc(&d_ap, cn * sizeof(double)));
    HANDLE_ERROR(cudaMalloc(&d_res, 2 * sizeof(double)));
    HANDLE_ERROR(cudaMemcpy(d_r, rhs.data(), cn * sizeof(double), cudaMemcpyHostToDevice));
    int blocks = coop_blocks((const void *)cg_solve, CG_THREADS, 120);
    HANDLE_ERROR(cudaMalloc(&d_part, blocks * sizeof(double)));
    void *cargs[] = {&d_x, &d_r, &d_p, &d_ap, &cx, &cy, &shift, &maxit, &tol, &d_part, &d_res};
    HANDLE_ERROR(cudaLaunchCooperativeKernel((const void *)cg_solve, dim3(blocks), dim3(CG_THREADS), cargs, 0, 0));
    HANDLE_ERROR(cudaMemcpy(x.data(), d_x, cn * sizeof(double), cudaMemcpyDeviceToHost));
    HANDLE_ERROR(cudaMemcpy(res, d_res, sizeof res, cudaMemcpyDeviceToHost));
    double worst = 0.0;
    for (int i = 0; i < cn; i++) {
        double v = (4.0 + shift) * x[i] - rhs[i];
        if (i % cx) v -= x[i - 1];
        if (i % cx < cx - 1) v -= x[i + 1];
        if (i >= cx) v -= x[i - cx];
        if (i + cx < cn) v -= x[i + cx];
        worst += v * v;
    }
    printf("cg: %d iterations, residual %s, %016llx\n", (int)res[1], fabs(worst - res[0]) <= 1e-6 * (1.0 + worst) ? "ok" : "mismatch", fnv(x.data(), cn * sizeof(double)));

    cudaFree(d_a); cudaFree(d_sum); cudaFree(d_arg); cudaFree(d_in); cudaFree(d_out); cudaFree(d_ctr); cudaFree(d_tot);
    cudaFree(d_u0); cudaFree(d_u1); cudaFree(d_f);
    cudaFree(d_x); cudaFree(d_r); cudaFree(d_p); cudaFree(d_ap); cudaFree(d_part); cudaFree(d_res);
    return 0;
}
