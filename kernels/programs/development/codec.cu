// Byte stream coding: run lengths by scans, Huffman bit packing, CRC32 of chunks,
// base64 and a bit-plane transposition.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <queue>
#include <string>
#include <vector>
#include <cuda_runtime.h>

static void die(cudaError_t e, int line)
{
    if (e == cudaSuccess) return;
    std::fprintf(stderr, "codec.cu:%d: %s\n", line, cudaGetErrorString(e));
    std::exit(1);
}
#define TRY(x) die((x), __LINE__)

static uint64_t fnv(const void *p, size_t n)
{
    const uint8_t *b = (const uint8_t *)p;
    uint64_t h = 0xcbf29ce484222325ull;
    while (n--) h = (h ^ *b++) * 0x100000001b3ull;
    return h;
}

// -------------------------------------------------------------- exclusive scan
constexpr int SCAN_T = 256, SCAN_E = 4, SCAN_B = SCAN_T * SCAN_E;

__global__ void scan_block(const uint32_t *in, uint32_t *out, uint32_t *sums, int n)
{
    __shared__ uint32_t s[SCAN_T];
    int t = threadIdx.x, base = blockIdx.x * SCAN_B + t * SCAN_E;
    uint32_t v[SCAN_E], tot = 0;
    for (int k = 0; k < SCAN_E; k++) {
        v[k] = base + k < n ? in[base + k] : 0;
        tot += v[k];
    }
    s[t] = tot;
    __syncthreads();
    for (int d = 1; d < SCAN_T; d <<= 1) {
        uint32_t a = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += a;
        __syncthreads();
    }
    uint32_t run = s[t] - tot;
    for (int k = 0; k < SCAN_E; k++) {
        if (base + k < n) out[base + k] = run;
        run += v[k];
    }
    if (t == SCAN_T - 1) sums[blockIdx.x] = s[t];
}

__global__ void scan_add(uint32_t *out, const uint32_t *sums, int n)
{
    int i = blockIdx.x * SCAN_B + threadIdx.x;
    uint32_t a = sums[blockIdx.x];
    for (int k = 0; k < SCAN_E; k++, i += SCAN_T)
        if (i < n) out[i] += a;
}

// scratch must hold n/SCAN_B + n/SCAN_B^2 + ... values; returns the total
static uint32_t exclusive_scan(const uint32_t *in, uint32_t *out, uint32_t *scratch, int n)
{
    int nb = (n + SCAN_B - 1) / SCAN_B;
    scan_block<<<nb, SCAN_T>>>(in, out, scratch, n);
    TRY(cudaGetLastError());
    uint32_t total;
    if (nb == 1) {
        TRY(cudaMemcpy(&total, scratch, 4, cudaMemcpyDeviceToHost));
        return total;
    }
    total = exclusive_scan(scratch, scratch, scratch + nb, nb);
    scan_add<<<nb, SCAN_T>>>(out, scratch, n);
    TRY(cudaGetLastError());
    return total;
}

// -------------------------------------------------------------- RLE
__global__ void rle_flags(const uint8_t *in, uint32_t *flag, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) flag[i] = i == 0 || in[i] != in[i - 1];
}

__global__ void rle_scatter(const uint8_t *in, const uint32_t *flag, const uint32_t *pos, uint32_t *start,
                            uint8_t *sym, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flag[i]) {
        start[pos[i]] = i;
        sym[pos[i]] = in[i];
    }
}

__global__ void rle_lengths(const uint32_t *start, uint32_t *len, int runs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < runs) len[i] = (i + 1 < runs ? start[i + 1] : (uint32_t)n) - start[i];
}

__global__ void rle_expand(const uint32_t *start, const uint8_t *sym, int runs, uint8_t *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int lo = 0, hi = runs - 1;
        while (lo < hi) {
            int mid = (lo + hi + 1) >> 1;
            if (start[mid] <= (uint32_t)i) lo = mid;
            else hi = mid - 1;
        }
        out[i] = sym[lo];
    }
}

__global__ void count_diff(const uint8_t *a, const uint8_t *b, int n, unsigned int *diff)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int bad = i < n && a[i] != b[i];
    int c = __syncthreads_count(bad);
    if (threadIdx.x == 0 && c) atomicAdd(diff, (unsigned int)c);
}

// -------------------------------------------------------------- Huffman
__constant__ uint32_t c_code[256];
__constant__ uint8_t c_len[256];
constexpr int SYM_PER_THREAD = 12;

__global__ void histogram256(const uint8_t *in, int n, unsigned int *hist)
{
    __shared__ unsigned int h[256];
    if (threadIdx.x < 256) h[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&h[in[i]], 1u);
    __syncthreads();
    if (threadIdx.x < 256) atomicAdd(&hist[threadIdx.x], h[threadIdx.x]);
}

__global__ void huff_bits(const uint8_t *in, int n, uint32_t *bits, int groups)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= groups) return;
    uint32_t b = 0;
    for (int k = 0; k < SYM_PER_THREAD; k++) {
        int i = g * SYM_PER_THREAD + k;
        if (i < n) b += c_len[in[i]];
    }
    bits[g] = b;
}

__global__ void huff_pack(const uint8_t *in, int n, const uint32_t *bitpos, uint32_t *out, int groups)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= groups) return;
    uint32_t pos = bitpos[g];
    uint32_t word = pos >> 5;
    int used = pos & 31;
    uint64_t acc = 0;                       // filled from the top
    for (int k = 0; k < SYM_PER_THREAD; k++) {
        int i = g * SYM_PER_THREAD + k;
        if (i >= n) break;
        uint8_t c = in[i];
        int len = c_len[c];
        acc |= (uint64_t)c_code[c] << (64 - used - len);
        used += len;
        if (used >= 32) {
            atomicOr(&out[word++], (uint32_t)(acc >> 32));
            acc <<= 32;
            used -= 32;
        }
    }
    if (used) atomicOr(&out[word], (uint32_t)(acc >> 32));
}

// -------------------------------------------------------------- CRC32
__constant__ uint32_t c_crc[4][256];

__global__ void crc_bytewise(const uint8_t *in, int n, int chunk, uint32_t *crc, int chunks)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    int end = min((c + 1) * chunk, n);
    uint32_t r = 0xffffffffu;
    for (int i = c * chunk; i < end; i++) r = (r >> 8) ^ c_crc[0][(r ^ in[i]) & 255];
    crc[c] = ~r;
}

// slicing by four with the tables copied to shared memory; chunk is a multiple of 4
__global__ void crc_slice4(const uint32_t *in, int chunk, uint32_t *crc, int chunks)
{
    __shared__ uint32_t t[4][256];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) t[i >> 8][i & 255] = c_crc[i >> 8][i & 255];
    __syncthreads();
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    const uint32_t *p = in + (size_t)c * (chunk / 4);
    uint32_t r = 0xffffffffu;
    for (int i = 0; i < chunk / 4; i++) {
        r ^= p[i];
        r = t[3][r & 255] ^ t[2][(r >> 8) & 255] ^ t[1][(r >> 16) & 255] ^ t[0][r >> 24];
    }
    crc[c] = ~r;
}

// -------------------------------------------------------------- base64, bit planes
__constant__ char c_b64[65];

__global__ void base64_encode(const uint8_t *in, int n, uchar4 *out, int quads)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= quads) return;
    int i = q * 3;
    uint32_t v = in[i] << 16;
    if (i + 1 < n) v |= in[i + 1] << 8;
    if (i + 2 < n) v |= in[i + 2];
    uchar4 o;
    o.x = c_b64[v >> 18];
    o.y = c_b64[(v >> 12) & 63];
    o.z = i + 1 < n ? c_b64[(v >> 6) & 63] : '=';
    o.w = i + 2 < n ? c_b64[v & 63] : '=';
    out[q] = o;
}

__global__ void bitplanes(const uint32_t *in, uint32_t *out, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int warp = i / 32, lane = i % 32, nw = (words + 31) / 32;
    uint32_t v = i < words ? in[i] : 0;
    uint32_t mine = 0;
#pragma unroll
    for (int b = 0; b < 32; b++) {
        uint32_t m = __ballot_sync(0xffffffffu, (v >> b) & 1);
        if (lane == b) mine = m;
    }
    if (warp < nw) out[(size_t)lane * nw + warp] = mine;
}

static void huffman_lengths(const std::vector<unsigned int> &hist, uint8_t *len)
{
    typedef std::pair<uint64_t, int> Item;
    std::priority_queue<Item, std::vector<Item>, std::greater<Item>> q;
    std::vector<int> parent(512, -1);
    for (int i = 0; i < 256; i++) q.push({hist[i] / 64 + 1, i});
    int next = 256;
    while (q.size() > 1) {
        Item a = q.top(); q.pop();
        Item b = q.top(); q.pop();
        parent[a.second] = parent[b.second] = next;
        q.push({a.first + b.first, next++});
    }
    for (int i = 0; i < 256; i++) {
        int d = 0;
        for (int p = parent[i]; p >= 0; p = parent[p]) d++;
        len[i] = (uint8_t)d;
    }
}

int main()
{
    const int n = 3100007, padded = (n + 1023) / 1024 * 1024;
    std::vector<uint8_t> data(padded, 0);
    uint32_t s = 1u;
    for (int i = 0; i < n;) {
        s = s * 1664525u + 1013904223u;
        int run = 1 + ((s >> 28) < 6 ? (s >> 20) % 30 : 0);
        uint32_t r = (s >> 8) & 0xfff;
        uint8_t c = (uint8_t)(r < 2500 ? r % 23 + 97 : (r * r >> 16) & 255);
        for (; run > 0 && i < n; run--) data[i++] = c;
    }
    uint8_t *d_in, *d_sym, *d_back, *d_b64;
    uint32_t *d_a, *d_b, *d_c, *d_scr;
    unsigned int *d_cnt;
    TRY(cudaMalloc(&d_in, padded)); TRY(cudaMalloc(&d_sym, n)); TRY(cudaMalloc(&d_back, n));
    TRY(cudaMalloc(&d_a, n * 4)); TRY(cudaMalloc(&d_b, n * 4)); TRY(cudaMalloc(&d_c, n * 4));
    TRY(cudaMalloc(&d_scr, (n / SCAN_B + 1024) * 4)); TRY(cudaMalloc(&d_cnt, 257 * 4));
    TRY(cudaMemset(d_cnt, 0, 257 * 4));
    TRY(cudaMemcpy(d_in, data.data(), padded, cudaMemcpyHostToDevice));

    // run lengths
    rle_flags<<<(n + 511) / 512, 512>>>(d_in, d_a, n);
    int runs = (int)exclusive_scan(d_a, d_b, d_scr, n);
    rle_scatter<<<(n + 255) / 256, 256>>>(d_in, d_a, d_b, d_c, d_sym, n);
    rle_lengths<<<(runs + 255) / 256, 256>>>(d_c, d_a, runs, n);
    rle_expand<<<500, 384>>>(d_c, d_sym, runs, d_back, n);
    count_diff<<<(n + 1023) / 1024, 1024>>>(d_in, d_back, n, d_cnt + 256);
    TRY(cudaGetLastError());
    std::vector<uint32_t> len(runs);
    unsigned int diff;
    TRY(cudaMemcpy(len.data(), d_a, runs * 4, cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(&diff, d_cnt + 256, 4, cudaMemcpyDeviceToHost));
    std::printf("rle: %d runs %016llx %s\n", runs, (unsigned long long)fnv(len.data(), runs * 4), diff ? "mismatch" : "ok");

    // Huffman
    histogram256<<<200, 512>>>(d_in, n, d_cnt);
    TRY(cudaGetLastError());
    std::vector<unsigned int> hist(256);
    TRY(cudaMemcpy(hist.data(), d_cnt, 1024, cudaMemcpyDeviceToHost));
    uint8_t hl[256];
    uint32_t hc[256];
    huffman_lengths(hist, hl);
    uint32_t code = 0;
    int maxlen = *std::max_element(hl, hl + 256);
    for (int l = 1; l <= maxlen; l++, code <<= 1)
        for (int i = 0; i < 256; i++)
            if (hl[i] == l) hc[i] = code++;
    TRY(cudaMemcpyToSymbol(c_code, hc, sizeof hc));
    TRY(cudaMemcpyToSymbol(c_len, hl, sizeof hl));
    int groups = (n + SYM_PER_THREAD - 1) / SYM_PER_THREAD;
    huff_bits<<<(groups + 127) / 128, 128>>>(d_in, n, d_a, groups);
    uint32_t bits = exclusive_scan(d_a, d_b, d_scr, groups);
    int words = (int)((bits + 31) / 32);
    if (words > n) { std::printf("stream too long\n"); return 1; }
    TRY(cudaMemset(d_c, 0, words * 4));
    huff_pack<<<(groups + 127) / 128, 128>>>(d_in, n, d_b, d_c, groups);
    TRY(cudaGetLastError());
    std::vector<uint32_t> stream(words);
    TRY(cudaMemcpy(stream.data(), d_c, words * 4, cudaMemcpyDeviceToHost));
    bool ok = true;
    uint32_t p = 0;
    for (int i = 0; i < 50000 && ok; i++) {
        uint32_t v = 0;
        for (int b = 0; b < hl[data[i]]; b++, p++) v = 2 * v + ((stream[p >> 5] >> (31 - (p & 31))) & 1);
        ok = v == hc[data[i]];
    }
    std::printf("huffman: %u bits, longest %d %016llx %s\n", bits, maxlen, (unsigned long long)fnv(stream.data(), words * 4), ok ? "ok" : "mismatch");

    // CRC of chunks
    uint32_t tab[4][256];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t r = i;
        for (int k = 0; k < 8; k++) r = (r & 1) ? (r >> 1) ^ 0xedb88320u : r >> 1;
        tab[0][i] = r;
    }
    for (int k = 1; k < 4; k++)
        for (int i = 0; i < 256; i++) tab[k][i] = (tab[k - 1][i] >> 8) ^ tab[0][tab[k - 1][i] & 255];
    TRY(cudaMemcpyToSymbol(c_crc, tab, sizeof tab));
    const int chunk1 = 700, chunks1 = (n + chunk1 - 1) / chunk1, chunk2 = 512, chunks2 = padded / chunk2;
    crc_bytewise<<<(chunks1 + 63) / 64, 64>>>(d_in, n, chunk1, d_a, chunks1);
    crc_slice4<<<(chunks2 + 127) / 128, 128>>>((const uint32_t *)d_in, chunk2, d_b, chunks2);
    TRY(cudaGetLastError());
    std::vector<uint32_t> c1(chunks1), c2(chunks2);
    TRY(cudaMemcpy(c1.data(), d_a, chunks1 * 4, cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(c2.data(), d_b, chunks2 * 4, cudaMemcpyDeviceToHost));
    auto host_crc = [&](int b, int e) {
        uint32_t r = ~0u;
        for (int i = b; i < e; i++) r = (r >> 8) ^ tab[0][(r ^ data[i]) & 255];
        return ~r;
    };
    ok = c1[chunks1 - 1] == host_crc((chunks1 - 1) * chunk1, n) && c2[1001] == host_crc(1001 * chunk2, 1002 * chunk2);
    std::printf("crc: %016llx %016llx %s\n", (unsigned long long)fnv(c1.data(), chunks1 * 4), (unsigned long long)fnv(c2.data(), chunks2 * 4), ok ? "ok" : "mismatch");

    // base64 and bit planes
    const char *alpha = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    TRY(cudaMemcpyToSymbol(c_b64, alpha, 65));
    int quads = (n + 2) / 3, w32 = padded / 4;
    TRY(cudaMalloc(&d_b64, quads * 4));
    base64_encode<<<(quads + 255) / 256, 256>>>(d_in, n, (uchar4 *)d_b64, quads);
    bitplanes<<<(w32 + 255) / 256, 256>>>((const uint32_t *)d_in, d_b, w32);
    TRY(cudaGetLastError());
    std::vector<char> b64(quads * 4);
    std::vector<uint32_t> planes(w32);
    TRY(cudaMemcpy(b64.data(), d_b64, quads * 4, cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(planes.data(), d_b, w32 * 4, cudaMemcpyDeviceToHost));
    std::printf("base64: %.16s ... %.8s %016llx\n", b64.data(), std::string(b64.end() - 8, b64.end()).c_str(), (unsigned long long)fnv(b64.data(), b64.size()));
    std::printf("planes: %016llx\n", (unsigned long long)fnv(planes.data(), w32 * 4));

    cudaFree(d_in); cudaFree(d_sym); cudaFree(d_back); cudaFree(d_b64); cudaFree(d_a); cudaFree(d_b);
    cudaFree(d_c); cudaFree(d_scr); cudaFree(d_cnt);
    return 0;
}
