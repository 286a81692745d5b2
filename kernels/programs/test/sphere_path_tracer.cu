// Path tracer: spheres of three materials in constant memory, several samples a pixel, random bounces with Russian roulette, then tone mapping.
// Hard for a GPU: paths of a warp end at different bounces and take different material branches; square roots and divisions in long chains.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void ok(cudaError_t e)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
		exit(1);
	}
}

struct Vec {
	float x, y, z;
	__host__ __device__ Vec operator+(Vec o) const { return {x + o.x, y + o.y, z + o.z}; }
	__host__ __device__ Vec operator-(Vec o) const { return {x - o.x, y - o.y, z - o.z}; }
	__host__ __device__ Vec operator*(Vec o) const { return {x * o.x, y * o.y, z * o.z}; }
	__host__ __device__ Vec operator*(float s) const { return {x * s, y * s, z * s}; }
};
__device__ inline float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline Vec unit(Vec a) { return a * (1.f / sqrtf(dot(a, a))); }

enum Material { MATTE, MIRROR, GLASS };

struct Sphere {
	Vec center;
	float radius;
	Vec color, light;
	int material;
};

const int SPHERES = 11, WIDTH = 800, HEIGHT = 450;
__constant__ Sphere scene[SPHERES];

struct Random {
	unsigned s;
	__device__ float next()
	{
		s ^= s << 13;
		s ^= s >> 17;
		s ^= s << 5;
		return (float)(s >> 8) * (1.f / 16777216.f);
	}
};

__device__ int hit(Vec from, Vec dir, float &t)
{
	int best = -1;
	t = 1e20f;
	for (int i = 0; i < SPHERES; i++) {
		Vec oc = scene[i].center - from;
		float b = dot(oc, dir);
		float disc = b * b - dot(oc, oc) + scene[i].radius * scene[i].radius;
		if (disc < 0.f)
			continue;
		float root = sqrtf(disc);
		float d = b - root > 1e-3f ? b - root : b + root;
		if (d > 1e-3f && d < t) {
			t = d;
			best = i;
		}
	}
	return best;
}

__device__ Vec any_direction(Random &rnd)
{
	for (;;) {
		Vec v = {2.f * rnd.next() - 1.f, 2.f * rnd.next() - 1.f, 2.f * rnd.next() - 1.f};
		float l = dot(v, v);
		if (l < 1.f && l > 1e-4f)
			return v * (1.f / sqrtf(l));
	}
}

__device__ Vec trace(Vec from, Vec dir, Random &rnd, unsigned &bounces)
{
	Vec light = {0.f, 0.f, 0.f}, weight = {1.f, 1.f, 1.f};
	for (int depth = 0; depth < 12; depth++) {
		float t;
		int id = hit(from, dir, t);
		if (id < 0) {
			float up = 0.5f * (dir.y + 1.f);
			return light + weight * Vec{0.15f + 0.1f * up, 0.18f + 0.2f * up, 0.2f + 0.4f * up};
		}
		bounces++;
		const Sphere &s = scene[id];
		light = light + weight * s.light;
		weight = weight * s.color;
		if (depth > 2) {
			float keep = fmaxf(weight.x, fmaxf(weight.y, weight.z));
			if (rnd.next() >= keep)
				return light;
			weight = weight * (1.f / keep);
		}
		Vec at = from + dir * t;
		Vec n = (at - s.center) * (1.f / s.radius);
		bool inside = dot(n, dir) > 0.f;
		Vec facing = inside ? n * -1.f : n;
		if (s.material == MATTE) {
			dir = unit(facing + any_direction(rnd) * 0.999f);
		} else if (s.material == MIRROR) {
			dir = unit(dir - facing * (2.f * dot(facing, dir)) + any_direction(rnd) * 0.05f);
		} else {
			float eta = inside ? 1.5f : 1.f / 1.5f, c = -dot(facing, dir);
			float k = 1.f - eta * eta * (1.f - c * c);
			float r0 = 0.04f, m = 1.f - c, fresnel = r0 + (1.f - r0) * m * m * m * m * m;
			if (k < 0.f || rnd.next() < fresnel)
				dir = unit(dir + facing * (2.f * c));
			else
				dir = unit(dir * eta + facing * (eta * c - sqrtf(k)));
		}
		from = at;
	}
	return light;
}

__global__ void __launch_bounds__(128, 6) render(float4 *image, int samples, unsigned pass, unsigned long long *bounce_count)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	unsigned bounces = 0;
	if (x < WIDTH && y < HEIGHT) {
		Random rnd = {((y * WIDTH + x) * 2u + 1u) * 2654435761u ^ (pass + 1) * 0x51ed270bu};
		if (rnd.s == 0)
			rnd.s = 1;
		for (int i = 0; i < 4; i++)
			rnd.next();
		Vec sum = {0.f, 0.f, 0.f};
		for (int i = 0; i < samples; i++) {
			float u = ((float)x + rnd.next() - 0.5f * WIDTH) / HEIGHT, v = (0.5f * HEIGHT - (float)y - rnd.next()) / HEIGHT;
			sum = sum + trace({0.f, 1.2f, 7.f}, unit({u, v - 0.1f, -1.3f}), rnd, bounces);
		}
		float4 old = image[y * WIDTH + x];
		image[y * WIDTH + x] = make_float4(old.x + sum.x, old.y + sum.y, old.z + sum.z, old.w + (float)samples);
	}
	bounces = __reduce_add_sync(0xffffffffu, bounces);
	if (((threadIdx.y * blockDim.x + threadIdx.x) & 31) == 0)
		atomicAdd(bounce_count, (unsigned long long)bounces);
}

__global__ void tone_map(const float4 *image, uchar4 *out, int pixels)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= pixels)
		return;
	float4 p = image[i];
	float c[3] = {p.x / p.w, p.y / p.w, p.z / p.w};
	unsigned char q[3];
	for (int k = 0; k < 3; k++)
		q[k] = (unsigned char)(255.f * sqrtf(c[k] / (1.f + c[k])));
	out[i] = make_uchar4(q[0], q[1], q[2], 255);
}

int main()
{
	Sphere s[SPHERES] = {
		{{0.f, -1000.f, 0.f}, 1000.f, {0.7f, 0.7f, 0.65f}, {0.f, 0.f, 0.f}, MATTE},
		{{0.f, 6.f, 0.f}, 1.5f, {0.f, 0.f, 0.f}, {9.f, 8.f, 7.f}, MATTE},
		{{-2.2f, 1.f, 0.f}, 1.f, {0.95f, 0.95f, 0.95f}, {0.f, 0.f, 0.f}, MIRROR},
		{{0.f, 1.f, 0.5f}, 1.f, {0.98f, 0.98f, 0.98f}, {0.f, 0.f, 0.f}, GLASS},
		{{2.2f, 1.f, 0.f}, 1.f, {0.8f, 0.3f, 0.2f}, {0.f, 0.f, 0.f}, MATTE},
	};
	for (int i = 5; i < SPHERES; i++) {
		float k = (float)(i - 5);
		s[i] = {{-3.5f + 1.4f * k, 0.4f, 2.f - 0.3f * k}, 0.4f, {0.3f + 0.1f * k, 0.8f - 0.1f * k, 0.6f}, {0.f, 0.f, 0.f}, i % 3};
	}
	ok(cudaMemcpyToSymbol(scene, s, sizeof(s)));
	const int pixels = WIDTH * HEIGHT;
	float4 *image;
	uchar4 *out;
	unsigned long long *bounces, total;
	ok(cudaMalloc(&image, pixels * sizeof(float4)));
	ok(cudaMalloc(&out, pixels * sizeof(uchar4)));
	ok(cudaMalloc(&bounces, sizeof(*bounces)));
	ok(cudaMemset(image, 0, pixels * sizeof(float4)));
	ok(cudaMemset(bounces, 0, sizeof(*bounces)));
	dim3 block(16, 8), grid((WIDTH + 15) / 16, (HEIGHT + 7) / 8);
	render<<<grid, block>>>(image, 2, 0, bounces);
	ok(cudaGetLastError());
	render<<<grid, block>>>(image, 3, 1, bounces);
	ok(cudaGetLastError());
	tone_map<<<(pixels + 255) / 256, 256>>>(image, out, pixels);
	ok(cudaGetLastError());
	std::vector<uchar4> host(pixels);
	ok(cudaMemcpy(host.data(), out, pixels * sizeof(uchar4), cudaMemcpyDeviceToHost));
	ok(cudaMemcpy(&total, bounces, sizeof(total), cudaMemcpyDeviceToHost));
	unsigned long long h = 0xcbf29ce484222325ull;
	for (uchar4 p : host)
		for (unsigned char c : {p.x, p.y, p.z})
			h = (h ^ c) * 0x100000001b3ull;
	printf("image %016llx\nbounces %llu\n", h, total);
	ok(cudaFree(image));
	ok(cudaFree(out));
	ok(cudaFree(bounces));
	return 0;
}
