// Brute-force 8 nearest neighbours in three dimensions: one thread per query, references staged through shared memory.
// Hard for a GPU: the sorted insertion branches on data, and the few blocks leave little to hide latency with.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
static T *device_copy(const std::vector<T> &v)
{
	T *p = nullptr;
	if (cudaMalloc(&p, v.size() * sizeof(T)) != cudaSuccess ||
		cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice) != cudaSuccess) {
		fprintf(stderr, "device copy failed: %s\n", cudaGetErrorString(cudaGetLastError()));
		exit(1);
	}
	return p;
}

static void check(cudaError_t e)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
		exit(1);
	}
}

template <int K, int TILE>
__global__ void knn(const float4 *__restrict__ queries, const float4 *__restrict__ refs, int ref_count, int *__restrict__ index,
	float *__restrict__ distance)
{
	__shared__ float4 tile[TILE];
	int q = blockIdx.x * TILE + threadIdx.x;
	float4 me = queries[q];
	float best[K];
	int who[K];
#pragma unroll
	for (int k = 0; k < K; k++) {
		best[k] = 3.0e38f;
		who[k] = -1;
	}
	for (int base = 0; base < ref_count; base += TILE) {
		tile[threadIdx.x] = refs[base + threadIdx.x];
		__syncthreads();
		for (int j = 0; j < TILE; j++) {
			float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
			float d = dx * dx + dy * dy + dz * dz;
			if (d < best[K - 1]) {
				best[K - 1] = d;
				who[K - 1] = base + j;
				// move the new entry up to its place; equal distances keep the earlier reference first
#pragma unroll
				for (int k = K - 1; k > 0; k--) {
					if (best[k] < best[k - 1]) {
						float t = best[k];
						best[k] = best[k - 1];
						best[k - 1] = t;
						int w = who[k];
						who[k] = who[k - 1];
						who[k - 1] = w;
					}
				}
			}
		}
		__syncthreads();
	}
#pragma unroll
	for (int k = 0; k < K; k++) {
		index[q * K + k] = who[k];
		distance[q * K + k] = best[k];
	}
}

static std::vector<float4> cloud(int count, unsigned seed)
{
	std::vector<float4> points(count);
	unsigned s = seed;
	for (auto &p : points) {
		float c[3];
		for (float &v : c) {
			s = s * 1664525u + 1013904223u;
			v = (float)(s >> 20);
		}
		p = make_float4(c[0], c[1], c[2], 0.0f);
	}
	return points;
}

int main()
{
	constexpr int K = 8, QUERIES = 6144, REFS = 4096, TILE = 64;
	uint64_t index_hash = 0, distance_hash = 0;
	long long index_sum = 0;
	double distance_sum = 0;
	float4 *refs = device_copy(cloud(REFS, 4242u));
	int *index;
	float *distance;
	check(cudaMalloc(&index, QUERIES * K * sizeof(int)));
	check(cudaMalloc(&distance, QUERIES * K * sizeof(float)));
	std::vector<int> host_index(QUERIES * K);
	std::vector<float> host_distance(QUERIES * K);
	for (unsigned batch = 0; batch < 3; batch++) {
		float4 *queries = device_copy(cloud(QUERIES, 99u + batch));
		knn<K, TILE><<<QUERIES / TILE, TILE>>>(queries, refs, REFS, index, distance);
		check(cudaGetLastError());
		check(cudaMemcpy(host_index.data(), index, host_index.size() * sizeof(int), cudaMemcpyDeviceToHost));
		check(cudaMemcpy(host_distance.data(), distance, host_distance.size() * sizeof(float), cudaMemcpyDeviceToHost));
		check(cudaFree(queries));
		for (size_t i = 0; i < host_index.size(); i++) {
			uint32_t bits;
			memcpy(&bits, &host_distance[i], 4);
			index_hash = (index_hash + host_index[i] + 1) * 0xff51afd7ed558ccdull;
			index_hash ^= index_hash >> 33;
			distance_hash = (distance_hash + bits + 1) * 0xff51afd7ed558ccdull;
			distance_hash ^= distance_hash >> 33;
			index_sum += host_index[i];
			distance_sum += host_distance[i];
		}
	}
	printf("index: %016llx\n", (unsigned long long)index_hash);
	printf("distance: %016llx\n", (unsigned long long)distance_hash);
	printf("index_sum %lld distance_sum %.8g\n", index_sum, distance_sum);
	check(cudaFree(refs));
	check(cudaFree(index));
	check(cudaFree(distance));
	return 0;
}
