// Integral images of values and squares (scan of rows, then of columns), used for box sums and for adaptive thresholding by local mean and deviation.
// Hard for a GPU: the row scan is bound by barriers, the column scan has one thread per column and walks down, corner reads are strided.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

using u8 = unsigned char;
using u32 = unsigned;
using u64 = unsigned long long;

#define CHK(x) { auto err = (x); if (err != cudaSuccess) { fprintf(stderr, "[%d] %s\n", __LINE__, cudaGetErrorString(err)); exit(1); } }

constexpr int W = 2560, H = 1600;
constexpr int ROW_THREADS = 320;           // 8 pixels each

__device__ inline u32 warp_scan(u32 v, int lane)
{
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        u32 o = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v += o;
    }
    return v;
}

// one block per row: 8 bytes per thread, sums of values and of squares; a row of squares fits in 32 bits
__global__ void scan_rows(const uint2 *__restrict__ image, u32 *__restrict__ sum, u32 *__restrict__ square)
{
    __shared__ u32 part[2][ROW_THREADS / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint2 raw = image[blockIdx.x * (W / 8) + threadIdx.x];
    u32 s[8], q[8], a = 0, b = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        u32 v = (i < 4 ? raw.x >> 8 * i : raw.y >> 8 * (i - 4)) & 255;
        s[i] = a += v;
        q[i] = b += v * v;
    }
    u32 as = warp_scan(a, lane), bs = warp_scan(b, lane);
    if (lane == 31) {
        part[0][warp] = as;
        part[1][warp] = bs;
    }
    __syncthreads();
    u32 base_s = as - a, base_q = bs - b;
    for (int w = 0; w < warp; w++) {
        base_s += part[0][w];
        base_q += part[1][w];
    }
    uint4 *so = (uint4 *)(sum + (size_t)blockIdx.x * W) + 2 * threadIdx.x;
    uint4 *qo = (uint4 *)(square + (size_t)blockIdx.x * W) + 2 * threadIdx.x;
    so[0] = make_uint4(s[0] + base_s, s[1] + base_s, s[2] + base_s, s[3] + base_s);
    so[1] = make_uint4(s[4] + base_s, s[5] + base_s, s[6] + base_s, s[7] + base_s);
    qo[0] = make_uint4(q[0] + base_q, q[1] + base_q, q[2] + base_q, q[3] + base_q);
    qo[1] = make_uint4(q[4] + base_q, q[5] + base_q, q[6] + base_q, q[7] + base_q);
}

// simple version: a thread per column, in place
__global__ void scan_columns_walk(u32 *sum)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    u32 acc = 0;
#pragma unroll 4
    for (int y = 0; y < H; y++) {
        acc += sum[(size_t)y * W + x];
        sum[(size_t)y * W + x] = acc;
    }
}

// 32 columns a block, 25 warps each take 64 rows: strip totals, then offsets, then the strip again; result in 64 bits
__global__ void __launch_bounds__(800) scan_columns_strips(const u32 *__restrict__ in, u64 *__restrict__ out)
{
    __shared__ u64 total[25][32];
    int x = blockIdx.x * 32 + threadIdx.x, y0 = threadIdx.y * 64;
    u64 acc = 0;
    for (int y = y0; y < y0 + 64; y++)
        acc += in[(size_t)y * W + x];
    total[threadIdx.y][threadIdx.x] = acc;
    __syncthreads();
    acc = 0;
    for (int w = 0; w < (int)threadIdx.y; w++)
        acc += total[w][threadIdx.x];
    for (int y = y0; y < y0 + 64; y++) {
        acc += in[(size_t)y * W + x];
        out[(size_t)y * W + x] = acc;
    }
}

template <class T>
__device__ inline T box(const T *t, int x0, int y0, int x1, int y1)
{
    // sum over (x0, x1] x (y0, y1]; -1 stands for the border of zeros
    T v = t[(size_t)y1 * W + x1];
    if (x0 >= 0)
        v -= t[(size_t)y1 * W + x0];
    if (y0 >= 0)
        v -= t[(size_t)y0 * W + x1];
    if (x0 >= 0 && y0 >= 0)
        v += t[(size_t)y0 * W + x0];
    return v;
}

// Niblack-like threshold in integers: pixel is ink when it is darker than mean - deviation / 4
__global__ void threshold(const u8 *image, const u32 *sum, const u64 *square, int radius, u8 *ink, u32 *count)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int x0 = max(x - radius, 0) - 1, y0 = max(y - radius, 0) - 1, x1 = min(x + radius, W - 1), y1 = min(y + radius, H - 1);
    u32 n = (x1 - x0) * (y1 - y0);
    u32 s = box(sum, x0, y0, x1, y1);
    u64 q = box(square, x0, y0, x1, y1);
    // (mean - pixel) > sqrt(var) / 4, both sides times n, squared
    long long diff = (long long)s - (long long)n * image[(size_t)y * W + x];
    u64 var = q * n - (u64)s * s;
    bool dark = diff > 0 && (u64)(16 * diff * diff) > var;
    ink[(size_t)y * W + x] = dark ? 255 : 0;
    u32 votes = __popc(__ballot_sync(0xffffffffu, dark));
    if (threadIdx.x % 32 == 0 && votes)
        atomicAdd(count, votes);
}

// box blur with integer division, radius changes over the picture
__global__ void variable_blur(const u32 *sum, u8 *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    int radius = 1 + (x * 31 / W) + (y * 31 / H);
    int x0 = max(x - radius, 0) - 1, y0 = max(y - radius, 0) - 1, x1 = min(x + radius, W - 1), y1 = min(y + radius, H - 1);
    u32 n = (x1 - x0) * (y1 - y0);
    out[(size_t)y * W + x] = (u8)((box(sum, x0, y0, x1, y1) + n / 2) / n);
}

static u64 fnv(const u8 *dev)
{
    std::vector<u8> v((size_t)W * H);
    CHK(cudaMemcpy(v.data(), dev, v.size(), cudaMemcpyDeviceToHost));
    u64 h = 0xcbf29ce484222325ull;
    for (u8 b : v)
        h = (h ^ b) * 0x100000001b3ull;
    return h;
}

int main()
{
    const size_t n = (size_t)W * H;
    std::vector<u8> host(n);
    u32 s = 4242;
    for (size_t i = 0; i < n; i++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        int x = i % W, y = i / W;
        bool stroke = (x / 7 + y / 11) % 9 == 0 || (x * 3 + y) % 97 < 5;
        host[i] = (u8)(120 + x * 80 / W - y * 50 / H - (stroke ? 60 : 0) + (int)(s % 24));
    }
    u8 *image, *ink, *blurred;
    u32 *sum, *square_rows, *count, ink_count;
    u64 *square;
    CHK(cudaMalloc(&image, n));
    CHK(cudaMalloc(&ink, n));
    CHK(cudaMalloc(&blurred, n));
    CHK(cudaMalloc(&sum, n * sizeof(u32)));
    CHK(cudaMalloc(&square_rows, n * sizeof(u32)));
    CHK(cudaMalloc(&square, n * sizeof(u64)));
    CHK(cudaMalloc(&count, sizeof(u32)));
    CHK(cudaMemset(count, 0, sizeof(u32)));
    CHK(cudaMemcpy(image, host.data(), n, cudaMemcpyHostToDevice));

    scan_rows<<<H, ROW_THREADS>>>((const uint2 *)image, sum, square_rows);
    CHK(cudaGetLastError());
    scan_columns_walk<<<W / 64, 64>>>(sum);
    CHK(cudaGetLastError());
    scan_columns_strips<<<W / 32, dim3(32, 25)>>>(square_rows, square);
    CHK(cudaGetLastError());
    threshold<<<dim3(W / 32, H / 4), dim3(32, 4)>>>(image, sum, square, 12, ink, count);
    CHK(cudaGetLastError());
    variable_blur<<<dim3(W / 512, H), 512>>>(sum, blurred);
    CHK(cudaGetLastError());
    CHK(cudaDeviceSynchronize());
    CHK(cudaMemcpy(&ink_count, count, sizeof(u32), cudaMemcpyDeviceToHost));
    printf("ink %u %016llx blurred %016llx\n", ink_count, fnv(ink), fnv(blurred));
    CHK(cudaFree(image));
    CHK(cudaFree(ink));
    CHK(cudaFree(blurred));
    CHK(cudaFree(sum));
    CHK(cudaFree(square_rows));
    CHK(cudaFree(square));
    CHK(cudaFree(count));
    return 0;
}
