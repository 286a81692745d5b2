// Volume and image sampling with texture objects: oblique slices, maximum
// intensity projection and shaded ray casting in a 3D texture, image warping
// with a linear 2D texture, blending of a layered texture, surface writes.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

#define checkCudaErrors(val) check_((val), #val, __FILE__, __LINE__)
static void check_(cudaError_t r, const char *func, const char *file, int line)
{
    if (r != cudaSuccess) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, (int)r, cudaGetErrorName(r), func);
        exit(EXIT_FAILURE);
    }
}

typedef unsigned char uchar;

static unsigned long long fnv64(const void *p, size_t n)
{
    unsigned long long h = 0xcbf29ce484222325ull;
    const uchar *b = (const uchar *)p;
    for (size_t i = 0; i < n; i++) h = (h ^ b[i]) * 0x100000001b3ull;
    return h;
}

struct View { float3 origin, du, dv, dir; };

__device__ __forceinline__ float voxel(cudaTextureObject_t t, float x, float y, float z)
{
    return tex3D<float>(t, floorf(x) + 0.5f, floorf(y) + 0.5f, floorf(z) + 0.5f);
}

__global__ void oblique_slice(cudaTextureObject_t vol, uchar *out, int w, int h, View v, float depth)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float px = v.origin.x + x * v.du.x + y * v.dv.x + depth * v.dir.x;
    float py = v.origin.y + x * v.du.y + y * v.dv.y + depth * v.dir.y;
    float pz = v.origin.z + x * v.du.z + y * v.dv.z + depth * v.dir.z;
    out[y * w + x] = (uchar)fminf(voxel(vol, px, py, pz), 255.0f);
}

__global__ void mip(cudaTextureObject_t vol, uchar *out, int w, int h, View v, int steps, float dt)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float px = v.origin.x + x * v.du.x + y * v.dv.x;
    float py = v.origin.y + x * v.du.y + y * v.dv.y;
    float pz = v.origin.z + x * v.du.z + y * v.dv.z;
    float best = 0.0f;
    for (int s = 0; s < steps; s++) {
        best = fmaxf(best, voxel(vol, px, py, pz));
        px += dt * v.dir.x;
        py += dt * v.dir.y;
        pz += dt * v.dir.z;
    }
    out[y * w + x] = (uchar)fminf(best, 255.0f);
}

// front-to-back compositing with gradient shading and early ray termination
__global__ void raycast(cudaTextureObject_t vol, uchar4 *out, int w, int h, View v, int3 dim, int maxsteps,
                        float dt, float threshold)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float px = v.origin.x + x * v.du.x + y * v.dv.x;
    float py = v.origin.y + x * v.du.y + y * v.dv.y;
    float pz = v.origin.z + x * v.du.z + y * v.dv.z;
    float r = 0.0f, g = 0.0f, b = 0.0f, alpha = 0.0f;
    for (int s = 0; s < maxsteps && alpha < 0.97f; s++) {
        px += dt * v.dir.x; py += dt * v.dir.y; pz += dt * v.dir.z;
        if (px < 0.0f || py < 0.0f || pz < 0.0f || px >= dim.x || py >= dim.y || pz >= dim.z) continue;
        float d = voxel(vol, px, py, pz);
        if (d < threshold) continue;
        float gx = voxel(vol, px + 1, py, pz) - voxel(vol, px - 1, py, pz);
        float gy = voxel(vol, px, py + 1, pz) - voxel(vol, px, py - 1, pz);
        float gz = voxel(vol, px, py, pz + 1) - voxel(vol, px, py, pz - 1);
        float len = sqrtf(gx * gx + gy * gy + gz * gz) + 1e-3f;
        float diffuse = fabsf(gx * v.dir.x + gy * v.dir.y + gz * v.dir.z) / len;
        float a = (d - threshold) * (1.0f / 1024.0f);
        float wgt = (1.0f - alpha) * a;
        r += wgt * (0.3f + 0.7f * diffuse);
        g += wgt * diffuse * d * (1.0f / 255.0f);
        b += wgt * (1.0f - diffuse);
        alpha += wgt;
    }
    out[y * w + x] = make_uchar4((uchar)(255.0f * fminf(r, 1.0f)), (uchar)(255.0f * fminf(g, 1.0f)),
                                 (uchar)(255.0f * fminf(b, 1.0f)), (uchar)(255.0f * fminf(alpha, 1.0f)));
}

// displacement field warp; positions are kept on a 1/16 pixel raster
__global__ void warp_image(cudaTextureObject_t img, const float2 *disp, int dw, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float2 d = disp[(y / 16) * dw + x / 16];
    float sx = rintf((x + d.x) * 16.0f) * 0.0625f;
    float sy = rintf((y + d.y) * 16.0f) * 0.0625f;
    out[y * w + x] = tex2D<float>(img, sx + 0.5f, sy + 0.5f);
}

// general swirl, 8 bit image read as normalised floats with wrapped coordinates
__global__ void swirl(cudaTextureObject_t img, uchar *out, int w, int h, float strength)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float u = (float)x / w - 0.5f, v = (float)y / h - 0.5f;
    float a = strength * expf(-8.0f * (u * u + v * v));
    float s, c;
    sincosf(a, &s, &c);
    float p = tex2D<float>(img, u * c - v * s + 0.5f, u * s + v * c + 0.5f);
    out[y * w + x] = (uchar)(p * 255.0f + 0.5f);
}

__global__ void write_layers(cudaSurfaceObject_t surf, int w, int h, int layers)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    for (int l = 0; l < layers; l++) {
        float v = (float)(((x + 3 * l) * (y + 7 * l) + l * 11) % 251);
        surf2DLayeredwrite(v, surf, x * (int)sizeof(float), y, l);
    }
}

#define LAYERS 7
// median over the layers, and distance to the 4 neighbours in the same layer
__global__ void layer_median(cudaTextureObject_t tex, float *med, float *rough, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float v[LAYERS], acc = 0.0f;
#pragma unroll
    for (int l = 0; l < LAYERS; l++) {
        v[l] = tex2DLayered<float>(tex, x + 0.5f, y + 0.5f, l);
        acc += fabsf(v[l] - tex2DLayered<float>(tex, x - 0.5f, y + 0.5f, l));
        acc += fabsf(v[l] - tex2DLayered<float>(tex, x + 1.5f, y + 0.5f, l));
        acc += fabsf(v[l] - tex2DLayered<float>(tex, x + 0.5f, y - 0.5f, l));
        acc += fabsf(v[l] - tex2DLayered<float>(tex, x + 0.5f, y + 1.5f, l));
    }
#pragma unroll
    for (int i = 0; i < LAYERS - 1; i++)
#pragma unroll
        for (int j = 0; j < LAYERS - 1 - i; j++) {
            float lo = fminf(v[j], v[j + 1]), hi = fmaxf(v[j], v[j + 1]);
            v[j] = lo;
            v[j + 1] = hi;
        }
    med[y * w + x] = v[LAYERS / 2];
    rough[y * w + x] = acc;
}

static dim3 cover(int w, int h, dim3 b) { return dim3((w + b.x - 1) / b.x, (h + b.y - 1) / b.y); }

static cudaTextureObject_t make_tex(cudaArray_t a, cudaTextureFilterMode f, cudaTextureAddressMode am,
                                    cudaTextureReadMode rm, int norm)
{
    cudaResourceDesc res;
    memset(&res, 0, sizeof res);
    res.resType = cudaResourceTypeArray;
    res.res.array.array = a;
    cudaTextureDesc td;
    memset(&td, 0, sizeof td);
    td.addressMode[0] = td.addressMode[1] = td.addressMode[2] = am;
    td.filterMode = f;
    td.readMode = rm;
    td.normalizedCoords = norm;
    cudaTextureObject_t t = 0;
    checkCudaErrors(cudaCreateTextureObject(&t, &res, &td, nullptr));
    return t;
}

template <class T> static std::vector<T> fetch(const T *d, size_t n)
{
    std::vector<T> h(n);
    checkCudaErrors(cudaMemcpy(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
    return h;
}

int main()
{
    // ---------------------------------------------------------------- volume
    const int nx = 150, ny = 132, nz = 114;
    std::vector<float> vol((size_t)nx * ny * nz);
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                int dx = x - nx / 2, dy = y - ny / 2, dz = z - nz / 2;
                int r = dx * dx + dy * dy + dz * dz;
                int v = r < 2400 ? 200 - r / 20 + ((x * y + z) % 13) : ((x ^ y ^ z) & 31);
                vol[((size_t)z * ny + y) * nx + x] = (float)v;
            }
    cudaChannelFormatDesc fdesc = cudaCreateChannelDesc<float>();
    cudaArray_t varr;
    checkCudaErrors(cudaMalloc3DArray(&varr, &fdesc, make_cudaExtent(nx, ny, nz)));
    cudaMemcpy3DParms cp;
    memset(&cp, 0, sizeof cp);
    cp.srcPtr = make_cudaPitchedPtr(vol.data(), nx * sizeof(float), nx, ny);
    cp.dstArray = varr;
    cp.extent = make_cudaExtent(nx, ny, nz);
    cp.kind = cudaMemcpyHostToDevice;
    checkCudaErrors(cudaMemcpy3D(&cp));
    cudaTextureObject_t vt = make_tex(varr, cudaFilterModePoint, cudaAddressModeClamp, cudaReadModeElementType, 0);

    const int w = 560, h = 430;
    uchar *d_gray;
    uchar4 *d_rgba;
    checkCudaErrors(cudaMalloc(&d_gray, w * h));
    checkCudaErrors(cudaMalloc(&d_rgba, w * h * sizeof(uchar4)));
    View v;
    v.origin = make_float3(-10.0f, 5.0f, -20.0f);
    v.du = make_float3(0.28125f, 0.0f, 0.03125f);
    v.dv = make_float3(0.015625f, 0.28125f, 0.0f);
    v.dir = make_float3(0.125f, 0.0625f, 0.96875f);
    unsigned long long hs = 0;
    dim3 b1(16, 16);
    for (int s = 0; s < 5; s++) {
        oblique_slice<<<cover(w, h, b1), b1>>>(vt, d_gray, w, h, v, 35.0f + 15.0f * s);
        checkCudaErrors(cudaGetLastError());
        auto g = fetch(d_gray, w * h);
        hs = hs * 31 + fnv64(g.data(), g.size());
    }
    printf("slices  %016llx\n", hs);
    dim3 b2(32, 4);
    mip<<<cover(w, h, b2), b2>>>(vt, d_gray, w, h, v, 150, 1.0f);
    checkCudaErrors(cudaGetLastError());
    auto g = fetch(d_gray, w * h);
    printf("mip     %016llx\n", fnv64(g.data(), g.size()));
    dim3 b3(8, 8);
    raycast<<<cover(w, h, b3), b3>>>(vt, d_rgba, w, h, v, make_int3(nx, ny, nz), 180, 0.875f, 40.0f);
    checkCudaErrors(cudaGetLastError());
    auto rgba = fetch(d_rgba, w * h);
    double as = 0;
    for (auto &p : rgba) as += p.w;
    printf("raycast mean alpha %.1f\n", as / rgba.size());

    // ---------------------------------------------------------------- image warp
    const int iw = 1410, ih = 1002, dw = (iw + 15) / 16, dh = (ih + 15) / 16;
    std::vector<float> img(iw * ih);
    std::vector<uchar> img8(iw * ih);
    for (int y = 0; y < ih; y++)
        for (int x = 0; x < iw; x++) {
            img8[y * iw + x] = (uchar)((x * 5 + y * 3 + ((x / 60 + y / 45) & 1) * 100) & 255);
            img[y * iw + x] = img8[y * iw + x];
        }
    std::vector<float2> disp(dw * dh);
    for (int i = 0; i < dw * dh; i++) disp[i] = make_float2((float)((i * 37) % 113) * 0.11f - 6.0f, (float)((i * 53) % 97) * 0.13f - 6.0f);
    cudaArray_t ia, ia8;
    cudaChannelFormatDesc udesc = cudaCreateChannelDesc<uchar>();
    checkCudaErrors(cudaMallocArray(&ia, &fdesc, iw, ih));
    checkCudaErrors(cudaMallocArray(&ia8, &udesc, iw, ih));
    checkCudaErrors(cudaMemcpy2DToArray(ia, 0, 0, img.data(), iw * sizeof(float), iw * sizeof(float), ih, cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy2DToArray(ia8, 0, 0, img8.data(), iw, iw, ih, cudaMemcpyHostToDevice));
    cudaTextureObject_t it = make_tex(ia, cudaFilterModeLinear, cudaAddressModeClamp, cudaReadModeElementType, 0);
    cudaTextureObject_t it8 = make_tex(ia8, cudaFilterModeLinear, cudaAddressModeWrap, cudaReadModeNormalizedFloat, 1);
    float2 *d_disp;
    float *d_out;
    uchar *d_out8;
    checkCudaErrors(cudaMalloc(&d_disp, disp.size() * sizeof(float2)));
    checkCudaErrors(cudaMalloc(&d_out, iw * ih * sizeof(float)));
    checkCudaErrors(cudaMalloc(&d_out8, iw * ih));
    checkCudaErrors(cudaMemcpy(d_disp, disp.data(), disp.size() * sizeof(float2), cudaMemcpyHostToDevice));
    warp_image<<<cover(iw, ih, b1), b1>>>(it, d_disp, dw, d_out, iw, ih);
    checkCudaErrors(cudaGetLastError());
    auto o = fetch(d_out, iw * ih);
    printf("warp    %016llx\n", fnv64(o.data(), o.size() * sizeof(float)));
    for (int k = 1; k <= 2; k++) {
        swirl<<<cover(iw, ih, b2), b2>>>(it8, d_out8, iw, ih, 1.5f * k);
        checkCudaErrors(cudaGetLastError());
        auto o8 = fetch(d_out8, iw * ih);
        double sum = 0;
        for (uchar c : o8) sum += c;
        printf("swirl %d mean %.1f\n", k, sum / o8.size());
    }

    // ---------------------------------------------------------------- layers
    const int lw = 620, lh = 470;
    cudaArray_t la;
    checkCudaErrors(cudaMalloc3DArray(&la, &fdesc, make_cudaExtent(lw, lh, LAYERS), cudaArrayLayered | cudaArraySurfaceLoadStore));
    cudaTextureObject_t lt = make_tex(la, cudaFilterModePoint, cudaAddressModeClamp, cudaReadModeElementType, 0);
    cudaResourceDesc sres;
    memset(&sres, 0, sizeof sres);
    sres.resType = cudaResourceTypeArray;
    sres.res.array.array = la;
    cudaSurfaceObject_t surf;
    checkCudaErrors(cudaCreateSurfaceObject(&surf, &sres));
    float *d_rough;
    checkCudaErrors(cudaMalloc(&d_rough, lw * lh * sizeof(float)));
    write_layers<<<cover(lw, lh, b1), b1>>>(surf, lw, lh, LAYERS);
    layer_median<<<cover(lw, lh, dim3(32, 6)), dim3(32, 6)>>>(lt, d_out, d_rough, lw, lh);
    checkCudaErrors(cudaGetLastError());
    auto med = fetch(d_out, lw * lh), rough = fetch(d_rough, lw * lh);
    printf("layers  %016llx %016llx\n", fnv64(med.data(), med.size() * 4), fnv64(rough.data(), rough.size() * 4));

    checkCudaErrors(cudaDestroyTextureObject(vt)); checkCudaErrors(cudaDestroyTextureObject(it));
    checkCudaErrors(cudaDestroyTextureObject(it8)); checkCudaErrors(cudaDestroyTextureObject(lt));
    checkCudaErrors(cudaDestroySurfaceObject(surf));
    cudaFreeArray(varr); cudaFreeArray(ia); cudaFreeArray(ia8); cudaFreeArray(la);
    cudaFree(d_gray); cudaFree(d_rgba); cudaFree(d_disp); cudaFree(d_out); cudaFree(d_out8); cudaFree(d_rough);
    return 0;
}
