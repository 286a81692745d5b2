// Multi-pattern search with an Aho-Corasick DFA, and a suffix array of a piece of
// the text by prefix doubling (sort of rank pairs by merge sort).
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <string>
#include <vector>

template <typename T>
struct Buffer {
    T *p = nullptr;
    size_t n = 0;
    explicit Buffer(size_t count);
    ~Buffer() { cudaFree(p); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    void put(const std::vector<T> &h);
    std::vector<T> get() const;
    void zero();
};

static inline void must(cudaError_t e, const char *where)
{
    if (e != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(e));
        std::exit(1);
    }
}

template <typename T> Buffer<T>::Buffer(size_t count) : n(count) { must(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc"); }
template <typename T> void Buffer<T>::put(const std::vector<T> &h) { must(cudaMemcpy(p, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice), "put"); }
template <typename T> std::vector<T> Buffer<T>::get() const
{
    std::vector<T> h(n);
    must(cudaMemcpy(h.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), "get");
    return h;
}
template <typename T> void Buffer<T>::zero() { must(cudaMemset(p, 0, n * sizeof(T)), "zero"); }

static constexpr int SIGMA = 8;               // letters a..h
static constexpr int TEXT = 2500000;
static constexpr int PATTERNS = 150;
static constexpr int MAXLEN = 14;
static constexpr int SLICE = 96;              // bytes per thread, naive scan
static constexpr int TILE_THREADS = 128;
static constexpr int TILE_SLICE = 64;         // bytes per thread, tiled scan
static constexpr int TILE_BYTES = TILE_THREADS * TILE_SLICE;
static constexpr int HOT = 512;               // states kept in shared memory
static constexpr int SUF = 32768;             // suffix array size
static constexpr int SORT_TILE = 2048;

__host__ __device__ static inline uint32_t wang(uint32_t k)
{
    k = ~k + (k << 15);
    k ^= k >> 12;
    k += k << 2;
    k ^= k >> 4;
    k *= 2057;
    k ^= k >> 16;
    return k;
}

// Skewed letters with repeated passages, written four at a time.
__global__ void generate_text(uchar4 *text, int quads)
{
    for (int q = blockIdx.x * blockDim.x + threadIdx.x; q < quads; q += gridDim.x * blockDim.x) {
        unsigned char c[4];
        for (int b = 0; b < 4; ++b) {
            int i = q * 4 + b;
            int para = i >> 9;
            uint32_t pick = wang(para + 77u);
            // one paragraph in four repeats one of sixteen templates
            uint32_t src = (pick & 3u) ? (uint32_t)i : 0x40000000u + ((pick >> 4 & 15u) << 9) + (i & 511);
            uint32_t h = wang(src);
            uint32_t x = h & 7u, y = h >> 3 & 7u;
            c[b] = 'a' + (h >> 6 & 1 ? (x < y ? x : y) : x);
        }
        text[q] = make_uchar4(c[0], c[1], c[2], c[3]);
    }
}

// One thread per slice; the automaton is warmed up on the bytes before the slice.
__global__ void scan_naive(const unsigned char *__restrict__ text, int n,
                           const unsigned short *__restrict__ delta, const unsigned char *__restrict__ nout,
                           unsigned long long *total, uint32_t *slice_hits)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int begin = t * SLICE;
    if (begin >= n) return;
    int end = begin + SLICE < n ? begin + SLICE : n;
    int state = 0, hits = 0;
    for (int i = begin > MAXLEN ? begin - MAXLEN : 0; i < begin; ++i) state = delta[state * SIGMA + text[i] - 'a'];
    for (int i = begin; i < end; ++i) {
        state = delta[state * SIGMA + text[i] - 'a'];
        hits += nout[state];
    }
    slice_hits[t] = hits;
    if (hits) atomicAdd(total, (unsigned long long)hits);
}

// Text tile staged in shared memory (padded against bank conflicts), the states
// near the root (breadth-first numbering) in shared memory as well.
__global__ void __launch_bounds__(TILE_THREADS)
scan_tiled(const unsigned char *__restrict__ text, int n, const unsigned short *__restrict__ delta,
           const unsigned char *__restrict__ nout, unsigned long long *total)
{
    __shared__ unsigned short hot[HOT * SIGMA];
    __shared__ uint32_t words[(16 + TILE_BYTES) / 4 + (16 + TILE_BYTES) / 64 + 1];
    const int first = blockIdx.x * TILE_BYTES - 16;      // 16 bytes of context
    {
        const uint4 *src = reinterpret_cast<const uint4 *>(delta);
        uint4 *dst = reinterpret_cast<uint4 *>(hot);
        for (int i = threadIdx.x; i < HOT * SIGMA / 8; i += TILE_THREADS) dst[i] = src[i];
    }
    const uint32_t *w = reinterpret_cast<const uint32_t *>(text);
    for (int i = threadIdx.x; i < (16 + TILE_BYTES) / 4; i += TILE_THREADS) {
        int g = first / 4 + i;
        words[i + (i >> 4)] = (g >= 0 && g * 4 < n) ? w[g] : 0x61616161u;
    }
    __syncthreads();
    const int from = 16 + threadIdx.x * TILE_SLICE;
    int state = 0, hits = 0;
    for (int b = from - 16; b < from + TILE_SLICE; b += 4) {
        uint32_t x = words[(b >> 2) + (b >> 6)];
#pragma unroll
        for (int k = 0; k < 4; ++k, x >>= 8) {
            int pos = first + b + k;
            int at = state * SIGMA + (int)(x & 255u) - 'a';
            state = pos < 0 ? 0 : (state < HOT ? hot[at] : delta[at]);
            if (b >= from && pos < n) hits += nout[state];
        }
    }
    for (int d = 16; d; d >>= 1) hits += __shfl_down_sync(0xffffffffu, hits, d);
    if ((threadIdx.x & 31) == 0) atomicAdd(total, (unsigned long long)hits);
}

// Occurrences of each pattern: walks the dictionary links at every match.
__global__ void count_patterns(const unsigned char *__restrict__ text, int n, const unsigned short *__restrict__ delta,
                               const short *__restrict__ own, const unsigned short *__restrict__ dict,
                               const unsigned char *__restrict__ nout, uint32_t *per_pattern)
{
    __shared__ uint32_t local[PATTERNS];
    for (int i = threadIdx.x; i < PATTERNS; i += blockDim.x) local[i] = 0;
    __syncthreads();
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * SLICE;
    int end = min(begin + SLICE, n);
    int state = 0;
    for (int i = max(begin - MAXLEN, 0); i < end; ++i) {
        state = delta[state * SIGMA + text[i] - 'a'];
        if (i < begin || nout[state] == 0) continue;
        for (int s = own[state] >= 0 ? state : dict[state]; s; s = dict[s]) atomicAdd(&local[own[s]], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < PATTERNS; i += blockDim.x)
        if (local[i]) atomicAdd(&per_pattern[i], local[i]);
}

// key = rank of suffix, rank of suffix h further on, suffix number
__global__ void make_keys(const unsigned char *__restrict__ text, const uint32_t *__restrict__ rank, int h, uint64_t *key)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= SUF) return;
    uint64_t a = 0, b = 0;
    if (h == 0) {                 // first eight letters, 4 bits each
        for (int k = 0; k < 8; ++k) a = a << 4 | (i + k < SUF ? text[i + k] - 'a' + 1 : 0);
        key[i] = a << 16 | i;
        return;
    }
    a = rank[i];
    b = i + h < SUF ? rank[i + h] + 1 : 0;
    key[i] = a << 36 | b << 16 | i;
}

__global__ void __launch_bounds__(512) sort_tile(uint64_t *key)
{
    __shared__ uint64_t s[SORT_TILE];
    uint64_t *mine = key + (size_t)blockIdx.x * SORT_TILE;
    for (int i = threadIdx.x; i < SORT_TILE; i += blockDim.x) s[i] = mine[i];
    for (int k = 2; k <= SORT_TILE; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();
            for (int p = threadIdx.x; p < SORT_TILE / 2; p += blockDim.x) {
                int a = (p & ~(j - 1)) << 1 | (p & (j - 1)), b = a | j;
                uint64_t x = s[a], y = s[b];
                if ((x > y) == ((a & k) == 0)) { s[a] = y; s[b] = x; }
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < SORT_TILE; i += blockDim.x) mine[i] = s[i];
}

// Each element finds its place by binary search in the partner run (keys differ).
__global__ void merge_runs(const uint64_t *__restrict__ in, uint64_t *__restrict__ out, int run)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= SUF) return;
    uint64_t k = in[i];
    int pair = i / (2 * run) * (2 * run);
    int left = i - pair < run;
    int other = left ? pair + run : pair;
    int lo = 0, hi = run;
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (in[other + mid] < k) lo = mid + 1; else hi = mid;
    }
    int own = left ? i - pair : i - pair - run;
    out[pair + own + lo] = k;
}

// rank of a suffix = number of different keys before it; one block
__global__ void __launch_bounds__(1024) rerank(const uint64_t *__restrict__ key, uint32_t *rank, uint32_t *distinct)
{
    __shared__ uint32_t ws[32];
    const int per = SUF / 1024, lane = threadIdx.x & 31, w = threadIdx.x >> 5, from = threadIdx.x * per;
    uint64_t prev = from ? key[from - 1] >> 16 : ~0ull;
    uint32_t flags = 0;
    for (int i = 0; i < per; ++i) {
        uint64_t k = key[from + i] >> 16;
        flags |= (uint32_t)(k != prev) << i;
        prev = k;
    }
    uint32_t c = __popc(flags), x = c;
    for (int d = 1; d < 32; d <<= 1) { uint32_t y = __shfl_up_sync(~0u, x, d); if (lane >= d) x += y; }
    if (lane == 31) ws[w] = x;
    __syncthreads();
    if (w == 0) {
        uint32_t v = ws[lane];
        for (int d = 1; d < 32; d <<= 1) { uint32_t y = __shfl_up_sync(~0u, v, d); if (lane >= d) v += y; }
        ws[lane] = v;
    }
    __syncthreads();
    uint32_t before = x - c + (w ? ws[w - 1] : 0);
    for (int i = 0; i < per; ++i) {
        before += flags >> i & 1;
        rank[key[from + i] & 0xffff] = before - 1;
    }
    if (threadIdx.x == 1023) *distinct = before;
}

struct Automaton {
    std::vector<unsigned short> delta, dict;
    std::vector<unsigned char> nout;
    std::vector<short> own;
};

static Automaton build(const std::vector<std::string> &pats)
{
    std::vector<std::vector<int>> go(1, std::vector<int>(SIGMA, -1));
    std::vector<int> owner(1, -1);
    for (size_t p = 0; p < pats.size(); ++p) {
        int s = 0;
        for (char ch : pats[p]) {
            int c = ch - 'a';
            if (go[s][c] < 0) {
                go[s][c] = (int)go.size();
                go.emplace_back(SIGMA, -1);
                owner.push_back(-1);
            }
            s = go[s][c];
        }
        owner[s] = (int)p;
    }
    const size_t n = go.size();
    std::vector<int> order(1, 0), number(n, 0), fail(n, 0);
    for (size_t h = 0; h < order.size(); ++h) {
        int s = order[h];
        number[s] = (int)h;
        for (int c = 0; c < SIGMA; ++c) {
            int t = go[s][c];
            if (t >= 0) {
                fail[t] = s ? go[fail[s]][c] : 0;
                order.push_back(t);
            } else
                go[s][c] = s ? go[fail[s]][c] : 0;
        }
    }
    Automaton a;
    const size_t padded = n < (size_t)HOT ? HOT : n;
    a.delta.assign(padded * SIGMA, 0);
    a.dict.assign(padded, 0);
    a.nout.assign(padded, 0);
    a.own.assign(padded, -1);
    for (int s : order) {
        int k = number[s], f = number[fail[s]];
        for (int c = 0; c < SIGMA; ++c) a.delta[k * SIGMA + c] = (unsigned short)number[go[s][c]];
        a.own[k] = (short)owner[s];
        if (s) {
            a.dict[k] = (unsigned short)(a.own[f] >= 0 ? f : a.dict[f]);
            a.nout[k] = (unsigned char)(a.nout[f] + (owner[s] >= 0));
        }
    }
    return a;
}

int main()
{
    std::vector<std::string> pats;
    for (uint32_t p = 0; p < (uint32_t)PATTERNS; ++p) {
        int len = 4 + wang(p * 31 + 5) % (MAXLEN - 3);
        std::string s;
        for (int k = 0; k < len; ++k) {
            uint32_t h = p % 3 ? wang(p * 64 + k + 0x900000u) : wang(0x40000000u + (p % 16 << 9) + p * 2 + k);
            uint32_t x = h & 7u, y = h >> 3 & 7u;
            s += (char)('a' + (h >> 6 & 1 ? (x < y ? x : y) : x));
        }
        pats.push_back(s);
    }
    Automaton ac = build(pats);

    Buffer<unsigned char> text(TEXT), nout(ac.nout.size());
    Buffer<unsigned short> delta(ac.delta.size()), dict(ac.dict.size());
    Buffer<short> own(ac.own.size());
    const int slices = (TEXT + SLICE - 1) / SLICE;
    Buffer<uint32_t> slice_hits(slices), per_pattern(PATTERNS), rank(SUF), distinct(4);
    Buffer<unsigned long long> totals(2);
    Buffer<uint64_t> ka(SUF), kb(SUF);
    delta.put(ac.delta); dict.put(ac.dict); nout.put(ac.nout); own.put(ac.own);
    per_pattern.zero(); totals.zero(); distinct.zero();

    generate_text<<<396, 256>>>(reinterpret_cast<uchar4 *>(text.p), TEXT / 4);
    must(cudaGetLastError(), "generate_text");
    scan_naive<<<(slices + 127) / 128, 128>>>(text.p, TEXT, delta.p, nout.p, totals.p, slice_hits.p);
    must(cudaGetLastError(), "scan_naive");
    scan_tiled<<<(TEXT + TILE_BYTES - 1) / TILE_BYTES, TILE_THREADS>>>(text.p, TEXT, delta.p, nout.p, totals.p + 1);
    must(cudaGetLastError(), "scan_tiled");
    count_patterns<<<(slices + 95) / 96, 96>>>(text.p, TEXT, delta.p, own.p, dict.p, nout.p, per_pattern.p);
    must(cudaGetLastError(), "count_patterns");

    int round = 0;
    for (int h = 0; round < 3; h = h ? h * 2 : 8, ++round) {
        make_keys<<<SUF / 256, 256>>>(text.p, rank.p, h, ka.p);
        must(cudaGetLastError(), "make_keys");
        sort_tile<<<SUF / SORT_TILE, 512>>>(ka.p);
        must(cudaGetLastError(), "sort_tile");
        uint64_t *in = ka.p, *out = kb.p;
        for (int run = SORT_TILE; run < SUF; run *= 2) {
            merge_runs<<<SUF / 128, 128>>>(in, out, run);
            must(cudaGetLastError(), "merge_runs");
            std::swap(in, out);
        }
        rerank<<<1, 1024>>>(in, rank.p, distinct.p + round);
        must(cudaGetLastError(), "rerank");
    }
    must(cudaDeviceSynchronize(), "sync");

    auto fnv = [](uint64_t h, uint64_t v) { return (h ^ v) * 0x100000001b3ull; };
    uint64_t ht = 0xcbf29ce484222325ull, hs = ht, hp = ht, hr = ht;
    for (unsigned char c : text.get()) ht = fnv(ht, c);
    for (uint32_t v : slice_hits.get()) hs = fnv(hs, v);
    unsigned long long sum = 0;
    for (uint32_t v : per_pattern.get()) { hp = fnv(hp, v); sum += v; }
    for (uint32_t v : rank.get()) hr = fnv(hr, v);
    auto tot = totals.get();
    auto dis = distinct.get();
    std::printf("states %zu text %016llx\n", ac.nout.size(), (unsigned long long)ht);
    std::printf("matches naive %llu tiled %llu by pattern %llu\n", tot[0], tot[1], sum);
    std::printf("slices %016llx patterns %016llx\n", (unsigned long long)hs, (unsigned long long)hp);
    std::printf("distinct prefixes 8:%u 16:%u 32:%u ranks %016llx\n", dis[0], dis[1], dis[2], (unsigned long long)hr);
    return 0;
}
