// Stochastic optimisation:
//  * simulated annealing for a quadratic assignment problem, one chain per thread,
//    xorwow generators, matrices and acceptance table in constant memory;
//  * a genetic algorithm on an NK landscape, Philox4x32 counters, warp per individual.
// Everything is integer arithmetic.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
#include <cuda_runtime.h>

#define REQUIRE(x)                                                                        \
    {                                                                                     \
        cudaError_t r__ = (x);                                                            \
        if (r__ != cudaSuccess) {                                                         \
            std::fprintf(stderr, "[%d] %s: %s\n", __LINE__, #x, cudaGetErrorString(r__)); \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    }

// ---------------------------------------------------------------- parameters
constexpr int QN       = 15;        // facilities
constexpr int CHAINS   = 9000;
constexpr int SA_BLOCK = 96;
constexpr int SA_STEPS = 40;        // proposals per launch
constexpr int LEVELS   = 4;         // launches, one temperature each
constexpr int ACC      = 256;

constexpr int BITS     = 160;       // genome: five words
constexpr int WORDS    = BITS / 32;
constexpr int K        = 5;         // epistasis: 6 bits per locus
constexpr int POP      = 10240;
constexpr int GENS     = 8;

__constant__ int8_t   c_flow[QN * QN];
__constant__ int8_t   c_dist[QN * QN];
__constant__ uint32_t c_accept[LEVELS][ACC];      // accept if random < entry
__constant__ uint8_t  c_link[BITS * K];           // neighbours of each locus

struct Xorwow {
    uint32_t x, y, z, w, v, d;
    __device__ uint32_t operator()()
    {
        uint32_t t = x ^ (x >> 2);
        x = y; y = z; z = w; w = v;
        v = (v ^ (v << 4)) ^ (t ^ (t << 1));
        d += 362437u;
        return v + d;
    }
};

__device__ uint4 philox(uint4 ctr, uint2 key)
{
#pragma unroll
    for (int r = 0; r < 10; ++r) {
        uint32_t h0 = __umulhi(0xD2511F53u, ctr.x), l0 = 0xD2511F53u * ctr.x;
        uint32_t h1 = __umulhi(0xCD9E8D57u, ctr.z), l1 = 0xCD9E8D57u * ctr.z;
        ctr = make_uint4(h1 ^ ctr.y ^ key.x, l1, h0 ^ ctr.w ^ key.y, l0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return ctr;
}

__device__ uint64_t splitmix(uint64_t &s)
{
    uint64_t z = (s += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

__device__ int cost_of(const uint8_t *perm, int stride)
{
    int c = 0;
    for (int a = 0; a < QN; ++a) {
        int pa = perm[a * stride];
        for (int b = 0; b < QN; ++b) c += c_flow[a * QN + b] * c_dist[pa * QN + perm[b * stride]];
    }
    return c;
}

// ------------------------------------------------------------ initial states
__global__ void seed_chains(uint32_t *rng, uint8_t *perms, int *cost, uint32_t *genome)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t s = 0x123456789ull + (uint64_t)t * 0x1000003ull;
    if (t < CHAINS) {
        for (int i = 0; i < 6; ++i) rng[i * CHAINS + t] = (uint32_t)(splitmix(s) >> 16) | (i == 0);
        uint8_t p[QN];
        for (int i = 0; i < QN; ++i) p[i] = (uint8_t)i;
        for (int i = QN - 1; i > 0; --i) {             // Fisher and Yates
            int j = (int)((uint32_t)splitmix(s) % (uint32_t)(i + 1));
            uint8_t x = p[i]; p[i] = p[j]; p[j] = x;
        }
        for (int i = 0; i < QN; ++i) perms[i * CHAINS + t] = p[i];
        cost[t] = cost_of(p, 1);
    }
    if (t < POP)
        for (int w = 0; w < WORDS; ++w) genome[w * POP + t] = (uint32_t)(splitmix(s) >> 8);
}

// --------------------------------------------------------- annealing, QAP
// permutation of a chain lives in a column of shared memory
__global__ void __launch_bounds__(SA_BLOCK) anneal(uint32_t *rng, uint8_t *perms, int *cost, int *accepted, int level)
{
    __shared__ uint8_t perm[QN][SA_BLOCK];
    const int t = blockIdx.x * SA_BLOCK + threadIdx.x;
    const int me = threadIdx.x;
    if (t >= CHAINS) return;
    Xorwow g{rng[t], rng[CHAINS + t], rng[2 * CHAINS + t], rng[3 * CHAINS + t], rng[4 * CHAINS + t], rng[5 * CHAINS + t]};
    for (int i = 0; i < QN; ++i) perm[i][me] = perms[i * CHAINS + t];
    int c = cost[t], taken = 0;
    for (int step = 0; step < SA_STEPS; ++step) {
        uint32_t r = g();
        int a = (r & 0xffff) * QN >> 16;
        int b = (r >> 16) * (QN - 1) >> 16;
        b += b >= a;
        const int pa = perm[a][me], pb = perm[b][me];
        int delta = (c_flow[a * QN + a] - c_flow[b * QN + b]) * (c_dist[pb * QN + pb] - c_dist[pa * QN + pa]) +
                    (c_flow[a * QN + b] - c_flow[b * QN + a]) * (c_dist[pb * QN + pa] - c_dist[pa * QN + pb]);
        for (int k = 0; k < QN; ++k) {
            if (k == a || k == b) continue;
            int pk = perm[k][me];
            delta += (c_flow[k * QN + a] - c_flow[k * QN + b]) * (c_dist[pk * QN + pb] - c_dist[pk * QN + pa]) +
                     (c_flow[a * QN + k] - c_flow[b * QN + k]) * (c_dist[pb * QN + pk] - c_dist[pa * QN + pk]);
        }
        bool go = delta <= 0;
        if (!go && delta < 4 * ACC) go = g() < c_accept[level][delta >> 2];
        if (go) {
            perm[a][me] = (uint8_t)pb;
            perm[b][me] = (uint8_t)pa;
            c += delta;
            ++taken;
        }
    }
    for (int i = 0; i < QN; ++i) perms[i * CHAINS + t] = perm[i][me];
    rng[t] = g.x; rng[CHAINS + t] = g.y; rng[2 * CHAINS + t] = g.z;
    rng[3 * CHAINS + t] = g.w; rng[4 * CHAINS + t] = g.v; rng[5 * CHAINS + t] = g.d;
    cost[t] = c;
    accepted[level * CHAINS + t] = taken;
}

// recompute costs from scratch (check) and find the best chain
__global__ void best_chain(const uint8_t *__restrict__ perms, const int *__restrict__ cost,
                           unsigned long long *best, int *mismatch)
{
    __shared__ unsigned long long red[8];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long v = ~0ull;
    if (t < CHAINS) {
        int c = cost_of(perms + t, CHAINS);
        if (c != cost[t]) atomicAdd(mismatch, 1);
        v = (unsigned long long)(uint32_t)c << 32 | (uint32_t)t;
    }
    for (int d = 16; d; d >>= 1) {
        unsigned long long o = __shfl_down_sync(0xffffffffu, v, d);
        v = o < v ? o : v;
    }
    if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 8) {
        v = red[threadIdx.x];
        for (int d = 4; d; d >>= 1) {
            unsigned long long o = __shfl_down_sync(0xffu, v, d);
            v = o < v ? o : v;
        }
        if (threadIdx.x == 0) atomicMin(best, v);
    }
}

// ---------------------------------------------------------------- genetics
// warp per individual, lane handles loci lane, lane+32, ...
__global__ void fitness(const uint32_t *__restrict__ genome, const uint16_t *__restrict__ table, uint32_t *fit,
                        unsigned long long *sum)
{
    const int ind = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (ind >= POP) return;
    uint32_t mine = lane < WORDS ? genome[lane * POP + ind] : 0u;
    uint32_t f = 0;
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        const int locus = w * 32 + lane;
        uint32_t idx = __shfl_sync(0xffffffffu, mine, w) >> lane & 1u;
#pragma unroll
        for (int k = 0; k < K; ++k) {
            int q = c_link[locus * K + k];
            uint32_t word = __shfl_sync(0xffffffffu, mine, q >> 5);
            idx = idx << 1 | (word >> (q & 31) & 1u);
        }
        f += table[locus << (K + 1) | idx];
    }
    for (int d = 16; d; d >>= 1) f += __shfl_xor_sync(0xffffffffu, f, d);
    if (lane == 0) {
        fit[ind] = f;
        atomicAdd(sum, (unsigned long long)f);
    }
}

// tournaments of four for both parents, uniform or two-point crossover, mutation
__global__ void breed(const uint32_t *__restrict__ old, uint32_t *__restrict__ young, const uint32_t *__restrict__ fit, int gen)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= POP) return;
    const uint2 key = make_uint2(0xA5A5u + gen, 0x1BD11BDAu);
    int parent[2];
    for (int side = 0; side < 2; ++side) {
        uint4 r = philox(make_uint4(t, side, gen, 0), key);
        uint32_t cand[4] = {r.x, r.y, r.z, r.w};
        int win = -1;
        uint32_t top = 0;
        for (int k = 0; k < 4; ++k) {
            int c = (int)__umulhi(cand[k], POP);
            uint32_t f = fit[c];
            if (win < 0 || f > top) { top = f; win = c; }
        }
        parent[side] = win;
    }
    uint4 r = philox(make_uint4(t, 2, gen, 0), key);
    int p0 = (int)__umulhi(r.x, BITS), p1 = (int)__umulhi(r.y, BITS);
    if (p0 > p1) { int x = p0; p0 = p1; p1 = x; }
    const bool uniform = (r.z & 3u) == 0;
    for (int w = 0; w < WORDS; ++w) {
        uint32_t a = old[w * POP + parent[0]], b = old[w * POP + parent[1]], mask;
        if (uniform) {
            mask = philox(make_uint4(t, 3, gen, w), key).x;
        } else {
            int lo = min(max(p0 - w * 32, 0), 32), hi = min(max(p1 - w * 32, 0), 32);
            mask = (uint32_t)(((1ull << hi) - 1) & ~((1ull << lo) - 1));
        }
        uint32_t child = (a & ~mask) | (b & mask);
        uint4 m = philox(make_uint4(t, 4, gen, w), key);
        child ^= m.x & m.y & m.z & m.w & (m.x >> 7 | m.y << 3);      // about 5 %
        young[w * POP + t] = child;
    }
}

// the best of the old generation replaces individual 0 (single block)
__global__ void __launch_bounds__(512) keep_elite(const uint32_t *old, uint32_t *young, const uint32_t *fit, uint32_t *record, int gen)
{
    __shared__ unsigned long long best[512];
    unsigned long long v = 0;
    for (int i = threadIdx.x; i < POP; i += 512) {
        unsigned long long k = (unsigned long long)fit[i] << 32 | (uint32_t)(POP - i);
        v = k > v ? k : v;
    }
    best[threadIdx.x] = v;
    for (int s = 256; s > 0; s >>= 1) {
        __syncthreads();
        if ((int)threadIdx.x < s && best[threadIdx.x + s] > best[threadIdx.x]) best[threadIdx.x] = best[threadIdx.x + s];
    }
    __syncthreads();
    int i = POP - (int)(uint32_t)best[0];
    if (threadIdx.x < WORDS) young[threadIdx.x * POP] = old[threadIdx.x * POP + i];
    if (threadIdx.x == 0) record[gen] = (uint32_t)(best[0] >> 32);
}

// --------------------------------------------------------------------- host
static uint32_t lcg(uint64_t &s)
{
    s = s * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(s >> 33);
}

template <class T> static T *device(size_t n)
{
    T *p;
    REQUIRE(cudaMalloc(&p, n * sizeof(T)));
    REQUIRE(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}

template <class T> static uint64_t hash_device(const T *p, size_t n)
{
    std::vector<T> v(n);
    REQUIRE(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    uint64_t h = 0xcbf29ce484222325ull;
    for (const T &x : v) h = (h ^ (uint64_t)(uint32_t)x) * 0x100000001b3ull;
    return h;
}

int main()
{
    uint64_t s = 2024;
    int8_t flow[QN * QN], dist[QN * QN];
    for (int a = 0; a < QN; ++a)
        for (int b = 0; b < QN; ++b) {
            flow[a * QN + b] = a == b ? 0 : (int8_t)(lcg(s) % 10);
            int dx = a % 5 - b % 5, dy = a / 5 - b / 5;
            dist[a * QN + b] = (int8_t)(abs(dx) + abs(dy) + (a < b ? 1 : 0) * (int)(lcg(s) % 2));
        }
    static uint32_t accept[LEVELS][ACC];
    const int temperature[LEVELS] = {60, 25, 10, 4};
    for (int l = 0; l < LEVELS; ++l) {
        // exp by repeated multiplication in integers: 2^32 * q^i
        uint64_t q = 4294967296ull - 4294967296ull * 4 / (uint64_t)(temperature[l] + 2), v = 0xffffffffull;
        for (int i = 0; i < ACC; ++i) {
            accept[l][i] = (uint32_t)v;
            v = v * q >> 32;
        }
    }
    uint8_t link[BITS * K];
    for (int i = 0; i < BITS * K; ++i) link[i] = (uint8_t)(lcg(s) % BITS);
    std::vector<uint16_t> table((size_t)BITS << (K + 1));
    for (auto &x : table) x = (uint16_t)(lcg(s) & 0x3fff);
    REQUIRE(cudaMemcpyToSymbol(c_flow, flow, sizeof flow));
    REQUIRE(cudaMemcpyToSymbol(c_dist, dist, sizeof dist));
    REQUIRE(cudaMemcpyToSymbol(c_accept, accept, sizeof accept));
    REQUIRE(cudaMemcpyToSymbol(c_link, link, sizeof link));

    auto rng = device<uint32_t>(6 * CHAINS);
    auto perms = device<uint8_t>((size_t)QN * CHAINS);
    auto cost = device<int>(CHAINS), accepted = device<int>(LEVELS * CHAINS), mismatch = device<int>(1);
    auto genome = device<uint32_t>((size_t)WORDS * POP), young = device<uint32_t>((size_t)WORDS * POP);
    auto fit = device<uint32_t>(POP), record = device<uint32_t>(GENS);
    auto sums = device<unsigned long long>(GENS), best = device<unsigned long long>(1);
    auto d_table = device<uint16_t>(table.size());
    REQUIRE(cudaMemcpy(d_table, table.data(), table.size() * sizeof(uint16_t), cudaMemcpyHostToDevice));
    REQUIRE(cudaMemset(best, 0xff, sizeof *best));

    const int most = CHAINS > POP ? CHAINS : POP;
    seed_chains<<<(most + 127) / 128, 128>>>(rng, perms, cost, genome);
    REQUIRE(cudaGetLastError());
    for (int l = 0; l < LEVELS; ++l) {
        anneal<<<(CHAINS + SA_BLOCK - 1) / SA_BLOCK, SA_BLOCK>>>(rng, perms, cost, accepted, l);
        REQUIRE(cudaGetLastError());
    }
    best_chain<<<(CHAINS + 255) / 256, 256>>>(perms, cost, best, mismatch);
    REQUIRE(cudaGetLastError());

    for (int g = 0; g < GENS; ++g) {
        fitness<<<POP * 32 / 256, 256>>>(genome, d_table, fit, sums + g);
        REQUIRE(cudaGetLastError());
        breed<<<(POP + 63) / 64, 64>>>(genome, young, fit, g);
        REQUIRE(cudaGetLastError());
        keep_elite<<<1, 512>>>(genome, young, fit, record, g);
        REQUIRE(cudaGetLastError());
        std::swap(genome, young);
    }
    REQUIRE(cudaDeviceSynchronize());

    unsigned long long hb, hsum[GENS];
    uint32_t hrec[GENS];
    int bad;
    REQUIRE(cudaMemcpy(&hb, best, sizeof hb, cudaMemcpyDeviceToHost));
    REQUIRE(cudaMemcpy(&bad, mismatch, sizeof bad, cudaMemcpyDeviceToHost));
    REQUIRE(cudaMemcpy(hsum, sums, sizeof hsum, cudaMemcpyDeviceToHost));
    REQUIRE(cudaMemcpy(hrec, record, sizeof hrec, cudaMemcpyDeviceToHost));
    std::printf("QAP best cost %llu by chain %llu, mismatches %d\n", hb >> 32, hb & 0xffffffffull, bad);
    std::printf("chains %016llx costs %016llx accepted %016llx rng %016llx\n",
                (unsigned long long)hash_device(perms, (size_t)QN * CHAINS), (unsigned long long)hash_device(cost, CHAINS),
                (unsigned long long)hash_device(accepted, LEVELS * CHAINS), (unsigned long long)hash_device(rng, 6 * CHAINS));
    for (int g = 0; g < GENS; ++g) std::printf("generation %d best %u mean %llu\n", g, hrec[g], hsum[g] / POP);
    std::printf("genomes %016llx fitness %016llx\n", (unsigned long long)hash_device(genome, (size_t)WORDS * POP),
                (unsigned long long)hash_device(fit, POP));
    REQUIRE(cudaDeviceReset());
    return 0;
}
