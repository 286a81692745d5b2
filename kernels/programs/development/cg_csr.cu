/*
 * Jacobi preconditioned conjugate gradients on a symmetric graph-Laplacian-like matrix in CSR form.
 * All scalars (alpha, beta, rho) stay on the device; reductions are two-stage.
 */
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <iomanip>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

inline void ck(cudaError_t e, const char* what)
{
    if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}
#define LAUNCHED(name) ck(cudaGetLastError(), name)

template <class T>
class DeviceVector {
public:
    explicit DeviceVector(size_t n) : n_(n) { ck(cudaMalloc(&p_, n * sizeof(T)), "cudaMalloc"); }
    explicit DeviceVector(const std::vector<T>& h) : DeviceVector(h.size())
    {
        ck(cudaMemcpy(p_, h.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), "upload");
    }
    ~DeviceVector() { cudaFree(p_); }
    DeviceVector(const DeviceVector&) = delete;
    DeviceVector& operator=(const DeviceVector&) = delete;
    T* get() { return p_; }
    std::vector<T> host() const
    {
        std::vector<T> h(n_);
        ck(cudaMemcpy(h.data(), p_, n_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
        return h;
    }
private:
    T* p_ = nullptr;
    size_t n_;
};

struct Scalars { double rho, rho_new, pq, alpha, beta; };

constexpr int kBlock = 256;
constexpr int kPartials = 528;

__device__ double block_sum(double v)
{
    __shared__ double warp[kBlock / 32];
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if ((threadIdx.x & 31) == 0) warp[threadIdx.x >> 5] = v;
    __syncthreads();
    v = (threadIdx.x < kBlock / 32) ? warp[threadIdx.x] : 0.0;
    if (threadIdx.x < 32) {
#pragma unroll
        for (int o = kBlock / 64; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    }
    return v;
}

// The textbook one: a thread per row.
__global__ void spmv_scalar(int n, const int* __restrict__ ptr, const int* __restrict__ col,
                            const double* __restrict__ val, const double* __restrict__ x, double* __restrict__ y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        double s = 0.0;
        for (int k = ptr[row]; k < ptr[row + 1]; k++) s += val[k] * x[col[k]];
        y[row] = s;
    }
}

// LANES cooperating threads per row.
template <int LANES>
__global__ void spmv_vector(int n, const int* __restrict__ ptr, const int* __restrict__ col,
                            const double* __restrict__ val, const double* __restrict__ x, double* __restrict__ y)
{
    const int lane = threadIdx.x & (LANES - 1);
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    double s = 0.0;
    if (row < n) {
        const int end = ptr[row + 1];
        for (int k = ptr[row] + lane; k < end; k += LANES) s = fma(val[k], __ldg(x + col[k]), s);
    }
#pragma unroll
    for (int o = LANES / 2; o > 0; o >>= 1) s += __shfl_down_sync(~0u, s, o, LANES);
    if (row < n && lane == 0) y[row] = s;
}

__global__ void __launch_bounds__(kBlock) dot_stage1(int n, const double* __restrict__ a, const double* __restrict__ b,
                                                     double* __restrict__ partial)
{
    double s = 0.0;
    for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) s += a[i] * b[i];
    s = block_sum(s);
    if (threadIdx.x == 0) partial[blockIdx.x] = s;
}

enum class Stage { InitRho, Alpha, Beta };

template <Stage S>
__global__ void __launch_bounds__(kBlock) dot_stage2(const double* __restrict__ partial, int m, Scalars* sc)
{
    double s = 0.0;
    for (int i = threadIdx.x; i < m; i += kBlock) s += partial[i];
    s = block_sum(s);
    if (threadIdx.x == 0) {
        if constexpr (S == Stage::InitRho) {
            sc->rho = s;
        } else if constexpr (S == Stage::Alpha) {
            sc->pq = s;
            sc->alpha = sc->rho / s;
        } else {
            sc->rho_new = s;
            sc->beta = s / sc->rho;
            sc->rho = s;
        }
    }
}

// x += alpha p, r -= alpha q, z = D^-1 r and the partial sums of r.z, all in one pass
__global__ void __launch_bounds__(kBlock) update_xrz(int n, const Scalars* __restrict__ sc, const double* __restrict__ p,
                                                     const double* __restrict__ q, const double* __restrict__ dinv,
                                                     double* __restrict__ x, double* __restrict__ r,
                                                     double* __restrict__ z, double* __restrict__ partial)
{
    const double alpha = sc->alpha;
    double s = 0.0;
    for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) {
        x[i] = fma(alpha, p[i], x[i]);
        const double ri = fma(-alpha, q[i], r[i]);
        const double zi = dinv[i] * ri;
        r[i] = ri;
        z[i] = zi;
        s = fma(ri, zi, s);
    }
    s = block_sum(s);
    if (threadIdx.x == 0) partial[blockIdx.x] = s;
}

// vectorised p = z + beta p, two elements at a time (n is padded to an even number)
__global__ void update_p(int n2, const Scalars* __restrict__ sc, const double2* __restrict__ z, double2* __restrict__ p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n2) return;
    const double beta = sc->beta;
    double2 a = z[i], b = p[i];
    b.x = fma(beta, b.x, a.x);
    b.y = fma(beta, b.y, a.y);
    p[i] = b;
}

uint64_t splitmix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

} // namespace

int main()
try {
    const int nx = 383, ny = 391, n = nx * ny, npad = n + (n & 1);

    // grid edges plus hashed long range edges; a few hubs get many of them
    std::vector<std::vector<std::pair<int, double>>> adj(n);
    auto add = [&](int a, int b, double w) {
        if (a == b) return;
        adj[a].push_back({b, -w});
        adj[b].push_back({a, -w});
    };
    for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i) {
            int c = j * nx + i;
            double w = 0.5 + double(splitmix(c) >> 40) / double(1 << 24);
            if (i + 1 < nx) add(c, c + 1, w);
            if (j + 1 < ny) add(c, c + nx, 1.5 - 0.5 * w);
        }
    for (int e = 0; e < n; ++e) {
        uint64_t h = splitmix(0xabcdef12345ULL + e);
        int a = int(h % n), b = int((h >> 32) % n);
        if (e % 16 == 0) a = int(splitmix(h) % 97) * 1531 % n; // hubs
        add(a, b, 0.05);
    }
    std::vector<int> ptr(n + 1, 0), col;
    std::vector<double> val, dinv(npad, 0.0), rhs(npad, 0.0);
    int longest = 0;
    for (int r = 0; r < n; ++r) {
        auto& row = adj[r];
        std::stable_sort(row.begin(), row.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
        double d = 0.02;
        for (auto& e : row) d -= e.second;
        bool placed = false;
        for (auto& e : row) {
            if (!placed && e.first > r) { col.push_back(r); val.push_back(d); placed = true; }
            if (int(col.size()) > ptr[r] && col.back() == e.first) val.back() += e.second; // merge duplicates
            else { col.push_back(e.first); val.push_back(e.second); }
        }
        if (!placed) { col.push_back(r); val.push_back(d); }
        ptr[r + 1] = int(col.size());
        longest = std::max(longest, ptr[r + 1] - ptr[r]);
        dinv[r] = 1.0 / d;
        rhs[r] = double(int64_t(splitmix(r * 7919ULL) >> 11)) / 9007199254740992.0 - 0.5;
    }
    std::vector<double> z0(npad, 0.0), zero(npad, 0.0);
    for (int i = 0; i < n; ++i) z0[i] = dinv[i] * rhs[i];

    DeviceVector<int> d_ptr(ptr), d_col(col);
    DeviceVector<double> d_val(val), d_dinv(dinv), x(zero), r(rhs), z(z0), p(z0), q(zero), part(kPartials);
    DeviceVector<double> b(rhs);
    DeviceVector<Scalars> sc(1);

    const int vec_grid = (n * 8 + kBlock - 1) / kBlock;
    const int row_grid = (n + kBlock - 1) / kBlock;
    const int iterations = 10;

    dot_stage1<<<kPartials, kBlock>>>(n, r.get(), z.get(), part.get()); LAUNCHED("dot_stage1");
    dot_stage2<Stage::InitRho><<<1, kBlock>>>(part.get(), kPartials, sc.get()); LAUNCHED("dot_stage2");
    std::cout << "rows " << n << " nnz " << col.size() << " longest row " << longest << "\n";
    for (int it = 0; it < iterations; ++it) {
        spmv_vector<8><<<vec_grid, kBlock>>>(n, d_ptr.get(), d_col.get(), d_val.get(), p.get(), q.get());
        LAUNCHED("spmv_vector");
        dot_stage1<<<kPartials, kBlock>>>(n, p.get(), q.get(), part.get()); LAUNCHED("dot_stage1");
        dot_stage2<Stage::Alpha><<<1, kBlock>>>(part.get(), kPartials, sc.get()); LAUNCHED("dot_stage2");
        update_xrz<<<kPartials, kBlock>>>(n, sc.get(), p.get(), q.get(), d_dinv.get(), x.get(), r.get(), z.get(), part.get());
        LAUNCHED("update_xrz");
        dot_stage2<Stage::Beta><<<1, kBlock>>>(part.get(), kPartials, sc.get()); LAUNCHED("dot_stage2");
        update_p<<<(npad / 2 + 127) / 128, 128>>>(npad / 2, sc.get(), reinterpret_cast<const double2*>(z.get()),
                                                  reinterpret_cast<double2*>(p.get()));
        LAUNCHED("update_p");
        if (it % 3 == 2) {
            Scalars s = sc.host()[0];
            std::cout << "it " << it << " rz " << std::setprecision(9) << s.rho << "\n";
        }
    }
    // true residual with the naive kernel
    spmv_scalar<<<row_grid, kBlock>>>(n, d_ptr.get(), d_col.get(), d_val.get(), x.get(), q.get());
    LAUNCHED("spmv_scalar");
    ck(cudaDeviceSynchronize(), "sync");

    auto hx = x.host(), hq = q.host(), hr = r.host();
    double worst = 0;
    uint64_t h = 0xcbf29ce484222325ULL;
    for (int i = 0; i < n; ++i) {
        worst = std::max(worst, std::fabs(rhs[i] - hq[i] - hr[i]));
        h = (h ^ uint64_t(std::llrint(hx[i] * 1e8))) * 0x100000001b3ULL;
    }
    std::cout << "recurrence drift " << (worst < 1e-10 ? "ok" : "BAD") << "\n";
    std::cout << "x hash " << std::hex << h << std::endl;
    return 0;
} catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << std::endl;
    return 1;
}
