// MD5 search: finds five-letter words behind given digests by trying all of them, then a proof-of-work search with early exit per thread.
// Hard for a GPU: long dependent integer chains with rotates and three-input logic, nothing to load; and in the second part threads stop at different times.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cstdint>

#define CUDA_OK(x) check_((x), __FILE__, __LINE__)
static void check_(cudaError_t e, const char *file, int line)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "%s(%d): %s\n", file, line, cudaGetErrorString(e));
        exit(1);
    }
}

constexpr int TARGETS = 12;
constexpr uint32_t WORDS = 26u * 26 * 26 * 26 * 26;

struct Digest { uint32_t a, b, c, d; };

__constant__ Digest targets[TARGETS];

__host__ __device__ inline uint32_t rol(uint32_t x, int s) { return (x << s) | (x >> (32 - s)); }

#define F(x, y, z) ((x & y) | (~x & z))
#define G(x, y, z) ((x & z) | (y & ~z))
#define H(x, y, z) (x ^ y ^ z)
#define I(x, y, z) (y ^ (x | ~z))
#define STEP(f, a, b, c, d, m, t, s) a += f(b, c, d) + (m) + t##u; a = b + rol(a, s);
#define FOUR(f, m0, t0, m1, t1, m2, t2, m3, t3, s0, s1, s2, s3)                         \
    STEP(f, a, b, c, d, m0, t0, s0) STEP(f, d, a, b, c, m1, t1, s1)                     \
    STEP(f, c, d, a, b, m2, t2, s2) STEP(f, b, c, d, a, m3, t3, s3)

// a message of up to 12 bytes already padded: words 0..2 and the bit length
__host__ __device__ inline Digest md5_short(uint32_t w0, uint32_t w1, uint32_t w2, uint32_t bits)
{
    uint32_t a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
    FOUR(F, w0, 0xd76aa478, w1, 0xe8c7b756, w2, 0x242070db, 0, 0xc1bdceee, 7, 12, 17, 22)
    FOUR(F, 0, 0xf57c0faf, 0, 0x4787c62a, 0, 0xa8304613, 0, 0xfd469501, 7, 12, 17, 22)
    FOUR(F, 0, 0x698098d8, 0, 0x8b44f7af, 0, 0xffff5bb1, 0, 0x895cd7be, 7, 12, 17, 22)
    FOUR(F, 0, 0x6b901122, 0, 0xfd987193, bits, 0xa679438e, 0, 0x49b40821, 7, 12, 17, 22)
    FOUR(G, w1, 0xf61e2562, 0, 0xc040b340, 0, 0x265e5a51, w0, 0xe9b6c7aa, 5, 9, 14, 20)
    FOUR(G, 0, 0xd62f105d, 0, 0x02441453, 0, 0xd8a1e681, 0, 0xe7d3fbc8, 5, 9, 14, 20)
    FOUR(G, 0, 0x21e1cde6, bits, 0xc33707d6, 0, 0xf4d50d87, 0, 0x455a14ed, 5, 9, 14, 20)
    FOUR(G, 0, 0xa9e3e905, w2, 0xfcefa3f8, 0, 0x676f02d9, 0, 0x8d2a4c8a, 5, 9, 14, 20)
    FOUR(H, 0, 0xfffa3942, 0, 0x8771f681, 0, 0x6d9d6122, bits, 0xfde5380c, 4, 11, 16, 23)
    FOUR(H, w1, 0xa4beea44, 0, 0x4bdecfa9, 0, 0xf6bb4b60, 0, 0xbebfbc70, 4, 11, 16, 23)
    FOUR(H, 0, 0x289b7ec6, w0, 0xeaa127fa, 0, 0xd4ef3085, 0, 0x04881d05, 4, 11, 16, 23)
    FOUR(H, 0, 0xd9d4d039, 0, 0xe6db99e5, 0, 0x1fa27cf8, w2, 0xc4ac5665, 4, 11, 16, 23)
    FOUR(I, w0, 0xf4292244, 0, 0x432aff97, bits, 0xab9423a7, 0, 0xfc93a039, 6, 10, 15, 21)
    FOUR(I, 0, 0x655b59c3, 0, 0x8f0ccc92, 0, 0xffeff47d, w1, 0x85845dd1, 6, 10, 15, 21)
    FOUR(I, 0, 0x6fa87e4f, 0, 0xfe2ce6e0, 0, 0xa3014314, 0, 0x4e0811a1, 6, 10, 15, 21)
    FOUR(I, 0, 0xf7537e82, 0, 0xbd3af235, w2, 0x2ad7d2bb, 0, 0xeb86d391, 6, 10, 15, 21)
    return Digest{a + 0x67452301u, b + 0xefcdab89u, c + 0x98badcfeu, d + 0x10325476u};
}

__host__ __device__ inline void word_of(uint32_t n, uint32_t &w0, uint32_t &w1)
{
    w0 = 'a' + n % 26, n /= 26;
    w0 |= ('a' + n % 26) << 8, n /= 26;
    w0 |= ('a' + n % 26) << 16, n /= 26;
    w0 |= ('a' + n % 26) << 24, n /= 26;
    w1 = 'a' + n % 26 | 0x8000u;
}

__global__ void search_words(uint32_t first, uint32_t count, uint32_t *found)
{
    uint32_t step = gridDim.x * blockDim.x;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        uint32_t w0, w1;
        word_of(first + i, w0, w1);
        Digest h = md5_short(w0, w1, 0, 40);
        for (int t = 0; t < TARGETS; t++)
            if (h.a == targets[t].a && h.b == targets[t].b && h.c == targets[t].c && h.d == targets[t].d)
                found[t] = first + i;
    }
}

// for every block of data the first nonce whose digest starts with `zeros` zero bits
__global__ void proof_of_work(uint32_t n, int zeros, uint32_t limit, uint32_t *nonce, unsigned long long *tries)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t x = 0;
    for (; x < limit; x++) {
        Digest h = md5_short(i * 2654435761u, x, 0x80, 64);
        if (__clz(h.a) >= zeros)
            break;
    }
    nonce[i] = x;
    atomicAdd(tries, (unsigned long long)x);
}

int main()
{
    Digest want[TARGETS];
    for (int t = 0; t < TARGETS; t++) {
        uint32_t w0, w1, pick = (uint32_t)(t + 1) * 887873u % (WORDS / 3 + WORDS / 9);
        word_of(pick, w0, w1);
        want[t] = md5_short(w0, w1, 0, 40);
    }
    CUDA_OK(cudaMemcpyToSymbol(targets, want, sizeof want));
    const uint32_t blocks_of_data = 30000;
    uint32_t *found, *nonce, host_found[TARGETS];
    unsigned long long *tries, host_tries;
    CUDA_OK(cudaMalloc(&found, sizeof host_found));
    CUDA_OK(cudaMalloc(&nonce, blocks_of_data * sizeof(uint32_t)));
    CUDA_OK(cudaMalloc(&tries, sizeof *tries));
    CUDA_OK(cudaMemset(found, 0xff, sizeof host_found));
    CUDA_OK(cudaMemset(tries, 0, sizeof *tries));

    // a third of the space, in two launches of different shape
    search_words<<<132 * 8, 256>>>(0, WORDS / 6, found);
    CUDA_OK(cudaGetLastError());
    search_words<<<(WORDS / 6 + 511) / 512, 512>>>(WORDS / 6, WORDS / 6, found);
    CUDA_OK(cudaGetLastError());
    proof_of_work<<<(blocks_of_data + 95) / 96, 96>>>(blocks_of_data, 5, 4096, nonce, tries);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());

    CUDA_OK(cudaMemcpy(host_found, found, sizeof host_found, cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(&host_tries, tries, sizeof host_tries, cudaMemcpyDeviceToHost));
    uint32_t *host_nonce = (uint32_t *)malloc(blocks_of_data * sizeof(uint32_t));
    CUDA_OK(cudaMemcpy(host_nonce, nonce, blocks_of_data * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    uint64_t h = 0xcbf29ce484222325ull;
    for (uint32_t i = 0; i < blocks_of_data; i++)
        h = (h ^ host_nonce[i]) * 0x100000001b3ull;
    int hits = 0;
    for (int t = 0; t < TARGETS; t++) {
        hits += host_found[t] != ~0u;
        h = (h ^ host_found[t]) * 0x100000001b3ull;
    }
    Digest empty = md5_short(0x80, 0, 0, 0);
    printf("md5 of nothing starts %08x, words found %d of %d\n", __builtin_bswap32(empty.a), hits, TARGETS);
    printf("tries %llu hash %016llx\n", host_tries, (unsigned long long)h);
    free(host_nonce);
    CUDA_OK(cudaFree(found));
    CUDA_OK(cudaFree(nonce));
    CUDA_OK(cudaFree(tries));
    return 0;
}
