// Ray marching of a signed distance scene (repeated columns, a torus, blended spheres) with soft shadows and ambient occlusion, then a 2x2 downsample.
// Hard for a GPU: the number of steps differs wildly between neighbouring pixels, and every step is a long chain with square roots.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

static void must(cudaError_t e, int line)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "cuda: %s at line %d\n", cudaGetErrorString(e), line);
        exit(1);
    }
}
#define MUST(e) must((e), __LINE__)

struct Vec {
    float x, y, z;
};
__device__ inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline Vec operator*(Vec a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ inline float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float length(Vec a) { return sqrtf(dot(a, a)); }
__device__ inline Vec unit(Vec a) { return a * rsqrtf(dot(a, a)); }

struct Camera {
    float ox, oy, oz, tilt;
};
__constant__ Camera camera;
__constant__ float4 balls[6];

__device__ float blend(float a, float b, float k)
{
    float h = fmaxf(k - fabsf(a - b), 0.0f) / k;
    return fminf(a, b) - h * h * k * 0.25f;
}

__device__ float scene(Vec p)
{
    float ground = p.y + 1.0f;
    // columns every 4 units
    float cx = p.x - 4.0f * rintf(p.x * 0.25f), cz = p.z - 4.0f * rintf(p.z * 0.25f);
    float column = fmaxf(sqrtf(cx * cx + cz * cz) - 0.35f, p.y - 2.5f);
    float d = fminf(ground, column);
    Vec q = p - Vec{2.0f, 0.2f, 6.0f};
    float ring = sqrtf(q.x * q.x + q.z * q.z) - 1.2f;
    d = fminf(d, sqrtf(ring * ring + q.y * q.y) - 0.25f);
    float blob = 1e9f;
    // the blob is only worth a look when its bounding sphere is near
    if (length(p - Vec{0, 0.8f, 5}) < d + 3.0f) {
        for (int i = 0; i < 6; i++) {
            float4 b = balls[i];
            blob = blend(blob, length(p - Vec{b.x, b.y, b.z}) - b.w, 0.5f);
        }
    }
    return fminf(d, blob);
}

__device__ float march(Vec o, Vec dir, float far, int limit, int &steps)
{
    float t = 0.02f;
    for (steps = 0; steps < limit; steps++) {
        float d = scene(o + dir * t);
        if (d < 0.001f * t)
            return t;
        t += d;
        if (t > far)
            break;
    }
    return -1.0f;
}

__device__ float shadow(Vec o, Vec dir)
{
    float lit = 1.0f, t = 0.05f;
    for (int i = 0; i < 32 && t < 12.0f; i++) {
        float d = scene(o + dir * t);
        lit = fminf(lit, 8.0f * d / t);
        if (lit < 0.01f)
            return 0.0f;
        t += fmaxf(d, 0.05f);
    }
    return lit;
}

__global__ void render(uchar4 *image, int w, int h, unsigned long long *total_steps)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int steps = 0;
    if (x < w && y < h) {
        Vec o = {camera.ox, camera.oy, camera.oz};
        Vec dir = unit(Vec{(x + 0.5f - w * 0.5f) / h, (h * 0.5f - y - 0.5f) / h + camera.tilt, 1.0f});
        float t = march(o, dir, 40.0f, 96, steps);
        float shade = 0.6f + 0.4f * dir.y, warm = 0.2f;
        if (t > 0) {
            Vec p = o + dir * t;
            const float e = 0.002f;
            Vec n = unit(Vec{scene(p + Vec{e, 0, 0}) - scene(p - Vec{e, 0, 0}), scene(p + Vec{0, e, 0}) - scene(p - Vec{0, e, 0}),
                             scene(p + Vec{0, 0, e}) - scene(p - Vec{0, 0, e})});
            Vec light = unit(Vec{0.5f, 0.8f, -0.4f});
            float diffuse = fmaxf(dot(n, light), 0.0f);
            if (diffuse > 0)
                diffuse *= shadow(p + n * 0.01f, light);
            float open = 0, weight = 0.5f;
            for (int i = 1; i <= 5; i++, weight *= 0.6f)
                open += weight * fmaxf(0.15f * i - scene(p + n * (0.15f * i)), 0.0f);
            shade = 0.15f * fmaxf(1.0f - open, 0.0f) + 0.85f * diffuse;
            warm = __expf(-0.05f * t);
        }
        int g = min(255, (int)(255.0f * fminf(fmaxf(shade, 0.0f), 1.0f)));
        int r = min(255, (int)(g * (0.8f + 0.2f * warm)));
        image[y * w + x] = make_uchar4(r, g, 255 - (int)(warm * 100), steps);
    }
    int sum = __reduce_add_sync(0xffffffffu, steps);
    if (((threadIdx.y * blockDim.x + threadIdx.x) & 31) == 0)
        atomicAdd(total_steps, (unsigned long long)sum);
}

__global__ void downsample(const uchar4 *in, uchar4 *out, int ow, int oh)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= ow)
        return;
    const uchar4 *p = in + (size_t)2 * y * 2 * ow + 2 * x;
    uchar4 a = p[0], b = p[1], c = p[2 * ow], d = p[2 * ow + 1];
    out[y * ow + x] = make_uchar4((a.x + b.x + c.x + d.x + 2) / 4, (a.y + b.y + c.y + d.y + 2) / 4, (a.z + b.z + c.z + d.z + 2) / 4, 255);
}

int main()
{
    const int w = 800, h = 450;
    uchar4 *image, *small;
    unsigned long long *steps, host_steps;
    MUST(cudaMalloc(&image, w * h * sizeof(uchar4)));
    MUST(cudaMalloc(&small, w * h / 4 * sizeof(uchar4)));
    MUST(cudaMalloc(&steps, sizeof *steps));
    MUST(cudaMemset(steps, 0, sizeof *steps));
    std::vector<unsigned char> out(w * h);
    uint64_t hash = 0xcbf29ce484222325ull;
    for (int frame = 0; frame < 2; frame++) {
        float4 b[6];
        for (int i = 0; i < 6; i++)
            b[i] = make_float4(-1.0f + 0.45f * i, 0.3f + 0.25f * ((i * 7 + frame) % 4), 5.0f + 0.3f * ((i * 5) % 3), 0.35f + 0.05f * i);
        Camera c = {0.3f * frame, 0.6f + 0.2f * frame, frame ? 1.2f : -2.0f, -0.05f};
        MUST(cudaMemcpyToSymbol(balls, b, sizeof b));
        MUST(cudaMemcpyToSymbol(camera, &c, sizeof c));
        dim3 block = frame ? dim3(16, 16) : dim3(8, 8);
        render<<<dim3((w + block.x - 1) / block.x, (h + block.y - 1) / block.y), block>>>(image, w, h, steps);
        MUST(cudaGetLastError());
        downsample<<<dim3((w / 2 + 127) / 128, h / 2), 128>>>(image, small, w / 2, h / 2);
        MUST(cudaGetLastError());
        MUST(cudaMemcpy(out.data(), small, out.size(), cudaMemcpyDeviceToHost));
        for (unsigned char v : out)
            hash = (hash ^ v) * 0x100000001b3ull;
    }
    MUST(cudaMemcpy(&host_steps, steps, sizeof host_steps, cudaMemcpyDeviceToHost));
    printf("image %016llx steps %llu\n", (unsigned long long)hash, host_steps);
    MUST(cudaFree(image));
    MUST(cudaFree(small));
    MUST(cudaFree(steps));
    return 0;
}
