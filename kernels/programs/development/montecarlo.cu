// Monte Carlo collection: multigroup neutron slab transport, delta tracking in
// a voxel map, trapped random walks, site percolation, heat-bath Ising.
// Philox4x32-10 and xorshift generators written out by hand.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK_CUDA(c)                                                                     \
    {                                                                                     \
        cudaError_t s_ = (c);                                                             \
        if (s_ != cudaSuccess) {                                                          \
            fprintf(stderr, "%s failed: %s (line %d)\n", #c, cudaGetErrorString(s_), __LINE__); \
            exit(1);                                                                      \
        }                                                                                 \
    }

typedef unsigned long long ull;

// ------------------------------------------------------------------ RNGs
struct Philox {
    uint32_t key0, key1;
    uint4 ctr, out;
    int left;
    __device__ Philox(uint32_t seed, uint32_t stream, uint32_t sub = 0)
        : key0(seed), key1(0xcaffe171u), ctr(make_uint4(0, sub, stream, 0)), out(make_uint4(0, 0, 0, 0)), left(0) {}
    __device__ void refill()
    {
        uint4 c = ctr;
        uint32_t k0 = key0, k1 = key1;
#pragma unroll
        for (int r = 0; r < 10; r++) {
            uint32_t h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
            uint32_t h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
            c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        out = c;
        ctr.x++;
        left = 4;
    }
    __device__ uint32_t next()
    {
        if (left == 0) refill();
        uint32_t r = out.x;
        out.x = out.y; out.y = out.z; out.z = out.w;
        left--;
        return r;
    }
    __device__ float uniform() { return ((next() >> 8) + 0.5f) * (1.0f / 16777216.0f); }   // (0,1)
};

__device__ inline uint32_t xorshift(uint32_t &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
__device__ inline uint32_t scramble(uint32_t x) { x = (x ^ 61) ^ (x >> 16); x *= 9; x ^= x >> 4; x *= 0x27d4eb2d; return x ^ (x >> 15); }

// ------------------------------------------------------------------ slab transport
constexpr int GROUPS = 3, CELLS = 96;
struct Material { float total[GROUPS], absorb[GROUPS], down[GROUPS]; };   // absorb, down: probabilities per collision
__constant__ Material c_mat[2];
enum { T_LEFT, T_RIGHT, T_ABS, T_COLL, T_N };

__global__ void slab(int histories, float width, ull *tally, unsigned *absCell)
{
    __shared__ unsigned sAbs[CELLS];
    for (int i = threadIdx.x; i < CELLS; i += blockDim.x) sAbs[i] = 0;
    __syncthreads();
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int left = 0, right = 0, absd = 0, coll = 0;
    if (id < histories) {
        Philox rng(2024u, (uint32_t)id);
        float x = 0.0f, mu = sqrtf(rng.uniform());
        int g = 0;
        bool alive = true;
        while (alive) {
            int m = x >= 0.3f * width && x < 0.7f * width;       // absorber-rich core
            float d = -logf(rng.uniform()) / c_mat[m].total[g];
            float lo = m ? 0.3f * width : (x < 0.5f * width ? 0.0f : 0.7f * width);
            float hi = m ? 0.7f * width : (x < 0.5f * width ? 0.3f * width : width);
            float nx = x + d * mu;
            if (nx >= hi) {                                       // stop at the interface and resample
                x = hi;
                if (hi >= width) { right++; alive = false; }
                continue;
            }
            if (nx < lo) {
                x = lo - 1e-5f;
                if (lo <= 0.0f) { left++; alive = false; }
                continue;
            }
            x = nx;
            coll++;
            if (rng.uniform() < c_mat[m].absorb[g]) {
                absd++;
                atomicAdd(&sAbs[min((int)(x / width * CELLS), CELLS - 1)], 1u);
                alive = false;
            } else {
                mu = 2.0f * rng.uniform() - 1.0f;
                if (fabsf(mu) < 1e-4f) mu = 1e-4f;
                if (g + 1 < GROUPS && rng.uniform() < c_mat[m].down[g]) g++;
            }
        }
    }
    left = __reduce_add_sync(~0u, left); right = __reduce_add_sync(~0u, right);
    absd = __reduce_add_sync(~0u, absd); coll = __reduce_add_sync(~0u, coll);
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(tally + T_LEFT, (ull)left); atomicAdd(tally + T_RIGHT, (ull)right);
        atomicAdd(tally + T_ABS, (ull)absd); atomicAdd(tally + T_COLL, (ull)coll);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < CELLS; i += blockDim.x) if (sAbs[i]) atomicAdd(absCell + i, sAbs[i]);
}

// ------------------------------------------------------------------ Woodcock tracking in a voxel map
constexpr int VOX = 133;
__global__ void woodcock(const uint8_t *map, int photons, unsigned *dose, unsigned *escaped)
{
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < photons; p += gridDim.x * blockDim.x) {
        uint32_t s = scramble(p + 1) | 1u;
        float x = VOX * 0.5f, y = VOX * 0.5f, ux, uy;
        int events = 0;
        bool newdir = true;
        ux = uy = 0.0f;
        while (true) {
            if (newdir) {                              // rejection sampling of a direction
                float r2;
                do {
                    ux = (xorshift(s) >> 8) * (2.0f / 16777216.0f) - 1.0f;
                    uy = (xorshift(s) >> 8) * (2.0f / 16777216.0f) - 1.0f;
                    r2 = ux * ux + uy * uy;
                } while (r2 > 1.0f || r2 < 1e-4f);
                float inv = 1.0f / sqrtf(r2);
                ux *= inv; uy *= inv;
                newdir = false;
            }
            float d = -logf(((xorshift(s) >> 8) + 0.5f) * (1.0f / 16777216.0f)) * 6.0f;
            x += d * ux; y += d * uy;
            if (x < 0 || y < 0 || x >= VOX || y >= VOX) { atomicAdd(escaped, 1u); break; }
            int v = (int)y * VOX + (int)x;
            uint32_t r = xorshift(s) & 255;
            if (r >= map[v]) continue;                 // virtual collision
            atomicAdd(dose + v, 1u);
            if ((xorshift(s) & 15) == 0 || ++events > 60) break;
            newdir = true;
        }
    }
}

// ------------------------------------------------------------------ random walks among traps
__global__ void walks(int n, int maxSteps, unsigned *hist)
{
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= n) return;
    uint32_t s = scramble(w * 2654435761u + 7) | 1u;
    int x = 0, y = 0, z = 0, t = 0;
    while (t < maxSteps) {
        uint32_t r = xorshift(s) >> 16;
        int dir = r % 6;
        if (dir == 0) x++; else if (dir == 1) x--; else if (dir == 2) y++;
        else if (dir == 3) y--; else if (dir == 4) z++; else z--;
        t++;
        if (scramble(x * 73856093u ^ y * 19349663u ^ z * 83492791u) % 47 == 0) break;
    }
    atomicAdd(hist + (t < maxSteps ? t / 4 : maxSteps / 4), 1u);
}

// ------------------------------------------------------------------ site percolation: one trial per block
constexpr int PL = 44;
__global__ void percolate(uint32_t seed, uint32_t threshold, unsigned *spanning, unsigned *wetTotal)
{
    __shared__ uint8_t st[PL + 2][PL + 2];             // 0 closed, 1 open, 2 wet
    __shared__ unsigned wet, bottom;
    for (int i = threadIdx.x; i < (PL + 2) * (PL + 2); i += blockDim.x) (&st[0][0])[i] = 0;
    if (threadIdx.x == 0) { wet = 0; bottom = 0; }
    __syncthreads();
    Philox rng(seed, blockIdx.x, threadIdx.x);
    for (int i = threadIdx.x; i < PL * PL; i += blockDim.x) {
        int y = i / PL, x = i % PL;
        st[y + 1][x + 1] = rng.next() < threshold ? (y == 0 ? 2 : 1) : 0;
    }
    __syncthreads();
    int changed;
    do {
        changed = 0;
        unsigned mark = 0;                             // up to 32 cells per thread
        int k = 0;
        for (int i = threadIdx.x; i < PL * PL; i += blockDim.x, k++) {
            int y = i / PL + 1, x = i % PL + 1;
            if (st[y][x] == 1 && (st[y - 1][x] == 2 || st[y + 1][x] == 2 || st[y][x - 1] == 2 || st[y][x + 1] == 2)) mark |= 1u << k;
        }
        __syncthreads();
        while (mark) {
            int i = threadIdx.x + (__ffs(mark) - 1) * blockDim.x;
            mark &= mark - 1;
            st[i / PL + 1][i % PL + 1] = 2;
            changed = 1;
        }
    } while (__syncthreads_or(changed));
    for (int i = threadIdx.x; i < PL * PL; i += blockDim.x)
        if (st[i / PL + 1][i % PL + 1] == 2) { atomicAdd(&wet, 1u); if (i / PL == PL - 1) bottom = 1; }
    __syncthreads();
    if (threadIdx.x == 0) { atomicAdd(wetTotal, wet); if (bottom) atomicAdd(spanning, 1u); }
}

// ------------------------------------------------------------------ Ising, checkerboard heat bath
constexpr int LX = 1534, LY = 1022;
__constant__ uint32_t c_up[5];                         // P(up) * 2^32 for neighbour sum -4,-2,0,2,4
__global__ void heatbath(int8_t *spin, int colour, uint32_t sweep)
{
    int hx = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (hx >= LX / 2 || y >= LY) return;
    int x = 2 * hx + ((y + colour) & 1);
    int xm = x ? x - 1 : LX - 1, xp = x + 1 < LX ? x + 1 : 0, ym = y ? y - 1 : LY - 1, yp = y + 1 < LY ? y + 1 : 0;
    int sum = spin[y * LX + xm] + spin[y * LX + xp] + spin[ym * LX + x] + spin[yp * LX + x];
    Philox rng(99u, (uint32_t)(y * LX + x), sweep);
    spin[y * LX + x] = rng.next() < c_up[(sum + 4) >> 1] ? 1 : -1;
}
__global__ void observe(const int8_t *spin, int *out)
{
    __shared__ int sm[2];
    if (threadIdx.x < 2) sm[threadIdx.x] = 0;
    __syncthreads();
    int m = 0, e = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < LX * LY; i += gridDim.x * blockDim.x) {
        int y = i / LX, x = i % LX, s = spin[i];
        m += s;
        e -= s * (spin[y * LX + (x + 1) % LX] + spin[(y + 1) % LY * LX + x]);
    }
    atomicAdd(&sm[0], m);
    atomicAdd(&sm[1], e);
    __syncthreads();
    if (threadIdx.x < 2) atomicAdd(out + threadIdx.x, sm[threadIdx.x]);
}

static ull fnv(const void *p, size_t n)
{
    ull h = 14695981039346656037ull;
    for (size_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)p)[i]) * 1099511628211ull;
    return h;
}
template <class T> static T *zero(size_t n)
{
    T *p;
    CHECK_CUDA(cudaMalloc(&p, n * sizeof(T)));
    CHECK_CUDA(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}
template <class T> static std::vector<T> host(T *p, size_t n)
{
    std::vector<T> v(n);
    CHECK_CUDA(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(p));
    return v;
}

int main()
{
    {   // slab
        Material m[2] = {{{0.9f, 1.3f, 2.1f}, {0.02f, 0.03f, 0.10f}, {0.25f, 0.20f, 0.f}},
                         {{1.1f, 1.7f, 3.0f}, {0.05f, 0.15f, 0.35f}, {0.15f, 0.10f, 0.f}}};
        CHECK_CUDA(cudaMemcpyToSymbol(c_mat, m, sizeof m));
        const int n = 900001;
        ull *t = zero<ull>(T_N);
        unsigned *a = zero<unsigned>(CELLS);
        slab<<<(n + 255) / 256, 256>>>(n, 12.0f, t, a);
        CHECK_CUDA(cudaGetLastError());
        auto ht = host(t, T_N); auto ha = host(a, CELLS);
        printf("slab: left %llu right %llu absorbed %llu collisions %llu cells %016llx %s\n", ht[T_LEFT], ht[T_RIGHT], ht[T_ABS],
               ht[T_COLL], fnv(ha.data(), CELLS * 4), ht[T_LEFT] + ht[T_RIGHT] + ht[T_ABS] == (ull)n ? "ok" : "mismatch");
    }
    {   // voxels
        std::vector<uint8_t> map(VOX * VOX);
        for (int y = 0; y < VOX; y++)
            for (int x = 0; x < VOX; x++) {
                int dx = x - 66, dy = y - 66, r2 = dx * dx + dy * dy;
                map[y * VOX + x] = r2 < 200 ? 90 : r2 < 900 ? 220 : (x / 11 + y / 13) % 3 ? 60 : 150;
            }
        uint8_t *dm = zero<uint8_t>(map.size());
        CHECK_CUDA(cudaMemcpy(dm, map.data(), map.size(), cudaMemcpyHostToDevice));
        unsigned *dose = zero<unsigned>(VOX * VOX), *esc = zero<unsigned>(1);
        woodcock<<<528, 192>>>(dm, 500009, dose, esc);
        CHECK_CUDA(cudaGetLastError());
        auto hd = host(dose, VOX * VOX); auto he = host(esc, 1);
        printf("voxels: escaped %u dose %016llx\n", he[0], fnv(hd.data(), hd.size() * 4));
        CHECK_CUDA(cudaFree(dm));
    }
    {   // walks
        unsigned *h = zero<unsigned>(101);
        walks<<<(600011 + 95) / 96, 96>>>(600011, 400, h);
        CHECK_CUDA(cudaGetLastError());
        auto hh = host(h, 101);
        unsigned tot = 0;
        for (unsigned v : hh) tot += v;
        printf("walks: survivors %u hist %016llx %s\n", hh[100], fnv(hh.data(), 404), tot == 600011 ? "ok" : "mismatch");
    }
    {   // percolation around the threshold
        const double ps[3] = {0.55, 0.5927, 0.63};
        for (int k = 0; k < 3; k++) {
            unsigned *r = zero<unsigned>(2);
            percolate<<<700, 128>>>(31u + k, (uint32_t)(ps[k] * 4294967296.0), r, r + 1);
            CHECK_CUDA(cudaGetLastError());
            auto hr = host(r, 2);
            printf("percolation p=%.4f: %u of 700 span, wet %u\n", ps[k], hr[0], hr[1]);
        }
    }
    {   // Ising slightly below Tc
        uint32_t up[5];
        for (int i = 0; i < 5; i++) { double h = 2.0 * (2 * i - 4) / 2.2; up[i] = (uint32_t)(4294967295.0 / (1.0 + exp(-h))); }
        CHECK_CUDA(cudaMemcpyToSymbol(c_up, up, sizeof up));
        int8_t *s = zero<int8_t>(LX * LY);
        CHECK_CUDA(cudaMemset(s, 1, LX * LY));
        int *o = zero<int>(2);
        dim3 b(64, 4), g((LX / 2 + 63) / 64, (LY + 3) / 4);
        for (int sweep = 0; sweep < 8; sweep++)
            for (int c = 0; c < 2; c++) heatbath<<<g, b>>>(s, c, sweep);
        observe<<<264, 256>>>(s, o);
        CHECK_CUDA(cudaGetLastError());
        auto ho = host(o, 2); auto hs = host(s, LX * LY);
        long m = 0;
        for (int8_t v : hs) m += v;
        printf("ising: m %d e %d spins %016llx %s\n", ho[0], ho[1], fnv(hs.data(), hs.size()), m == ho[0] ? "ok" : "mismatch");
    }
    return 0;
}
