// Front-to-back ray marching of a 3D texture with linear filtering and a transfer-function lookup, then separable and box blurs through 2D textures.
// Hard for a GPU: dependent texture fetches along the ray, rays that stop early or miss the box, and filter footprints with poor reuse at odd image sizes.

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <vector>

typedef unsigned char uchar;
typedef unsigned int uint;

#define VOL 128
#define IMG_W 403
#define IMG_H 301

static void die_if(cudaError_t e, int line)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
        exit(1);
    }
}
#define E(x) die_if((x), __LINE__)

struct Ray { float3 o, d; };

__host__ __device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__host__ __device__ inline float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
__device__ inline float dot3(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__device__ inline uint lowbias32(uint x)
{
    x ^= x >> 16; x *= 0x21f0aaadu; x ^= x >> 15; x *= 0x735a2d97u; x ^= x >> 15;
    return x;
}

// a few blobs plus noise, written straight into the texture's array
__global__ void make_volume(cudaSurfaceObject_t vol)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= VOL || y >= VOL || z >= VOL) return;
    int value = lowbias32((z * VOL + y) * VOL + x) % 24;
    for (int b = 0; b < 6; b++) {
        uint h = lowbias32(b * 77 + 5);
        int dx = x - (int)(24 + h % 80), dy = y - (int)(24 + (h >> 8) % 80), dz = z - (int)(24 + (h >> 16) % 80);
        int r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < 900) value += (900 - r2) / 5;
    }
    surf3Dwrite((uchar)min(value, 255), vol, x, y, z);
}

__device__ bool intersect_box(const Ray &r, float &tnear, float &tfar)
{
    float3 inv = make_float3(1.0f / r.d.x, 1.0f / r.d.y, 1.0f / r.d.z);
    float3 a = make_float3((-1.0f - r.o.x) * inv.x, (-1.0f - r.o.y) * inv.y, (-1.0f - r.o.z) * inv.z);
    float3 b = make_float3((1.0f - r.o.x) * inv.x, (1.0f - r.o.y) * inv.y, (1.0f - r.o.z) * inv.z);
    tnear = fmaxf(fmaxf(fminf(a.x, b.x), fminf(a.y, b.y)), fminf(a.z, b.z));
    tfar = fminf(fminf(fmaxf(a.x, b.x), fmaxf(a.y, b.y)), fmaxf(a.z, b.z));
    return tfar > tnear;
}

template <bool SHADED>
__global__ void render(uchar4 *out, cudaTextureObject_t vol, cudaTextureObject_t transfer, int w, int h, float3 eye,
                       float3 right, float3 up, float3 forward, float step, int max_steps)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float u = (px + 0.5f) / w * 2.0f - 1.0f, v = (py + 0.5f) / h * 2.0f - 1.0f;
    Ray r;
    r.o = eye;
    r.d = forward + right * u + up * v;
    r.d = r.d * rsqrtf(dot3(r.d, r.d));
    float t, tfar;
    float4 sum = make_float4(0, 0, 0, 0);
    if (intersect_box(r, t, tfar)) {
        t = fmaxf(t, 0.0f);
        for (int i = 0; i < max_steps && t < tfar; i++, t += step) {
            float3 p = r.o + r.d * t;
            float sx = p.x * 0.5f + 0.5f, sy = p.y * 0.5f + 0.5f, sz = p.z * 0.5f + 0.5f;
            float s = tex3D<float>(vol, sx, sy, sz);
            float4 c = tex1D<float4>(transfer, s);
            if (SHADED && c.w > 0.02f) {
                const float e = 1.0f / VOL;
                float gx = tex3D<float>(vol, sx + e, sy, sz) - tex3D<float>(vol, sx - e, sy, sz);
                float gy = tex3D<float>(vol, sx, sy + e, sz) - tex3D<float>(vol, sx, sy - e, sz);
                float gz = tex3D<float>(vol, sx, sy, sz + e) - tex3D<float>(vol, sx, sy, sz - e);
                float l = rsqrtf(gx * gx + gy * gy + gz * gz + 1e-6f);
                float k = 0.3f + 0.7f * fabsf((gx * 0.577f + gy * 0.577f - gz * 0.577f) * l);
                c.x *= k; c.y *= k; c.z *= k;
            }
            float a = c.w * (1.0f - sum.w);
            sum.x += c.x * a; sum.y += c.y * a; sum.z += c.z * a; sum.w += a;
            if (sum.w > 0.95f) break;
        }
    }
    out[py * w + px] = make_uchar4((uchar)(__saturatef(sum.x) * 255), (uchar)(__saturatef(sum.y) * 255),
                                   (uchar)(__saturatef(sum.z) * 255), (uchar)(__saturatef(sum.w) * 255));
}

__constant__ float c_weights[9];

template <int RADIUS, bool VERTICAL>
__global__ void blur_pass(float4 *out, size_t pitch, cudaTextureObject_t img, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float4 s = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) {
        float4 v = VERTICAL ? tex2D<float4>(img, x + 0.5f, y + k + 0.5f) : tex2D<float4>(img, x + k + 0.5f, y + 0.5f);
        float g = c_weights[k < 0 ? -k : k];
        s.x += g * v.x; s.y += g * v.y; s.z += g * v.z; s.w += g * v.w;
    }
    *((float4 *)((char *)out + y * pitch) + x) = s;
}

// sharpened image at 1.5 times the size: bilinear sample against a wide box average
__global__ void __launch_bounds__(64) upscale_unsharp(uint *out, cudaTextureObject_t img, int w, int h, float ratio)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x >= w || y >= h) return;
    float fx = (x + 0.5f) * ratio, fy = (y + 0.5f) * ratio;
    float4 c = tex2D<float4>(img, fx, fy);
    float4 m = make_float4(0, 0, 0, 0);
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            float4 v = tex2D<float4>(img, fx + 1.5f * i, fy + 1.5f * j);
            m.x += v.x; m.y += v.y; m.z += v.z;
        }
    uint r = (uint)(__saturatef(c.x * 1.5f - m.x * 0.02f) * 255), g = (uint)(__saturatef(c.y * 1.5f - m.y * 0.02f) * 255),
         b = (uint)(__saturatef(c.z * 1.5f - m.z * 0.02f) * 255);
    out[(size_t)y * w + x] = r | g << 8 | b << 16;
}

static uint crc(const void *device, size_t words)
{
    std::vector<uint> host(words);
    E(cudaMemcpy(host.data(), device, words * 4, cudaMemcpyDeviceToHost));
    uint a = 1, b = 0;
    for (uint v : host) {
        a = a * 16777619u ^ v;
        b += a;
    }
    return a ^ b;
}

static cudaTextureObject_t pitch_texture(void *p, size_t pitch, int w, int h, cudaChannelFormatDesc fmt, cudaTextureReadMode mode)
{
    cudaResourceDesc res = {};
    res.resType = cudaResourceTypePitch2D;
    res.res.pitch2D.devPtr = p;
    res.res.pitch2D.desc = fmt;
    res.res.pitch2D.width = w;
    res.res.pitch2D.height = h;
    res.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc tex = {};
    tex.addressMode[0] = tex.addressMode[1] = cudaAddressModeClamp;
    tex.filterMode = cudaFilterModeLinear;
    tex.readMode = mode;
    cudaTextureObject_t obj;
    E(cudaCreateTextureObject(&obj, &res, &tex, NULL));
    return obj;
}

int main(void)
{
    cudaArray_t vol_array, tf_array;
    cudaChannelFormatDesc c8 = cudaCreateChannelDesc<uchar>();
    E(cudaMalloc3DArray(&vol_array, &c8, make_cudaExtent(VOL, VOL, VOL), cudaArraySurfaceLoadStore));
    cudaResourceDesc vres = {};
    vres.resType = cudaResourceTypeArray;
    vres.res.array.array = vol_array;
    cudaSurfaceObject_t vol_surface;
    E(cudaCreateSurfaceObject(&vol_surface, &vres));
    make_volume<<<dim3(VOL / 32, VOL / 4, VOL / 4), dim3(32, 4, 4)>>>(vol_surface);
    E(cudaGetLastError());

    cudaTextureDesc vtex = {};
    vtex.addressMode[0] = vtex.addressMode[1] = vtex.addressMode[2] = cudaAddressModeClamp;
    vtex.filterMode = cudaFilterModeLinear;
    vtex.readMode = cudaReadModeNormalizedFloat;
    vtex.normalizedCoords = 1;
    cudaTextureObject_t vol;
    E(cudaCreateTextureObject(&vol, &vres, &vtex, NULL));

    float4 tf[9] = {{0, 0, 0, 0}, {0, 0, 0.1f, 0}, {0.1f, 0.2f, 0.9f, 0.01f}, {0.1f, 0.8f, 0.8f, 0.03f}, {0.2f, 0.9f, 0.2f, 0.05f},
                    {0.9f, 0.9f, 0.1f, 0.1f}, {1, 0.5f, 0.1f, 0.2f}, {1, 0.2f, 0.1f, 0.4f}, {1, 1, 1, 0.6f}};
    cudaChannelFormatDesc c4 = cudaCreateChannelDesc<float4>();
    E(cudaMallocArray(&tf_array, &c4, 9, 1));
    E(cudaMemcpy2DToArray(tf_array, 0, 0, tf, sizeof(tf), sizeof(tf), 1, cudaMemcpyHostToDevice));
    cudaResourceDesc tres = {};
    tres.resType = cudaResourceTypeArray;
    tres.res.array.array = tf_array;
    cudaTextureDesc ttex = {};
    ttex.addressMode[0] = cudaAddressModeClamp;
    ttex.filterMode = cudaFilterModeLinear;
    ttex.readMode = cudaReadModeElementType;
    ttex.normalizedCoords = 1;
    cudaTextureObject_t transfer;
    E(cudaCreateTextureObject(&transfer, &tres, &ttex, NULL));

    uchar4 *image, *padded;
    size_t pitch8, pitch_a, pitch_b;
    float4 *fa, *fb;
    uint *big;
    const int bw = IMG_W * 3 / 2, bh = IMG_H * 3 / 2;
    E(cudaMalloc(&image, IMG_W * IMG_H * 4));
    E(cudaMallocPitch(&padded, &pitch8, IMG_W * 4, IMG_H));
    E(cudaMallocPitch(&fa, &pitch_a, IMG_W * 16, IMG_H));
    E(cudaMallocPitch(&fb, &pitch_b, IMG_W * 16, IMG_H));
    E(cudaMalloc(&big, (size_t)bw * bh * 4));

    float ca = cosf(0.6f), sa = sinf(0.6f);
    float3 eye = make_float3(-3.2f * sa, 0.7f, -3.2f * ca), forward = make_float3(sa, -0.2f, ca);
    float3 right = make_float3(0.5f * ca, 0, -0.5f * sa), up = make_float3(0, 0.4f, 0);
    dim3 block(16, 16), grid((IMG_W + 15) / 16, (IMG_H + 15) / 16);
    render<false><<<grid, block>>>(image, vol, transfer, IMG_W, IMG_H, eye, right, up, forward, 0.02f, 200);
    E(cudaGetLastError());
    printf("plain  %08x\n", crc(image, IMG_W * IMG_H));
    dim3 block2(8, 8), grid2((IMG_W + 7) / 8, (IMG_H + 7) / 8);
    render<true><<<grid2, block2>>>(image, vol, transfer, IMG_W, IMG_H, eye, right, up, forward, 0.02f, 200);
    E(cudaGetLastError());
    printf("shaded %08x\n", crc(image, IMG_W * IMG_H));

    float weights[9], total = 0;
    for (int k = 0; k <= 8; k++) {
        weights[k] = expf(-k * k / 18.0f);
        total += k ? 2 * weights[k] : weights[k];
    }
    for (int k = 0; k <= 8; k++) weights[k] /= total;
    E(cudaMemcpyToSymbol(c_weights, weights, sizeof(weights)));
    E(cudaMemcpy2D(padded, pitch8, image, IMG_W * 4, IMG_W * 4, IMG_H, cudaMemcpyDeviceToDevice));
    cudaTextureObject_t t8 = pitch_texture(padded, pitch8, IMG_W, IMG_H, cudaCreateChannelDesc<uchar4>(), cudaReadModeNormalizedFloat);
    cudaTextureObject_t ta = pitch_texture(fa, pitch_a, IMG_W, IMG_H, c4, cudaReadModeElementType);
    cudaTextureObject_t tb = pitch_texture(fb, pitch_b, IMG_W, IMG_H, c4, cudaReadModeElementType);
    dim3 bblock(64, 2), bgrid((IMG_W + 63) / 64, (IMG_H + 1) / 2);
    blur_pass<8, false><<<bgrid, bblock>>>(fa, pitch_a, t8, IMG_W, IMG_H);
    blur_pass<8, true><<<bgrid, bblock>>>(fb, pitch_b, ta, IMG_W, IMG_H);
    blur_pass<3, false><<<bgrid, bblock>>>(fa, pitch_a, tb, IMG_W, IMG_H);
    upscale_unsharp<<<dim3((bw + 15) / 16, (bh + 3) / 4), dim3(16, 4)>>>(big, t8, bw, bh, 2.0f / 3.0f);
    E(cudaGetLastError());
    std::vector<float4> rows((size_t)IMG_W * IMG_H);
    E(cudaMemcpy2D(rows.data(), IMG_W * 16, fa, pitch_a, IMG_W * 16, IMG_H, cudaMemcpyDeviceToHost));
    uint h = 0;
    const uint *bits = (const uint *)rows.data();
    for (size_t i = 0; i < rows.size() * 4; i++) h = (h << 5 | h >> 27) ^ bits[i] * 0x9E3779B9u;
    printf("blur   %08x\n", h);
    printf("big    %08x\n", crc(big, (size_t)bw * bh));
    cudaDestroyTextureObject(vol); cudaDestroyTextureObject(transfer);
    cudaDestroyTextureObject(t8); cudaDestroyTextureObject(ta); cudaDestroyTextureObject(tb);
    cudaDestroySurfaceObject(vol_surface);
    cudaFreeArray(vol_array); cudaFreeArray(tf_array);
    return 0;
}
