// Signal processing pipeline: a long recording is cut into chunks, each chunk is
// copied in, filtered, quantised and copied out on one of four streams.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <vector>
#include <algorithm>
#include <cuda_runtime.h>

#define CUDA_CHECK(expr)                                                        \
    do {                                                                        \
        cudaError_t _e = (expr);                                                \
        if (_e != cudaSuccess) {                                                \
            std::fprintf(stderr, "%s:%d %s -> %s\n", __FILE__, __LINE__, #expr, \
                         cudaGetErrorString(_e));                               \
            std::exit(2);                                                       \
        }                                                                       \
    } while (0)

constexpr int kTaps = 33;
constexpr int kHalo = kTaps - 1;
constexpr int kStreams = 4;
constexpr int kChunk = 250 * 1000;
constexpr int kTotal = 15 * kChunk + 123457;      // the last chunk is a short one
constexpr int kChunks = (kTotal + kChunk - 1) / kChunk;
constexpr int kBins = 256;

__constant__ float c_taps[kTaps];

struct ChunkStats {
    float peak;
    int clipped;
};

__global__ void convert_kernel(const short *in, float *out, int n, float gain)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * gain;
}

// in has kHalo leading samples
__global__ void fir_kernel(const float *__restrict__ in, float *__restrict__ out, int n)
{
    extern __shared__ float tile[];
    int base = blockIdx.x * blockDim.x;
    for (int i = threadIdx.x; i < (int)blockDim.x + kHalo; i += blockDim.x) {
        int g = base + i;
        tile[i] = g < n + kHalo ? in[g] : 0.0f;
    }
    __syncthreads();
    int i = base + threadIdx.x;
    if (i >= n) return;
    float acc = 0.0f;
#pragma unroll
    for (int t = 0; t < kTaps; t++) acc = fmaf(c_taps[t], tile[threadIdx.x + kHalo - t], acc);
    out[i] = acc;
}

// soft limiter + 8 bit quantiser, histogram in shared memory, 4 samples per thread
__global__ void quantise_kernel(const float *in, unsigned char *out, int n, unsigned int *hist,
                                int *peak_bits, int *clipped)
{
    __shared__ unsigned int h[kBins];
    __shared__ float warp_peak[32];
    for (int b = threadIdx.x; b < kBins; b += blockDim.x) h[b] = 0;
    __syncthreads();
    float peak = 0.0f;
    int clip = 0;
    int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        int i = first + k * blockDim.x;
        if (i < n) {
            float v = in[i];
            peak = fmaxf(peak, fabsf(v));
            if (v > 1.0f || v < -1.0f) clip++;
            v = v / (1.0f + 0.5f * fabsf(v));
            int q = __float2int_rn(v * 127.0f) + 128;
            q = min(max(q, 0), 255);
            out[i] = (unsigned char)q;
            atomicAdd(&h[q], 1u);
        }
    }
    for (int o = 16; o > 0; o >>= 1) {
        peak = fmaxf(peak, __shfl_down_sync(0xffffffffu, peak, o));
        clip += __shfl_down_sync(0xffffffffu, clip, o);
    }
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    if (lane == 0) {
        warp_peak[wid] = peak;
        if (clip) atomicAdd(clipped, clip);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < kBins; b += blockDim.x)
        if (h[b]) atomicAdd(&hist[b], h[b]);
    if (threadIdx.x == 0) {
        for (int w = 1; w < (int)(blockDim.x / 32); w++) peak = fmaxf(peak, warp_peak[w]);
        atomicMax(peak_bits, __float_as_int(peak));
    }
}

// one block, after all of the chunks: merges the per-chunk histograms
__global__ void summary_kernel(const unsigned int *hist, int chunks, unsigned int *total, unsigned int *cdf)
{
    __shared__ unsigned int s[kBins];
    int t = threadIdx.x;
    unsigned int v = 0;
    for (int c = 0; c < chunks; c++) v += hist[c * kBins + t];
    total[t] = v;
    s[t] = v;
    __syncthreads();
    for (int d = 1; d < kBins; d <<= 1) {
        unsigned int add = t >= d ? s[t - d] : 0u;
        __syncthreads();
        s[t] += add;
        __syncthreads();
    }
    cdf[t] = s[t];
}

// histogram equalisation of the coded samples that stayed on the device
__global__ void remap_kernel(unsigned char *data, int n, const unsigned int *cdf)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long c = cdf[data[i]];
    data[i] = (unsigned char)(c * 255ull / (unsigned long long)cdf[kBins - 1]);
}

static unsigned long long fnv(const void *p, size_t n)
{
    unsigned long long h = 1469598103934665603ULL;
    for (size_t i = 0; i < n; i++) { h ^= ((const unsigned char *)p)[i]; h *= 1099511628211ULL; }
    return h;
}

int main()
{
    short *h_in;
    unsigned char *h_out, *h_eq;
    ChunkStats *h_stats;
    CUDA_CHECK(cudaMallocHost((void **)&h_in, (kTotal + kHalo) * sizeof(short)));
    CUDA_CHECK(cudaMallocHost((void **)&h_out, kTotal));
    CUDA_CHECK(cudaHostAlloc((void **)&h_eq, kChunk, cudaHostAllocDefault));
    CUDA_CHECK(cudaMallocHost((void **)&h_stats, kChunks * sizeof(ChunkStats)));
    std::memset(h_in, 0, kHalo * sizeof(short));
    unsigned int s = 2024;
    int tri = 0, dir = 37;
    for (int i = 0; i < kTotal; i++) {
        s = s * 1664525u + 1013904223u;
        tri += dir;
        if (tri > 16000 || tri < -16000) dir = -dir + (i % 3) - 1;
        if (dir == 0) dir = 23;
        tri = std::max(-16100, std::min(16100, tri));
        h_in[kHalo + i] = (short)(tri + (int)(s >> 20) * 4 - 8192 + ((i / 70000) % 4) * 900);
    }
    std::vector<float> taps(kTaps);
    float sum = 0.0f;
    for (int t = 0; t < kTaps; t++) {
        int d = std::abs(t - kTaps / 2);
        taps[t] = (float)(kTaps / 2 + 1 - d);
        sum += taps[t];
    }
    for (float &t : taps) t /= sum;
    CUDA_CHECK(cudaMemcpyToSymbol(c_taps, taps.data(), kTaps * sizeof(float)));

    short *d_in[kStreams];
    float *d_f[kStreams], *d_y[kStreams];
    unsigned char *d_q;
    unsigned int *d_hist, *d_total, *d_cdf;
    int *d_stats;
    cudaStream_t st[kStreams];
    cudaEvent_t done[kChunks], t0, t1;
    for (int k = 0; k < kStreams; k++) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&st[k], cudaStreamNonBlocking));
        CUDA_CHECK(cudaMalloc((void **)&d_in[k], (kChunk + kHalo) * sizeof(short)));
        CUDA_CHECK(cudaMalloc((void **)&d_f[k], (kChunk + kHalo) * sizeof(float)));
        CUDA_CHECK(cudaMalloc((void **)&d_y[k], kChunk * sizeof(float)));
    }
    for (int c = 0; c < kChunks; c++) CUDA_CHECK(cudaEventCreateWithFlags(&done[c], cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreate(&t0));
    CUDA_CHECK(cudaEventCreate(&t1));
    CUDA_CHECK(cudaMalloc((void **)&d_q, kTotal));
    CUDA_CHECK(cudaMalloc((void **)&d_hist, kChunks * kBins * sizeof(unsigned int)));
    CUDA_CHECK(cudaMalloc((void **)&d_total, kBins * sizeof(unsigned int)));
    CUDA_CHECK(cudaMalloc((void **)&d_cdf, kBins * sizeof(unsigned int)));
    CUDA_CHECK(cudaMalloc((void **)&d_stats, kChunks * sizeof(ChunkStats)));
    CUDA_CHECK(cudaMemset(d_hist, 0, kChunks * kBins * sizeof(unsigned int)));
    CUDA_CHECK(cudaMemset(d_stats, 0, kChunks * sizeof(ChunkStats)));
    CUDA_CHECK(cudaDeviceSynchronize());

    CUDA_CHECK(cudaEventRecord(t0, st[0]));
    for (int c = 0; c < kChunks; c++) {
        int k = c % kStreams;
        int off = c * kChunk, n = std::min(kChunk, kTotal - off);
        CUDA_CHECK(cudaMemcpyAsync(d_in[k], h_in + off, (n + kHalo) * sizeof(short), cudaMemcpyHostToDevice, st[k]));
        convert_kernel<<<(n + kHalo + 255) / 256, 256, 0, st[k]>>>(d_in[k], d_f[k], n + kHalo, 1.0f / 14000.0f);
        int bs = 320;
        fir_kernel<<<(n + bs - 1) / bs, bs, (bs + kHalo) * sizeof(float), st[k]>>>(d_f[k], d_y[k], n);
        quantise_kernel<<<(n + 1023) / 1024, 256, 0, st[k]>>>(d_y[k], d_q + off, n, d_hist + c * kBins,
                                                              d_stats + 2 * c, d_stats + 2 * c + 1);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(h_out + off, d_q + off, n, cudaMemcpyDeviceToHost, st[k]));
        CUDA_CHECK(cudaMemcpyAsync(h_stats + c, d_stats + 2 * c, sizeof(ChunkStats), cudaMemcpyDeviceToHost, st[k]));
        CUDA_CHECK(cudaEventRecord(done[c], st[k]));
    }
    // stream 0 joins the other ones, then equalises the whole recording
    for (int c = 0; c < kChunks; c++) CUDA_CHECK(cudaStreamWaitEvent(st[0], done[c], 0));
    summary_kernel<<<1, kBins, 0, st[0]>>>(d_hist, kChunks, d_total, d_cdf);
    remap_kernel<<<(kTotal + 511) / 512, 512, 0, st[0]>>>(d_q, kTotal, d_cdf);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyAsync(h_eq, d_q + 3 * kChunk + 777, kChunk, cudaMemcpyDeviceToHost, st[0]));
    CUDA_CHECK(cudaEventRecord(t1, st[0]));
    CUDA_CHECK(cudaEventSynchronize(t1));
    float ms = -1.0f;
    CUDA_CHECK(cudaEventElapsedTime(&ms, t0, t1));
    if (ms < 0.0f) std::printf("negative time\n");
    for (int k = 0; k < kStreams; k++) CUDA_CHECK(cudaStreamSynchronize(st[k]));

    std::vector<unsigned int> hist(kBins), ref(kBins, 0);
    CUDA_CHECK(cudaMemcpy(hist.data(), d_total, kBins * sizeof(unsigned int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < kTotal; i++) ref[h_out[i]]++;
    float peak = 0.0f;
    int clipped = 0;
    for (int c = 0; c < kChunks; c++) {
        peak = std::max(peak, h_stats[c].peak);
        clipped += h_stats[c].clipped;
    }
    std::printf("%d samples in %d chunks, peak %.6f, clipped %d\n", kTotal, kChunks, peak, clipped);
    std::printf("histogram %s\n", hist == ref ? "ok" : "mismatch");
    std::printf("coded %016llx equalised %016llx\n", fnv(h_out, kTotal), fnv(h_eq, kChunk));

    for (int k = 0; k < kStreams; k++) {
        CUDA_CHECK(cudaFree(d_in[k])); CUDA_CHECK(cudaFree(d_f[k])); CUDA_CHECK(cudaFree(d_y[k]));
        CUDA_CHECK(cudaStreamDestroy(st[k]));
    }
    for (int c = 0; c < kChunks; c++) CUDA_CHECK(cudaEventDestroy(done[c]));
    CUDA_CHECK(cudaEventDestroy(t0)); CUDA_CHECK(cudaEventDestroy(t1));
    CUDA_CHECK(cudaFree(d_q)); CUDA_CHECK(cudaFree(d_hist)); CUDA_CHECK(cudaFree(d_total));
    CUDA_CHECK(cudaFree(d_cdf)); CUDA_CHECK(cudaFree(d_stats));
    CUDA_CHECK(cudaFreeHost(h_in)); CUDA_CHECK(cudaFreeHost(h_out)); CUDA_CHECK(cudaFreeHost(h_eq)); CUDA_CHECK(cudaFreeHost(h_stats));
    return 0;
}
