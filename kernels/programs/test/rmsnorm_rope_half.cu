// Transformer glue in half precision: residual add with RMS norm, norm of query/key heads with rotary embedding, keys into a paged cache, gated activation.
// Hard for a GPU: all of it is memory traffic; block reductions stand between load and store, and rows and heads do not match the block size.
#include <cuda_fp16.h>
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

#define HIP_LIKE_CHECK(e) \
    do { if (cudaError_t r = (e)) { fprintf(stderr, "%s at %s:%d\n", cudaGetErrorString(r), __FILE__, __LINE__); exit(1); } } while (0)

constexpr int TOKENS = 1500;
constexpr int HIDDEN = 3584;
constexpr int Q_HEADS = 28, KV_HEADS = 4, HEAD = 128;
constexpr int QKV = (Q_HEADS + 2 * KV_HEADS) * HEAD;
constexpr int FFN = 6144;
constexpr int PAGE = 16;
constexpr int PAGES = (TOKENS + PAGE - 1) / PAGE;

__global__ void fill_half(__half *p, size_t n, uint32_t seed, float scale)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        uint32_t h = ((uint32_t)i ^ seed) * 0x45d9f3bu;
        h = (h ^ h >> 16) * 0x45d9f3bu;
        h ^= h >> 16;
        p[i] = __float2half_rn(((int)(h & 0xffff) - 32768) * (scale / 32768.0f));
    }
}

template <int THREADS>
__device__ float block_sum(float v)
{
    __shared__ float part[THREADS / 32];
    for (int o = 16; o; o >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int i = 0; i < THREADS / 32; i++)
        s += part[i];
    return s;
}

// a block of 448 threads holds one row of 3584 in registers: 8 halves each
__global__ void __launch_bounds__(448) add_rmsnorm(uint4 *residual, const uint4 *__restrict__ x, const uint4 *__restrict__ gain, uint4 *out, float eps)
{
    size_t at = (size_t)blockIdx.x * (HIDDEN / 8) + threadIdx.x;
    uint4 r = residual[at], a = x[at], g = gain[threadIdx.x];
    __half2 *rh = (__half2 *)&r;
    const __half2 *ah = (const __half2 *)&a, *gh = (const __half2 *)&g;
    float sq = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        rh[i] = __hadd2(rh[i], ah[i]);
        float2 f = __half22float2(rh[i]);
        sq += f.x * f.x + f.y * f.y;
    }
    residual[at] = r;
    float inv = rsqrtf(block_sum<448>(sq) / HIDDEN + eps);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float2 f = __half22float2(rh[i]), w = __half22float2(gh[i]);
        rh[i] = __floats2half2_rn(f.x * inv * (1.0f + w.x), f.y * inv * (1.0f + w.y));
    }
    out[at] = r;
}

// one warp per head: lane holds elements lane, +32, +64, +96; pairs (i, i + 64) rotate together
__global__ void head_norm_rope(const __half *__restrict__ qkv, const float2 *__restrict__ cos_sin, const int *__restrict__ position,
                               const int *__restrict__ page_table, __half *q_out, __half *k_cache, __half *v_cache)
{
    int head = blockIdx.y * blockDim.y + threadIdx.y;
    if (head >= Q_HEADS + 2 * KV_HEADS)
        return;
    int token = blockIdx.x, lane = threadIdx.x;
    const __half *src = qkv + (size_t)token * QKV + head * HEAD;
    float v[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        v[i] = __half2float(src[lane + 32 * i]);
    int page = page_table[token / PAGE];
    if (head < Q_HEADS + KV_HEADS) {
        float sq = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
        for (int o = 16; o; o >>= 1)
            sq += __shfl_xor_sync(0xffffffffu, sq, o);
        float inv = rsqrtf(sq / HEAD + 1e-6f);
        const float2 *cs = cos_sin + (size_t)position[token] * (HEAD / 2);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float2 r = cs[lane + 32 * i];
            float a = v[i] * inv, b = v[i + 2] * inv;
            v[i] = a * r.x - b * r.y;
            v[i + 2] = b * r.x + a * r.y;
        }
    }
    __half *dst;
    if (head < Q_HEADS)
        dst = q_out + ((size_t)token * Q_HEADS + head) * HEAD;
    else {
        bool key = head < Q_HEADS + KV_HEADS;
        int kv = head - Q_HEADS - (key ? 0 : KV_HEADS);
        dst = (key ? k_cache : v_cache) + (((size_t)page * KV_HEADS + kv) * PAGE + token % PAGE) * HEAD;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        dst[lane + 32 * i] = __float2half_rn(v[i]);
}

__global__ void rope_table(float2 *cos_sin, int positions)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= positions * HEAD / 2)
        return;
    int pos = i / (HEAD / 2), pair = i % (HEAD / 2);
    // the angle in double, as long positions need it
    double freq = exp(-log(10000.0) * pair / (HEAD / 2));
    double s, c;
    sincos(pos * freq, &s, &c);
    cos_sin[i] = make_float2((float)c, (float)s);
}

// silu(gate) * up, gate and up in halves of the same row
__global__ void silu_mul(const __half2 *__restrict__ gate_up, __half2 *out)
{
    const __half2 *row = gate_up + (size_t)blockIdx.x * FFN;
    for (int i = threadIdx.x; i < FFN / 2; i += blockDim.x) {
        float2 g = __half22float2(row[i]), u = __half22float2(row[i + FFN / 2]);
        g.x = g.x / (1.0f + __expf(-g.x)) * u.x;
        g.y = g.y / (1.0f + __expf(-g.y)) * u.y;
        out[(size_t)blockIdx.x * (FFN / 2) + i] = __float22half2_rn(g);
    }
}

static uint64_t hash_dev(const void *dev, size_t bytes)
{
    std::vector<uint16_t> v(bytes / 2);
    HIP_LIKE_CHECK(cudaMemcpy(v.data(), dev, bytes, cudaMemcpyDeviceToHost));
    uint64_t h = 0xcbf29ce484222325ull;
    for (uint16_t w : v)
        h = (h ^ w) * 0x100000001b3ull;
    return h;
}

template <class T> static T *dev_alloc(size_t n)
{
    T *p;
    HIP_LIKE_CHECK(cudaMalloc(&p, n * sizeof(T)));
    return p;
}

int main()
{
    const int max_pos = 4096;
    __half *residual = dev_alloc<__half>((size_t)TOKENS * HIDDEN), *x = dev_alloc<__half>((size_t)TOKENS * HIDDEN);
    __half *normed = dev_alloc<__half>((size_t)TOKENS * HIDDEN), *gain = dev_alloc<__half>(HIDDEN);
    __half *qkv = dev_alloc<__half>((size_t)TOKENS * QKV), *q = dev_alloc<__half>((size_t)TOKENS * Q_HEADS * HEAD);
    size_t cache = (size_t)PAGES * PAGE * KV_HEADS * HEAD;
    __half *kc = dev_alloc<__half>(cache), *vc = dev_alloc<__half>(cache);
    __half *gate_up = dev_alloc<__half>((size_t)TOKENS * FFN * 2), *act = dev_alloc<__half>((size_t)TOKENS * FFN);
    float2 *cs = dev_alloc<float2>((size_t)max_pos * HEAD / 2);
    int *pos = dev_alloc<int>(TOKENS), *pages = dev_alloc<int>(PAGES);
    std::vector<int> host_pos(TOKENS), host_pages(PAGES);
    for (int i = 0; i < TOKENS; i++)
        host_pos[i] = i < 900 ? i + 2000 : i - 900;
    for (int i = 0; i < PAGES; i++)
        host_pages[i] = (i * 37 + 11) % PAGES;
    HIP_LIKE_CHECK(cudaMemcpy(pos, host_pos.data(), TOKENS * sizeof(int), cudaMemcpyHostToDevice));
    HIP_LIKE_CHECK(cudaMemcpy(pages, host_pages.data(), PAGES * sizeof(int), cudaMemcpyHostToDevice));
    HIP_LIKE_CHECK(cudaMemset(kc, 0, cache * 2));
    HIP_LIKE_CHECK(cudaMemset(vc, 0, cache * 2));
    fill_half<<<264, 512>>>(residual, (size_t)TOKENS * HIDDEN, 1, 4.0f);
    fill_half<<<264, 512>>>(x, (size_t)TOKENS * HIDDEN, 2, 1.0f);
    fill_half<<<4, 512>>>(gain, HIDDEN, 3, 0.25f);
    fill_half<<<264, 512>>>(qkv, (size_t)TOKENS * QKV, 4, 3.0f);
    fill_half<<<264, 512>>>(gate_up, (size_t)TOKENS * FFN * 2, 5, 5.0f);
    HIP_LIKE_CHECK(cudaGetLastError());

    rope_table<<<max_pos * HEAD / 2 / 128, 128>>>(cs, max_pos);
    add_rmsnorm<<<TOKENS, HIDDEN / 8>>>((uint4 *)residual, (const uint4 *)x, (const uint4 *)gain, (uint4 *)normed, 1e-6f);
    HIP_LIKE_CHECK(cudaGetLastError());
    head_norm_rope<<<dim3(TOKENS, 6), dim3(32, 6)>>>(qkv, cs, pos, pages, q, kc, vc);
    HIP_LIKE_CHECK(cudaGetLastError());
    silu_mul<<<TOKENS, 384>>>((const __half2 *)gate_up, (__half2 *)act);
    HIP_LIKE_CHECK(cudaGetLastError());
    HIP_LIKE_CHECK(cudaDeviceSynchronize());
    printf("residual %016llx normed %016llx\n", (unsigned long long)hash_dev(residual, (size_t)TOKENS * HIDDEN * 2),
           (unsigned long long)hash_dev(normed, (size_t)TOKENS * HIDDEN * 2));
    printf("q %016llx k %016llx v %016llx\n", (unsigned long long)hash_dev(q, (size_t)TOKENS * Q_HEADS * HEAD * 2),
           (unsigned long long)hash_dev(kc, cache * 2), (unsigned long long)hash_dev(vc, cache * 2));
    printf("act %016llx\n", (unsigned long long)hash_dev(act, (size_t)TOKENS * FFN * 2));
    void *all[] = {residual, x, normed, gain, qkv, q, kc, vc, gate_up, act, cs, pos, pages};
    for (void *p : all)
        HIP_LIKE_CHECK(cudaFree(p));
    return 0;
}
