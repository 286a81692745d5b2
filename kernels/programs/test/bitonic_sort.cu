// Bitonic sort of 24 arrays of 65536 key/value pairs: steps within 4096 elements in shared memory, longer strides in global memory, two at a time.
// Hard for a GPU: 136 compare-exchange steps, each separated by a barrier or a launch, and shared memory strides that hit the same banks.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

using u32 = uint32_t;
using u64 = uint64_t;

#define CU(x) do { cudaError_t r = (x); if (r != cudaSuccess) { fprintf(stderr, "%s -> %s\n", #x, cudaGetErrorName(r)); abort(); } } while (0)

constexpr u32 LOCAL = 4096;
constexpr u32 LENGTH = 65536;
constexpr u32 ARRAYS = 24;
constexpr u32 TOTAL = LENGTH * ARRAYS;

__device__ __forceinline__ void exchange(u32 &ka, u32 &va, u32 &kb, u32 &vb, bool descending)
{
    // ties are broken by value, so that the result is unique
    bool greater = ka > kb || (ka == kb && va > vb);
    if (greater != descending) {
        u32 k = ka, v = va;
        ka = kb, va = vb;
        kb = k, vb = v;
    }
}

__global__ void fill(u32 *keys, u32 *values, u32 n)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u32 x = i * 0x9e3779b9u;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    x ^= x >> 12;
    x *= 0x297a2d39u;
    x ^= x >> 15;
    keys[i] = x >> 8;  // some duplicates
    values[i] = i % LENGTH;
}

// steps of a stage from the given stride down to 1, in shared memory
__device__ void shared_steps(u32 *k, u32 *v, u32 size, u32 stride, u32 base)
{
    for (; stride > 0; stride >>= 1) {
        __syncthreads();
#pragma unroll
        for (u32 p = threadIdx.x; p < LOCAL / 2; p += 1024) {
            u32 a = 2 * p - (p & (stride - 1));
            bool descending = ((base + a) & size) != 0;
            u32 ka = k[a], va = v[a], kb = k[a + stride], vb = v[a + stride];
            exchange(ka, va, kb, vb, descending);
            k[a] = ka, v[a] = va;
            k[a + stride] = kb, v[a + stride] = vb;
        }
    }
}

template <bool WHOLE_SORT>
__global__ void __launch_bounds__(1024) sort_local(u32 *keys, u32 *values, u32 size)
{
    __shared__ u32 k[LOCAL], v[LOCAL];
    u32 first = blockIdx.x * LOCAL;
    u32 base = first % LENGTH;
    for (u32 i = threadIdx.x; i < LOCAL; i += 1024) {
        k[i] = keys[first + i];
        v[i] = values[first + i];
    }
    if (WHOLE_SORT) {
        for (u32 s = 2; s <= LOCAL; s *= 2)
            shared_steps(k, v, s, s / 2, base);
    } else {
        shared_steps(k, v, size == LENGTH ? 0 : size, LOCAL / 2, base);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < LOCAL; i += 1024) {
        keys[first + i] = k[i];
        values[first + i] = v[i];
    }
}

// one step with a long stride
__global__ void step_global(u32 *keys, u32 *values, u32 size, u32 stride)
{
    u32 p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= TOTAL / 2)
        return;
    u32 a = 2 * p - (p & (stride - 1));
    u32 ka = keys[a], va = values[a], kb = keys[a + stride], vb = values[a + stride];
    exchange(ka, va, kb, vb, size != LENGTH && (a & size));
    keys[a] = ka, values[a] = va;
    keys[a + stride] = kb, values[a + stride] = vb;
}

// two steps (stride, stride / 2) with four elements in registers
__global__ void step_global2(u32 *keys, u32 *values, u32 size, u32 stride)
{
    u32 q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= TOTAL / 4)
        return;
    u32 half = stride / 2;
    u32 a = 4 * q - 3 * (q & (half - 1));
    bool descending = size != LENGTH && (a & size);
    u32 k[4], v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        k[i] = keys[a + i * half];
        v[i] = values[a + i * half];
    }
    exchange(k[0], v[0], k[2], v[2], descending);
    exchange(k[1], v[1], k[3], v[3], descending);
    exchange(k[0], v[0], k[1], v[1], descending);
    exchange(k[2], v[2], k[3], v[3], descending);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        keys[a + i * half] = k[i];
        values[a + i * half] = v[i];
    }
}

int main()
{
    u32 *keys, *values;
    CU(cudaMalloc(&keys, TOTAL * sizeof(u32)));
    CU(cudaMalloc(&values, TOTAL * sizeof(u32)));
    fill<<<(TOTAL + 255) / 256, 256>>>(keys, values, TOTAL);
    CU(cudaGetLastError());
    sort_local<true><<<TOTAL / LOCAL, 1024>>>(keys, values, 0);
    CU(cudaGetLastError());
    for (u32 size = LOCAL * 2; size <= LENGTH; size *= 2) {
        u32 stride = size / 2;
        while (stride >= LOCAL) {
            if (stride / 2 >= LOCAL) {
                step_global2<<<(TOTAL / 4 + 127) / 128, 128>>>(keys, values, size, stride);
                stride /= 4;
            } else {
                step_global<<<(TOTAL / 2 + 255) / 256, 256>>>(keys, values, size, stride);
                stride /= 2;
            }
            CU(cudaGetLastError());
        }
        sort_local<false><<<TOTAL / LOCAL, 1024>>>(keys, values, size);
        CU(cudaGetLastError());
    }
    CU(cudaDeviceSynchronize());
    std::vector<u32> k(TOTAL), v(TOTAL);
    CU(cudaMemcpy(k.data(), keys, TOTAL * sizeof(u32), cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(v.data(), values, TOTAL * sizeof(u32), cudaMemcpyDeviceToHost));
    u32 unsorted = 0;
    u64 h = 0xcbf29ce484222325ull;
    for (u32 i = 0; i < TOTAL; i++) {
        if (i % LENGTH && (k[i - 1] > k[i] || (k[i - 1] == k[i] && v[i - 1] >= v[i])))
            unsorted++;
        h = (h ^ k[i]) * 0x100000001b3ull;
        h = (h ^ v[i]) * 0x100000001b3ull;
    }
    printf("sorted %016llx, out of order %u\n", (unsigned long long)h, unsorted);
    CU(cudaFree(keys));
    CU(cudaFree(values));
    return 0;
}
