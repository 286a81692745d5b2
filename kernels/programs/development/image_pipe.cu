/* Image pipeline: RGB -> YUV, CLAHE on luma, Harris corners with non-maximum suppression, bicubic warp.
 * Odd image size on purpose (1283 x 719). */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

typedef unsigned char  u8;
typedef unsigned int   u32;
typedef unsigned long long u64;

#define CK(x) if (cudaError_t e__ = (x)) { printf("error %d (%s) at %s:%d\n", int(e__), cudaGetErrorString(e__), __FILE__, __LINE__); exit(1); }

const int IMG_W = 1283, IMG_H = 719;
const int TILES_X = 8, TILES_Y = 8;
const int TILE_W = (IMG_W + TILES_X - 1) / TILES_X;   // 161
const int TILE_H = (IMG_H + TILES_Y - 1) / TILES_Y;   // 90
const int MAX_CORNERS = 1 << 16;

__device__ inline int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

// packed rgb -> planar yuv, fixed point BT.601
__global__ void rgbToYuv(const u8 *rgb, u8 *Y, u8 *U, u8 *V, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    Y[i] = u8(clampi(((66 * r + 129 * g + 25 * b + 128) >> 8) + 16, 0, 255));
    U[i] = u8(clampi(((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128, 0, 255));
    V[i] = u8(clampi(((112 * r - 94 * g - 18 * b + 128) >> 8) + 128, 0, 255));
}

// one block per tile
__global__ void tileHistogram(const u8 *Y, u32 *hist, int w, int h)
{
    __shared__ u32 bins[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    int x0 = blockIdx.x * TILE_W, y0 = blockIdx.y * TILE_H;
    int x1 = min(x0 + TILE_W, w), y1 = min(y0 + TILE_H, h);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int y = y0 + warp; y < y1; y += warps)
        for (int x = x0 + lane; x < x1; x += 32)
            atomicAdd(&bins[Y[y * w + x]], 1u);
    __syncthreads();
    u32 *dst = hist + (blockIdx.y * gridDim.x + blockIdx.x) * 256;
    for (int i = threadIdx.x; i < 256; i += blockDim.x) dst[i] = bins[i];
}

// clip, redistribute, cumulate; 256 threads, one block per tile
__global__ void claheLut(const u32 *hist, u8 *lut, float clipLimit, int w, int h)
{
    __shared__ u32 sc[2][256];
    __shared__ u32 excess;
    int t = threadIdx.x, tile = blockIdx.x;
    int tx = tile % TILES_X, ty = tile / TILES_X;
    int area = (min((tx + 1) * TILE_W, w) - tx * TILE_W) * (min((ty + 1) * TILE_H, h) - ty * TILE_H);
    u32 limit = max(1u, u32(clipLimit * area / 256.0f));
    if (t == 0) excess = 0;
    __syncthreads();
    u32 c = hist[tile * 256 + t];
    if (c > limit) { atomicAdd(&excess, c - limit); c = limit; }
    __syncthreads();
    c += excess / 256 + (u32(t) < excess % 256 ? 1 : 0);
    int cur = 0;
    sc[0][t] = c;
    __syncthreads();
    for (int o = 1; o < 256; o *= 2) {
        sc[cur ^ 1][t] = sc[cur][t] + (t >= o ? sc[cur][t - o] : 0);
        cur ^= 1;
        __syncthreads();
    }
    lut[tile * 256 + t] = u8(min(255u, (sc[cur][t] * 255u + area / 2) / area));
}

// bilinear mix of the four neighbouring tile LUTs, 8 bit fixed point weights
__global__ void claheApply(const u8 *src, const u8 *__restrict__ lut, u8 *dst, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int fx = ((2 * x + 1 - TILE_W) * 128) / TILE_W, fy = ((2 * y + 1 - TILE_H) * 128) / TILE_H;   // tile coords * 256
    int tx = fx >> 8, ty = fy >> 8, ax = fx & 255, ay = fy & 255;
    int tx0 = clampi(tx, 0, TILES_X - 1), tx1 = clampi(tx + 1, 0, TILES_X - 1);
    int ty0 = clampi(ty, 0, TILES_Y - 1), ty1 = clampi(ty + 1, 0, TILES_Y - 1);
    int v = src[y * w + x];
    int a = lut[(ty0 * TILES_X + tx0) * 256 + v], b = lut[(ty0 * TILES_X + tx1) * 256 + v];
    int c = lut[(ty1 * TILES_X + tx0) * 256 + v], d = lut[(ty1 * TILES_X + tx1) * 256 + v];
    int top = a * (256 - ax) + b * ax, bot = c * (256 - ax) + d * ax;
    dst[y * w + x] = u8((top * (256 - ay) + bot * ay + 32768) >> 16);
}

// Harris response, sobel gradients, 5x5 window; 32x8 block, gradients staged in shared memory
#define HX 32
#define HY 8
__global__ void harrisResponse(const u8 *img, float *resp, int w, int h, float k)
{
    __shared__ u8 px[HY + 6][HX + 6];
    __shared__ short2 grad[HY + 4][HX + 4];
    int bx = blockIdx.x * HX, by = blockIdx.y * HY;
    int tid = threadIdx.y * HX + threadIdx.x;
    for (int i = tid; i < (HX + 6) * (HY + 6); i += HX * HY) {
        int lx = i % (HX + 6), ly = i / (HX + 6);
        px[ly][lx] = img[clampi(by + ly - 3, 0, h - 1) * w + clampi(bx + lx - 3, 0, w - 1)];
    }
    __syncthreads();
    for (int i = tid; i < (HX + 4) * (HY + 4); i += HX * HY) {
        int lx = i % (HX + 4), ly = i / (HX + 4);
        int p00 = px[ly][lx], p01 = px[ly][lx + 1], p02 = px[ly][lx + 2];
        int p10 = px[ly + 1][lx], p12 = px[ly + 1][lx + 2];
        int p20 = px[ly + 2][lx], p21 = px[ly + 2][lx + 1], p22 = px[ly + 2][lx + 2];
        int gx = (p02 + 2 * p12 + p22) - (p00 + 2 * p10 + p20);
        int gy = (p20 + 2 * p21 + p22) - (p00 + 2 * p01 + p02);
        grad[ly][lx] = make_short2(short(gx), short(gy));
    }
    __syncthreads();
    int x = bx + threadIdx.x, y = by + threadIdx.y;
    if (x >= w || y >= h) return;
    int xx = 0, yy = 0, xy = 0;
    #pragma unroll
    for (int j = 0; j < 5; j++)
        #pragma unroll
        for (int i = 0; i < 5; i++) {
            short2 g = grad[threadIdx.y + j][threadIdx.x + i];
            xx += g.x * g.x;
            yy += g.y * g.y;
            xy += g.x * g.y;
        }
    const float s = 1.0f / (25.0f * 65536.0f);
    float a = xx * s, b = yy * s, c = xy * s, tr = a + b;
    resp[y * w + x] = a * b - c * c - k * tr * tr;
}

// 5x5 local maxima above a threshold; appends in no particular order
__global__ void nonMaxSuppress(const float *resp, int w, int h, float thr, int *count, uint2 *list)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
    float v = resp[y * w + x];
    if (v <= thr) return;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            if (dx == 0 && dy == 0) continue;
            float o = resp[(y + dy) * w + x + dx];
            if (o > v || (o == v && (dy < 0 || (dy == 0 && dx < 0)))) return;
        }
    int at = atomicAdd(count, 1);
    if (at < MAX_CORNERS) list[at] = make_uint2(u32(y) << 16 | u32(x), __float_as_uint(v));
}

// Catmull-Rom weights
__device__ inline void cubic(float t, float wt[4])
{
    wt[0] = ((-0.5f * t + 1.0f) * t - 0.5f) * t;
    wt[1] = (1.5f * t - 2.5f) * t * t + 1.0f;
    wt[2] = ((-1.5f * t + 2.0f) * t + 0.5f) * t;
    wt[3] = (0.5f * t - 0.5f) * t * t;
}

struct Warp { float m[6]; float cx, cy, barrel; };

__global__ void bicubicWarp(const u8 *src, u8 *dst, int w, int h, Warp wp)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float px = x - wp.cx, py = y - wp.cy;
    float f = 1.0f + wp.barrel * (px * px + py * py);
    float sx = (wp.m[0] * px + wp.m[1] * py) * f + wp.m[2] + wp.cx;
    float sy = (wp.m[3] * px + wp.m[4] * py) * f + wp.m[5] + wp.cy;
    if (sx < -1.0f || sy < -1.0f || sx > w || sy > h) { dst[y * w + x] = 0; return; }
    float bx = floorf(sx), by = floorf(sy);
    float wx[4], wy[4];
    cubic(sx - bx, wx);
    cubic(sy - by, wy);
    int ix = int(bx) - 1, iy = int(by) - 1;
    float acc = 0;
    for (int j = 0; j < 4; j++) {
        const u8 *row = src + clampi(iy + j, 0, h - 1) * w;
        float r = 0;
        for (int i = 0; i < 4; i++) r += wx[i] * row[clampi(ix + i, 0, w - 1)];
        acc += wy[j] * r;
    }
    dst[y * w + x] = u8(clampi(int(floorf(acc + 0.5f)), 0, 255));
}

static u32 noise(u32 x, u32 y, u32 s)
{
    u32 h = x * 374761393u + y * 668265263u + s * 2246822519u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return h ^ (h >> 16);
}

static void synthFrame(std::vector<u8> &rgb, int frame)
{
    for (int y = 0; y < IMG_H; y++)
        for (int x = 0; x < IMG_W; x++) {
            int cell = noise(x / 41, y / 29, 5 + frame) & 127;              // blocks
            int dx = x - 600 - 20 * frame, dy = y - 350;
            int disc = (dx * dx + dy * dy < 150 * 150) ? 60 : 0;            // bright disc
            int grad = x * 60 / IMG_W;
            u8 *p = &rgb[(size_t(y) * IMG_W + x) * 3];
            u32 n = noise(x, y, 99 + frame);
            p[0] = u8(std::min(255, cell + disc + grad + int(n & 7)));
            p[1] = u8(std::min(255, cell / 2 + disc + 2 * grad / 3 + int(n >> 8 & 7)));
            p[2] = u8(std::min(255, 120 - cell / 2 + grad + int(n >> 16 & 7)));
        }
}

static u64 hashBytes(const u8 *p, size_t n)
{
    u64 h = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < n; i++) { h ^= p[i]; h *= 0x100000001b3ULL; }
    return h;
}

int main()
{
    const int n = IMG_W * IMG_H;
    u8 *rgb, *y, *u, *v, *eq, *warped, *lut;
    u32 *hist;
    float *resp;
    int *count;
    uint2 *list;
    CK(cudaMalloc(&rgb, 3 * n));
    CK(cudaMalloc(&y, n)); CK(cudaMalloc(&u, n)); CK(cudaMalloc(&v, n));
    CK(cudaMalloc(&eq, n)); CK(cudaMalloc(&warped, n));
    CK(cudaMalloc(&hist, TILES_X * TILES_Y * 256 * sizeof(u32)));
    CK(cudaMalloc(&lut, TILES_X * TILES_Y * 256));
    CK(cudaMalloc(&resp, n * sizeof(float)));
    CK(cudaMalloc(&count, sizeof(int)));
    CK(cudaMalloc(&list, MAX_CORNERS * sizeof(uint2)));

    std::vector<u8> frame(3 * n), host(n);
    dim3 b2(32, 8), g2((IMG_W + 31) / 32, (IMG_H + 7) / 8);
    for (int f = 0; f < 2; f++) {
        synthFrame(frame, f);
        CK(cudaMemcpy(rgb, frame.data(), 3 * n, cudaMemcpyHostToDevice));
        rgbToYuv<<<(n + 255) / 256, 256>>>(rgb, y, u, v, n);
        CK(cudaGetLastError());
        tileHistogram<<<dim3(TILES_X, TILES_Y), 512>>>(y, hist, IMG_W, IMG_H);
        CK(cudaGetLastError());
        claheLut<<<TILES_X * TILES_Y, 256>>>(hist, lut, 2.5f, IMG_W, IMG_H);
        CK(cudaGetLastError());
        claheApply<<<g2, b2>>>(y, lut, eq, IMG_W, IMG_H);
        CK(cudaGetLastError());
        harrisResponse<<<dim3((IMG_W + HX - 1) / HX, (IMG_H + HY - 1) / HY), dim3(HX, HY)>>>(eq, resp, IMG_W, IMG_H, 0.05f);
        CK(cudaGetLastError());
        CK(cudaMemset(count, 0, sizeof(int)));
        nonMaxSuppress<<<dim3((IMG_W + 15) / 16, (IMG_H + 15) / 16), dim3(16, 16)>>>(resp, IMG_W, IMG_H, 0.05f, count, list);
        CK(cudaGetLastError());

        int found;
        CK(cudaMemcpy(&found, count, sizeof(int), cudaMemcpyDeviceToHost));
        int kept = std::min(found, MAX_CORNERS);
        std::vector<uint2> c(kept);
        if (kept) CK(cudaMemcpy(c.data(), list, kept * sizeof(uint2), cudaMemcpyDeviceToHost));
        std::sort(c.begin(), c.end(), [](const uint2 &a, const uint2 &b) { return a.x < b.x; });
        printf("frame %d: %d corners, list %016llx\n", f, found, hashBytes((const u8 *)c.data(), kept * sizeof(uint2)));
        CK(cudaMemcpy(host.data(), eq, n, cudaMemcpyDeviceToHost));
        printf("  clahe %016llx\n", hashBytes(host.data(), n));

        // rotate a little, one warp mild and one strong
        for (int k = 0; k < 2; k++) {
            Warp wp;
            float cs = k ? 0.8f : 0.9961947f, sn = k ? 0.6f : 0.0871557f;
            wp.m[0] = cs; wp.m[1] = -sn; wp.m[2] = 3.25f + f;
            wp.m[3] = sn; wp.m[4] = cs;  wp.m[5] = -1.75f;
            wp.cx = 0.5f * IMG_W; wp.cy = 0.5f * IMG_H; wp.barrel = k ? 2.0e-7f : -1.0e-7f;
            bicubicWarp<<<g2, b2>>>(k ? u : eq, warped, IMG_W, IMG_H, wp);
            CK(cudaGetLastError());
            CK(cudaMemcpy(host.data(), warped, n, cudaMemcpyDeviceToHost));
            printf("  warp %d %016llx\n", k, hashBytes(host.data(), n));
        }
        CK(cudaMemcpy(host.data(), v, n, cudaMemcpyDeviceToHost));
        printf("  v plane %016llx\n", hashBytes(host.data(), n));
    }
    void *all[] = {rgb, y, u, v, eq, warped, hist, lut, resp, count, list};
    for (void *p : all) CK(cudaFree(p));
    return 0;
}
