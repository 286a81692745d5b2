// Histograms of 256 and 4096 bins over skewed data: global atomics, one shared copy per block, one copy per warp.
// Hard for a GPU: half of the values fall into a few bins, so atomics on the same address queue up.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_ERR(call) \
    if (cudaError_t e_ = (call)) { \
        fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(e_)); \
        return 1; \
    }

constexpr int COUNT = 6 * 1000 * 1000;

__global__ void synth(unsigned *data, int n)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned h = i * 0xcc9e2d51u;
        h ^= h >> 15;
        h *= 0x1b873593u;
        h ^= h >> 13;
        h *= 0xe6546b64u;
        h ^= h >> 16;
        // triangular/peaked: the and of two halves is biased to low values
        data[i] = (h & 1) ? (h >> 8) & 0xffff : ((h >> 1) & (h >> 14)) & 0x0fff;
    }
}

template <int BINS>
__global__ void hist_global(const unsigned *data, int n, unsigned *hist)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&hist[data[i] * BINS >> 16], 1u);
}

template <int BINS>
__global__ void hist_shared(const uint4 *__restrict__ data, int n4, unsigned *hist)
{
    __shared__ unsigned local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        uint4 v = data[i];
        atomicAdd(&local[v.x * BINS >> 16], 1u);
        atomicAdd(&local[v.y * BINS >> 16], 1u);
        atomicAdd(&local[v.z * BINS >> 16], 1u);
        atomicAdd(&local[v.w * BINS >> 16], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (local[b])
            atomicAdd(&hist[b], local[b]);
}

template <int WARPS>
__global__ void __launch_bounds__(WARPS * 32) hist_per_warp(const uint4 *__restrict__ data, int n4, unsigned *hist)
{
    __shared__ unsigned local[WARPS][256 + 1];
    for (int b = threadIdx.x; b < WARPS * 257; b += WARPS * 32)
        (&local[0][0])[b] = 0;
    __syncthreads();
    unsigned *mine = local[threadIdx.x / 32];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        uint4 v = __ldg(data + i);
        atomicAdd(mine + (v.x >> 8), 1u);
        atomicAdd(mine + (v.y >> 8), 1u);
        atomicAdd(mine + (v.z >> 8), 1u);
        atomicAdd(mine + (v.w >> 8), 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += WARPS * 32) {
        unsigned sum = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            sum += local[w][b];
        atomicAdd(hist + b, sum);
    }
}

int main()
{
    unsigned *data, *hist;
    CHECK_ERR(cudaMalloc(&data, COUNT * sizeof(unsigned)));
    CHECK_ERR(cudaMalloc(&hist, 5 * 4096 * sizeof(unsigned)));
    CHECK_ERR(cudaMemset(hist, 0, 5 * 4096 * sizeof(unsigned)));
    synth<<<264, 512>>>(data, COUNT);
    const int sub = COUNT / 3; // the slow ones get a third
    hist_global<256><<<(sub + 255) / 256, 256>>>(data, sub, hist);
    hist_global<4096><<<(sub + 1023) / 1024, 1024>>>(data, sub, hist + 4096);
    hist_shared<256><<<396, 256>>>((const uint4 *)data, COUNT / 4, hist + 2 * 4096);
    hist_shared<4096><<<264, 512>>>((const uint4 *)data, COUNT / 4, hist + 3 * 4096);
    hist_per_warp<8><<<528, 256>>>((const uint4 *)data, COUNT / 4, hist + 4 * 4096);
    CHECK_ERR(cudaGetLastError());
    std::vector<unsigned> h(5 * 4096);
    CHECK_ERR(cudaMemcpy(h.data(), hist, h.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    const char *names[5] = {"global256", "global4096", "shared256", "shared4096", "perwarp256"};
    for (int k = 0; k < 5; k++) {
        unsigned long long f = 14695981039346656037ull, sum = 0;
        for (int b = 0; b < 4096; b++) {
            f = (f ^ h[k * 4096 + b]) * 1099511628211ull;
            sum += h[k * 4096 + b];
        }
        printf("%-10s total %llu hash %016llx\n", names[k], sum, f);
    }
    cudaFree(data);
    cudaFree(hist);
    return 0;
}
