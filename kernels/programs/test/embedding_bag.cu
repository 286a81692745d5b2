// Embedding bags of a recommender: gather rows of a table by index and pool them (sum, mean, max) for bags of very different lengths; float and int8 rows.
// Hard for a GPU: random rows of a 128 MB table, popular rows shared by many bags, and a few bags a hundred times longer than the rest.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cfloat>
#include <vector>

enum class Pool { Sum, Mean, Max };

constexpr int DIM = 64;
constexpr int ROWS = 500000;
constexpr int BAGS = 60000;

#define RUN(x)                                                                     \
    if ((x) != cudaSuccess) {                                                      \
        fprintf(stderr, "failed at %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError())); \
        exit(1);                                                                   \
    }

__host__ __device__ inline uint32_t mix(uint32_t h)
{
    h = (h ^ 61) ^ (h >> 16);
    h *= 9;
    h ^= h >> 4;
    h *= 0x27d4eb2d;
    return h ^ h >> 15;
}

__global__ void init_table(float4 *table, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint32_t h = mix((uint32_t)i);
        table[i] = make_float4((h & 255) - 127.5f, (h >> 8 & 255) - 127.5f, (h >> 16 & 255) - 127.5f, (h >> 24) - 127.5f);
    }
}

// one warp quantises two rows (16 lanes of float4 each): scale from the largest magnitude
__global__ void quantise(const float4 *table, uint32_t *q, float *scale, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    if (row >= rows)
        return;
    float4 v = table[(size_t)row * 16 + lane];
    float m = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    for (int d = 8; d; d /= 2)
        m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d, 16));
    float s = 127.0f / m;
    uint32_t b0 = __float2int_rn(v.x * s) & 255, b1 = __float2int_rn(v.y * s) & 255;
    uint32_t b2 = __float2int_rn(v.z * s) & 255, b3 = __float2int_rn(v.w * s) & 255;
    q[(size_t)row * 16 + lane] = b0 | b1 << 8 | b2 << 16 | b3 << 24;
    if (lane == 0)
        scale[row] = m / 127.0f;
}

// 16 lanes per bag, a float4 each
template <Pool P>
__global__ void bag_float(const float4 *__restrict__ table, const int *__restrict__ index, const int *__restrict__ offset, float4 *out, int bags)
{
    int bag = blockIdx.x * blockDim.y + threadIdx.y;
    if (bag >= bags)
        return;
    int lane = threadIdx.x, begin = offset[bag], end = offset[bag + 1];
    const float start = P == Pool::Max ? -FLT_MAX : 0.0f;
    float4 acc = make_float4(start, start, start, start);
#pragma unroll 2
    for (int i = begin; i < end; i++) {
        float4 v = __ldg(&table[(size_t)__ldg(&index[i]) * 16 + lane]);
        if constexpr (P == Pool::Max) {
            acc.x = fmaxf(acc.x, v.x), acc.y = fmaxf(acc.y, v.y);
            acc.z = fmaxf(acc.z, v.z), acc.w = fmaxf(acc.w, v.w);
        } else {
            acc.x += v.x, acc.y += v.y, acc.z += v.z, acc.w += v.w;
        }
    }
    if constexpr (P == Pool::Mean) {
        float inv = end > begin ? 1.0f / (end - begin) : 0.0f;
        acc.x *= inv, acc.y *= inv, acc.z *= inv, acc.w *= inv;
    }
    out[(size_t)bag * 16 + lane] = acc;
}

// one block per bag, its 8 groups of 16 lanes take turns with the rows, then add up in fixed order
__global__ void __launch_bounds__(128) bag_int8(const uint32_t *__restrict__ q, const float *__restrict__ scale, const int *__restrict__ index,
                                               const int *__restrict__ offset, float4 *out)
{
    __shared__ float4 part[8][16];
    int group = threadIdx.x / 16, lane = threadIdx.x % 16;
    int begin = offset[blockIdx.x], end = offset[blockIdx.x + 1];
    float4 acc = make_float4(0, 0, 0, 0);
    for (int i = begin + group; i < end; i += 8) {
        int row = index[i];
        uint32_t w = q[(size_t)row * 16 + lane];
        float s = scale[row];
        acc.x += s * (int8_t)(w & 255);
        acc.y += s * (int8_t)(w >> 8 & 255);
        acc.z += s * (int8_t)(w >> 16 & 255);
        acc.w += s * (int8_t)(w >> 24);
    }
    part[group][lane] = acc;
    __syncthreads();
    if (group == 0) {
        for (int g = 1; g < 8; g++) {
            float4 o = part[g][lane];
            acc.x += o.x, acc.y += o.y, acc.z += o.z, acc.w += o.w;
        }
        out[(size_t)blockIdx.x * 16 + lane] = acc;
    }
}

static uint64_t hash_out(const float4 *dev)
{
    std::vector<uint32_t> v((size_t)BAGS * DIM);
    RUN(cudaMemcpy(v.data(), dev, v.size() * 4, cudaMemcpyDeviceToHost));
    uint64_t h = 0xcbf29ce484222325ull;
    for (uint32_t w : v)
        h = (h ^ w) * 0x100000001b3ull;
    return h;
}

int main()
{
    std::vector<int> offset(BAGS + 1), index;
    for (int b = 0; b < BAGS; b++) {
        uint32_t r = mix(b + 1000003);
        int len = r % 32;
        if (r % 97 == 0)
            len = 200 + (r >> 8) % 300;
        offset[b] = (int)index.size();
        for (int i = 0; i < len; i++) {
            uint32_t k = mix((uint32_t)b * 7919u + i);
            // a third of the lookups go to 2000 popular rows
            index.push_back(k % 3 == 0 ? (k >> 4) % 2000 : (k >> 2) % ROWS);
        }
    }
    offset[BAGS] = (int)index.size();
    float4 *table, *out;
    uint32_t *q;
    float *scale;
    int *d_index, *d_offset;
    RUN(cudaMalloc(&table, (size_t)ROWS * DIM * 4));
    RUN(cudaMalloc(&out, (size_t)BAGS * DIM * 4));
    RUN(cudaMalloc(&q, (size_t)ROWS * DIM));
    RUN(cudaMalloc(&scale, ROWS * sizeof(float)));
    RUN(cudaMalloc(&d_index, index.size() * sizeof(int)));
    RUN(cudaMalloc(&d_offset, offset.size() * sizeof(int)));
    RUN(cudaMemcpy(d_index, index.data(), index.size() * sizeof(int), cudaMemcpyHostToDevice));
    RUN(cudaMemcpy(d_offset, offset.data(), offset.size() * sizeof(int), cudaMemcpyHostToDevice));
    init_table<<<264, 768>>>(table, (size_t)ROWS * DIM / 4);
    RUN(cudaGetLastError());
    dim3 block(16, 12);
    int blocks = (BAGS + 11) / 12;
    bag_float<Pool::Sum><<<blocks, block>>>(table, d_index, d_offset, out, BAGS);
    RUN(cudaGetLastError());
    uint64_t sum = hash_out(out);
    bag_float<Pool::Mean><<<blocks, block>>>(table, d_index, d_offset, out, BAGS);
    RUN(cudaGetLastError());
    uint64_t mean = hash_out(out);
    bag_float<Pool::Max><<<(BAGS + 3) / 4, dim3(16, 4)>>>(table, d_index, d_offset, out, BAGS);
    RUN(cudaGetLastError());
    uint64_t max = hash_out(out);
    quantise<<<(ROWS * 16 + 255) / 256, 256>>>(table, q, scale, ROWS);
    RUN(cudaGetLastError());
    bag_int8<<<BAGS, 128>>>(q, scale, d_index, d_offset, out);
    RUN(cudaGetLastError());
    uint64_t int8 = hash_out(out);
    printf("lookups %zu sum %016llx mean %016llx\n", index.size(), (unsigned long long)sum, (unsigned long long)mean);
    printf("max %016llx int8 %016llx\n", (unsigned long long)max, (unsigned long long)int8);
    RUN(cudaFree(table));
    RUN(cudaFree(out));
    RUN(cudaFree(q));
    RUN(cudaFree(scale));
    RUN(cudaFree(d_index));
    RUN(cudaFree(d_offset));
    return 0;
}
