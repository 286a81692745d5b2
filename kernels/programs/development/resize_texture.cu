// Resizes an image of four float channels by several factors through a texture object with linear filtering.
// Hard for a GPU: the texture units filter four-channel floats at a fraction of their full rate, and the output is a large stream.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CUDA_ASSERT(x) cuda_assert((x), #x, __FILE__, __LINE__)
static void cuda_assert(cudaError_t code, const char *what, const char *file, int line)
{
	if (code != cudaSuccess) {
		fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, cudaGetErrorString(code));
		exit(1);
	}
}

__global__ void resize(cudaTextureObject_t image, float4 *out, int width, int height, float step_x, float step_y)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	int y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height)
		return;
	// two samples per axis and output pixel; every factor is a small multiple of a power of two, so the weights are exact
	float4 sum = make_float4(0, 0, 0, 0);
	for (int sy = 0; sy < 2; sy++) {
		for (int sx = 0; sx < 2; sx++) {
			float u = (x + 0.25f + 0.5f * sx) * step_x, v = (y + 0.25f + 0.5f * sy) * step_y;
			float4 c = tex2D<float4>(image, u, v);
			sum.x += c.x;
			sum.y += c.y;
			sum.z += c.z;
			sum.w += c.w;
		}
	}
	out[(size_t)y * width + x] = make_float4(sum.x * 0.25f, sum.y * 0.25f, sum.z * 0.25f, sum.w * 0.25f);
}

static uint32_t pixel_hash(uint32_t x, uint32_t y)
{
	uint32_t h = x * 0x8da6b343u + y * 0xd8163841u;
	h = (h ^ (h >> 13)) * 0xcb1ab31fu;
	return h ^ (h >> 16);
}

int main()
{
	const int source_w = 1280, source_h = 960;
	std::vector<float4> source((size_t)source_w * source_h);
	for (int y = 0; y < source_h; y++) {
		for (int x = 0; x < source_w; x++) {
			uint32_t h = pixel_hash(x, y), coarse = pixel_hash(x / 40, y / 40);
			source[(size_t)y * source_w + x] = make_float4((float)(coarse & 255), (float)((x + y) & 255), (float)(h & 15), 255.0f);
		}
	}
	cudaArray_t array;
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
	CUDA_ASSERT(cudaMallocArray(&array, &format, source_w, source_h));
	const size_t pitch = source_w * sizeof(float4);
	CUDA_ASSERT(cudaMemcpy2DToArray(array, 0, 0, source.data(), pitch, pitch, source_h, cudaMemcpyHostToDevice));

	cudaResourceDesc resource = {};
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	cudaTextureDesc description = {};
	description.addressMode[0] = cudaAddressModeClamp;
	description.addressMode[1] = cudaAddressModeClamp;
	description.filterMode = cudaFilterModeLinear;
	description.readMode = cudaReadModeElementType;
	description.normalizedCoords = 0;
	cudaTextureObject_t texture;
	CUDA_ASSERT(cudaCreateTextureObject(&texture, &resource, &description, nullptr));

	struct Job {
		float step_x, step_y;
	} jobs[] = {{0.5f, 0.75f}, {0.625f, 0.625f}, {1.25f, 0.5f}};
	for (Job job : jobs) {
		int width = (int)(source_w / job.step_x), height = (int)(source_h / job.step_y);
		size_t pixels = (size_t)width * height;
		float4 *out;
		CUDA_ASSERT(cudaMalloc(&out, pixels * sizeof(float4)));
		dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
		resize<<<grid, block>>>(texture, out, width, height, job.step_x, job.step_y);
		CUDA_ASSERT(cudaGetLastError());
		std::vector<float4> result(pixels);
		CUDA_ASSERT(cudaMemcpy(result.data(), out, pixels * sizeof(float4), cudaMemcpyDeviceToHost));
		CUDA_ASSERT(cudaFree(out));
		uint64_t h = 0xcbf29ce484222325ull;
		double red = 0;
		for (const float4 &p : result) {
			// a rounded step of 1/16 hides the last bits of the filter
			for (float c : {p.x, p.y, p.z, p.w})
				h = (h ^ (uint64_t)(int64_t)(c * 16.0f + 0.53f)) * 0x100000001b3ull;
			red += p.x;
		}
		printf("out_%dx%d: %016llx\n", width, height, (unsigned long long)h);
		printf("red %.6f\n", red / (double)pixels);
	}
	CUDA_ASSERT(cudaDestroyTextureObject(texture));
	CUDA_ASSERT(cudaFreeArray(array));
	return 0;
}
