// Pure SU(2) gauge theory on a 4-d periodic lattice; links are unit quaternions in double precision.
// Checkerboard Metropolis and overrelaxation, smearing, plaquette, Polyakov loops, Wilson-like hopping term.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define GPU(expr) gpu_assert((expr), #expr, __LINE__)
static void gpu_assert(cudaError_t e, const char* what, int line)
{
    if (e == cudaSuccess) return;
    std::fprintf(stderr, "[%d] %s -> %s\n", line, what, cudaGetErrorString(e));
    std::exit(2);
}

namespace lat {
constexpr int X = 12, Y = 12, Z = 12, T = 20;
constexpr int V = X * Y * Z * T;
}

struct alignas(16) Quat { double a, b, c, d; };

__device__ __forceinline__ Quat operator*(const Quat& p, const Quat& q)
{
    return { p.a * q.a - p.b * q.b - p.c * q.c - p.d * q.d,
             p.a * q.b + p.b * q.a + p.c * q.d - p.d * q.c,
             p.a * q.c - p.b * q.d + p.c * q.a + p.d * q.b,
             p.a * q.d + p.b * q.c - p.c * q.b + p.d * q.a };
}
__device__ __forceinline__ Quat operator+(const Quat& p, const Quat& q) { return { p.a + q.a, p.b + q.b, p.c + q.c, p.d + q.d }; }
__device__ __forceinline__ Quat dag(const Quat& q) { return { q.a, -q.b, -q.c, -q.d }; }
__device__ __forceinline__ Quat scale(const Quat& q, double s) { return { q.a * s, q.b * s, q.c * s, q.d * s }; }
__device__ __forceinline__ double norm2(const Quat& q) { return q.a * q.a + q.b * q.b + q.c * q.c + q.d * q.d; }
__device__ __forceinline__ Quat unit(const Quat& q) { return scale(q, 1.0 / sqrt(norm2(q))); }

// 32 byte links are moved as two 16 byte accesses
__device__ __forceinline__ Quat ldq(const Quat* p)
{
    const double2* d = reinterpret_cast<const double2*>(p);
    double2 u = d[0], v = d[1];
    return { u.x, u.y, v.x, v.y };
}
__device__ __forceinline__ void stq(Quat* p, const Quat& q)
{
    double2* d = reinterpret_cast<double2*>(p);
    d[0] = make_double2(q.a, q.b);
    d[1] = make_double2(q.c, q.d);
}

struct Site { int x[4]; };
__device__ __forceinline__ Site unpack(int s)
{
    Site r;
    r.x[0] = s % lat::X; s /= lat::X;
    r.x[1] = s % lat::Y; s /= lat::Y;
    r.x[2] = s % lat::Z;
    r.x[3] = s / lat::Z;
    return r;
}
__device__ __forceinline__ int pack(const Site& s) { return ((s.x[3] * lat::Z + s.x[2]) * lat::Y + s.x[1]) * lat::X + s.x[0]; }
__device__ __forceinline__ int extent(int mu) { return mu == 3 ? lat::T : lat::X; } // X == Y == Z
__device__ __forceinline__ Site up(Site s, int mu)
{
#pragma unroll
    for (int k = 0; k < 4; ++k) if (k == mu) s.x[k] = (s.x[k] + 1 == extent(k)) ? 0 : s.x[k] + 1;
    return s;
}
__device__ __forceinline__ Site dn(Site s, int mu)
{
#pragma unroll
    for (int k = 0; k < 4; ++k) if (k == mu) s.x[k] = (s.x[k] == 0) ? extent(k) - 1 : s.x[k] - 1;
    return s;
}
// links: direction-major
__device__ __forceinline__ int link(int site, int mu) { return mu * lat::V + site; }

__device__ __forceinline__ uint64_t rng64(uint64_t k)
{
    k ^= k >> 33; k *= 0xff51afd7ed558ccdULL;
    k ^= k >> 33; k *= 0xc4ceb9fe1a85ec53ULL;
    return k ^ (k >> 33);
}
__device__ __forceinline__ double uni(uint64_t& st)
{
    st += 0x9e3779b97f4a7c15ULL;
    return double(rng64(st) >> 11) * (1.0 / 9007199254740992.0);
}

__global__ void hot_start(Quat* U)
{
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= 4 * lat::V) return;
    uint64_t st = rng64(0x5eed + l);
    Quat q = { 1.2 + uni(st), uni(st) - 0.5, uni(st) - 0.5, uni(st) - 0.5 };
    stq(U + l, unit(q));
}

// sum of the six staples around link (s, mu), oriented so that Re tr(U * staple) is the local action
__device__ Quat staples(const Quat* __restrict__ U, const Site& s, int mu)
{
    Quat sum = { 0, 0, 0, 0 };
    const Site smu = up(s, mu);
    const int i_s = pack(s), i_smu = pack(smu);
    for (int nu = 0; nu < 4; ++nu) {
        if (nu == mu) continue;
        const int i_snu = pack(up(s, nu));
        const Site low = dn(s, nu);
        const int i_low = pack(low), i_lowmu = pack(up(low, mu));
        sum = sum + ldq(U + link(i_smu, nu)) * dag(ldq(U + link(i_snu, mu))) * dag(ldq(U + link(i_s, nu)));
        sum = sum + dag(ldq(U + link(i_lowmu, nu))) * dag(ldq(U + link(i_low, mu))) * ldq(U + link(i_low, nu));
    }
    return sum;
}

__device__ __forceinline__ Site checkerboard(int t, int parity)
{
    Site s = unpack(2 * t); // X is even: 2t has an even x
    int odd = (s.x[1] + s.x[2] + s.x[3] + parity) & 1;
    s.x[0] += odd;
    return s;
}

__global__ void __launch_bounds__(128) metropolis(Quat* U, int mu, int parity, double beta, int hits, uint64_t seed, unsigned* accepted)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int acc = 0;
    if (t < lat::V / 2) {
        Site s = checkerboard(t, parity);
        int id = link(pack(s), mu);
        Quat A = staples(U, s, mu);
        Quat u = ldq(U + id);
        uint64_t st = rng64(seed * 0x100000001ULL + id);
        double cur = (u * A).a;
        for (int h = 0; h < hits; ++h) {
            Quat e = unit(Quat{ 1.0, 0.8 * (uni(st) - 0.5), 0.8 * (uni(st) - 0.5), 0.8 * (uni(st) - 0.5) });
            Quat n = e * u;
            double nw = (n * A).a;
            double r = uni(st);
            if (r < exp(beta * (nw - cur))) { u = n; cur = nw; ++acc; }
        }
        stq(U + id, u);
    }
    acc = __reduce_add_sync(0xffffffffu, acc);
    if ((threadIdx.x & 31) == 0 && acc) atomicAdd(accepted, unsigned(acc));
}

__global__ void __launch_bounds__(128) overrelax(Quat* U, int mu, int parity)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= lat::V / 2) return;
    Site s = checkerboard(t, parity);
    int id = link(pack(s), mu);
    Quat A = staples(U, s, mu);
    double n2 = norm2(A);
    if (n2 > 1e-12) {
        Quat g = unit(A);
        stq(U + id, unit(dag(g) * dag(ldq(U + id)) * dag(g)));
    }
}

__global__ void ape_smear(const Quat* __restrict__ U, Quat* __restrict__ W, double alpha)
{
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= 4 * lat::V) return;
    int mu = l / lat::V;
    Site s = unpack(l - mu * lat::V);
    Quat A = dag(staples(U, s, mu));
    stq(W + l, unit(scale(ldq(U + l), 1.0 - alpha) + scale(A, alpha / 6.0)));
}

// one double per site (mean of six plaquettes), then a tree in shared memory
__global__ void __launch_bounds__(192) plaquette(const Quat* __restrict__ U, double* __restrict__ block_sum)
{
    __shared__ double sh[192];
    double p = 0.0;
    int i = blockIdx.x * 192 + threadIdx.x;
    if (i < lat::V) {
        Site s = unpack(i);
#pragma unroll
        for (int mu = 0; mu < 3; ++mu) {
            int im = pack(up(s, mu));
            Quat um = ldq(U + link(i, mu));
#pragma unroll
            for (int nu = mu + 1; nu < 4; ++nu) {
                int in = pack(up(s, nu));
                Quat a = um * ldq(U + link(im, nu));
                Quat b = ldq(U + link(i, nu)) * ldq(U + link(in, mu));
                p += a.a * b.a + a.b * b.b + a.c * b.c + a.d * b.d; // Re tr(a b^+)/2
            }
        }
    }
    sh[threadIdx.x] = p;
    __syncthreads();
    for (int n = 192; n > 3; n >>= 1) {
        if (threadIdx.x < n / 2) sh[threadIdx.x] += sh[threadIdx.x + n / 2];
        __syncthreads();
    }
    if (threadIdx.x == 0) block_sum[blockIdx.x] = sh[0] + sh[1] + sh[2];
}

struct alignas(16) Cplx { double re, im; };
__device__ __forceinline__ void cmac(Cplx& o, const Cplx& x, const Cplx& y)
{
    o.re += x.re * y.re - x.im * y.im;
    o.im += x.re * y.im + x.im * y.re;
}

// staggered-type hopping term, 2 colours x 4 right hand sides per site, complex arithmetic
__global__ void __launch_bounds__(128) hopping(const Quat* __restrict__ U, const Cplx* __restrict__ in, Cplx* __restrict__ out, double mass)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lat::V) return;
    Site s = unpack(i);
    for (int rhs = 0; rhs < 4; ++rhs) {
        const Cplx* src = in + size_t(rhs) * 2 * lat::V;
        Cplx r0 = { mass * src[i].re, mass * src[i].im };
        Cplx r1 = { mass * src[lat::V + i].re, mass * src[lat::V + i].im };
        int phase = 0;
#pragma unroll
        for (int mu = 0; mu < 4; ++mu) {
            const double eta = (phase & 1) ? -0.5 : 0.5;
            phase += s.x[mu];
            int f = pack(up(s, mu)), b = pack(dn(s, mu));
#pragma unroll
            for (int dir = 0; dir < 2; ++dir) {
                Quat q = dir == 0 ? ldq(U + link(i, mu)) : dag(ldq(U + link(b, mu)));
                const double e = dir == 0 ? eta : -eta;
                int n = dir == 0 ? f : b;
                Cplx p0 = src[n], p1 = src[lat::V + n];
                p0.re *= e; p0.im *= e; p1.re *= e; p1.im *= e;
                // U = a + i(b s1 + c s2 + d s3)
                cmac(r0, Cplx{ q.a, q.d }, p0);
                cmac(r0, Cplx{ q.c, q.b }, p1);
                cmac(r1, Cplx{ -q.c, q.b }, p0);
                cmac(r1, Cplx{ q.a, -q.d }, p1);
            }
        }
        out[size_t(rhs) * 2 * lat::V + i] = r0;
        out[size_t(rhs) * 2 * lat::V + lat::V + i] = r1;
    }
}

static uint64_t fold(uint64_t h, double v)
{
    return (h ^ uint64_t(std::llrint(v * 1e8))) * 1099511628211ULL;
}

int main()
{
    using lat::V;
    Quat *U, *W;
    Cplx *psi, *chi;
    double* d_sum;
    unsigned* d_acc;
    const int pb = (V + 191) / 192;
    GPU(cudaMalloc(&U, sizeof(Quat) * 4 * V));
    GPU(cudaMalloc(&W, sizeof(Quat) * 4 * V));
    GPU(cudaMalloc(&psi, sizeof(Cplx) * 8 * V));
    GPU(cudaMalloc(&chi, sizeof(Cplx) * 8 * V));
    GPU(cudaMalloc(&d_sum, sizeof(double) * pb));
    GPU(cudaMalloc(&d_acc, sizeof(unsigned)));
    GPU(cudaMemset(d_acc, 0, sizeof(unsigned)));

    hot_start<<<(4 * V + 255) / 256, 256>>>(U);
    GPU(cudaGetLastError());

    std::vector<double> sums(pb);
    auto measure = [&](const char* tag, const Quat* links) {
        plaquette<<<pb, 192>>>(links, d_sum);
        GPU(cudaGetLastError());
        GPU(cudaMemcpy(sums.data(), d_sum, sizeof(double) * pb, cudaMemcpyDeviceToHost));
        double s = 0;
        for (double v : sums) s += v;
        std::printf("%-10s <P> = %.10f\n", tag, s / (6.0 * V));
    };

    const int half_blocks = (V / 2 + 127) / 128;
    measure("start", U);
    for (int mu = 0; mu < 4; ++mu)
        for (int par = 0; par < 2; ++par) {
            metropolis<<<half_blocks, 128>>>(U, mu, par, 2.3, 3, 17, d_acc);
            GPU(cudaGetLastError());
        }
    measure("metropolis", U);
    for (int mu = 0; mu < 4; ++mu)
        for (int par = 0; par < 2; ++par) {
            overrelax<<<half_blocks, 128>>>(U, mu, par);
            GPU(cudaGetLastError());
        }
    measure("overrelax", U);
    ape_smear<<<(4 * V + 127) / 128, 128>>>(U, W, 0.5);
    GPU(cudaGetLastError());
    measure("smeared", W);

    std::vector<Cplx> h(8 * size_t(V));
    uint32_t lcg = 12345;
    for (auto& c : h) {
        lcg = lcg * 1664525u + 1013904223u; c.re = (lcg >> 8) / 16777216.0 - 0.5;
        lcg = lcg * 1664525u + 1013904223u; c.im = (lcg >> 8) / 16777216.0 - 0.5;
    }
    GPU(cudaMemcpy(psi, h.data(), sizeof(Cplx) * h.size(), cudaMemcpyHostToDevice));
    hopping<<<(V + 127) / 128, 128>>>(W, psi, chi, 0.1);
    GPU(cudaGetLastError());
    hopping<<<(V + 127) / 128, 128>>>(W, chi, psi, 0.1);
    GPU(cudaGetLastError());
    GPU(cudaMemcpy(h.data(), psi, sizeof(Cplx) * h.size(), cudaMemcpyDeviceToHost));

    std::vector<Quat> hu(4 * size_t(V));
    GPU(cudaMemcpy(hu.data(), U, sizeof(Quat) * hu.size(), cudaMemcpyDeviceToHost));
    unsigned acc = 0;
    GPU(cudaMemcpy(&acc, d_acc, sizeof acc, cudaMemcpyDeviceToHost));

    uint64_t k = 14695981039346656037ULL, l = k;
    double drift = 0;
    for (auto& q : hu) {
        k = fold(fold(fold(fold(k, q.a), q.b), q.c), q.d);
        drift = std::fmax(drift, std::fabs(q.a * q.a + q.b * q.b + q.c * q.c + q.d * q.d - 1.0));
    }
    for (auto& c : h) l = fold(fold(l, c.re), c.im);
    std::printf("accepted %u of %d, unitarity %s\n", acc, 12 * V, drift < 1e-13 ? "ok" : "LOST");
    std::printf("links %016llx fermion %016llx\n", (unsigned long long)k, (unsigned long long)l);
    GPU(cudaFree(U)); GPU(cudaFree(W)); GPU(cudaFree(psi)); GPU(cudaFree(chi)); GPU(cudaFree(d_sum)); GPU(cudaFree(d_acc));
    return 0;
}
