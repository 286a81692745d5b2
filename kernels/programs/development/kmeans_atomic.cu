// K-means on integer points: assignment against centroids in shared memory, then update with integer atomics.
// Hard for a GPU: the update sends many atomics to a few hundred addresses, and neighbouring points fall into the same cluster.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

constexpr int DIMS = 16;
constexpr int CLUSTERS = 64;
constexpr int POINTS = 1 << 17;

#define CU(call) \
	do { \
		cudaError_t r = (call); \
		if (r != cudaSuccess) { \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(r)); \
			exit(1); \
		} \
	} while (0)

__host__ __device__ static unsigned h32(unsigned x)
{
	x ^= x >> 17;
	x *= 0xed5ad4bbu;
	x ^= x >> 11;
	x *= 0xac4c1b51u;
	x ^= x >> 15;
	return x;
}

__global__ void make_points(int *points)
{
	int p = blockIdx.x * blockDim.x + threadIdx.x;
	if (p >= POINTS)
		return;
	unsigned blob = h32(p / 100) % 80;
	for (int d = 0; d < DIMS; d++)
		points[d * POINTS + p] = (int)(h32(blob * DIMS + d) % 2000) + (int)(h32(p * DIMS + d + 777) % 900);
}

__global__ void __launch_bounds__(256) assign(const int *__restrict__ points, const int *__restrict__ centroids,
	int *__restrict__ cluster, unsigned long long *cost)
{
	__shared__ int c[CLUSTERS * DIMS];
	for (int i = threadIdx.x; i < CLUSTERS * DIMS; i += blockDim.x)
		c[i] = centroids[i];
	__syncthreads();
	int p = blockIdx.x * blockDim.x + threadIdx.x;
	int x[DIMS];
#pragma unroll
	for (int d = 0; d < DIMS; d++)
		x[d] = points[d * POINTS + p];
	int best = 0, best_distance = 0x7fffffff;
	for (int k = 0; k < CLUSTERS; k++) {
		int distance = 0;
#pragma unroll
		for (int d = 0; d < DIMS; d++) {
			int diff = x[d] - c[k * DIMS + d];
			distance += diff * diff;
		}
		if (distance < best_distance) {
			best_distance = distance;
			best = k;
		}
	}
	cluster[p] = best;
	unsigned long long sum = best_distance;
	for (int o = 16; o; o >>= 1)
		sum += __shfl_xor_sync(0xffffffffu, sum, o);
	if (threadIdx.x % 32 == 0)
		atomicAdd(cost, sum);
}

__global__ void accumulate(const int *__restrict__ points, const int *__restrict__ cluster, int *sums, int *sizes)
{
	int p = blockIdx.x * blockDim.x + threadIdx.x;
	int k = cluster[p];
	for (int d = 0; d < DIMS; d++)
		atomicAdd(&sums[k * DIMS + d], points[d * POINTS + p]);
	atomicAdd(&sizes[k], 1);
}

__global__ void divide(const int *sums, const int *sizes, int *centroids)
{
	int k = blockIdx.x, d = threadIdx.x;
	if (sizes[k] > 0)
		centroids[k * DIMS + d] = sums[k * DIMS + d] / sizes[k];
}

int main()
{
	int *points, *cluster, *centroids, *sums, *sizes;
	unsigned long long *cost, host_cost = 0;
	CU(cudaMalloc(&points, sizeof(int) * POINTS * DIMS));
	CU(cudaMalloc(&cluster, sizeof(int) * POINTS));
	CU(cudaMalloc(&centroids, sizeof(int) * CLUSTERS * DIMS));
	CU(cudaMalloc(&sums, sizeof(int) * CLUSTERS * DIMS));
	CU(cudaMalloc(&sizes, sizeof(int) * CLUSTERS));
	CU(cudaMalloc(&cost, sizeof(host_cost)));
	std::vector<int> start(CLUSTERS * DIMS);
	for (int i = 0; i < CLUSTERS * DIMS; i++)
		start[i] = (int)(h32(i + 31337) % 2900);
	CU(cudaMemcpy(centroids, start.data(), sizeof(int) * start.size(), cudaMemcpyHostToDevice));
	make_points<<<POINTS / 256, 256>>>(points);
	CU(cudaGetLastError());
	for (int it = 0; it < 3; it++) {
		CU(cudaMemset(sums, 0, sizeof(int) * CLUSTERS * DIMS));
		CU(cudaMemset(sizes, 0, sizeof(int) * CLUSTERS));
		CU(cudaMemset(cost, 0, sizeof(host_cost)));
		assign<<<POINTS / 256, 256>>>(points, centroids, cluster, cost);
		accumulate<<<POINTS / 256, 256>>>(points, cluster, sums, sizes);
		divide<<<CLUSTERS, DIMS>>>(sums, sizes, centroids);
		CU(cudaGetLastError());
	}
	std::vector<int> label(POINTS), centre(CLUSTERS * DIMS);
	CU(cudaMemcpy(label.data(), cluster, sizeof(int) * POINTS, cudaMemcpyDeviceToHost));
	CU(cudaMemcpy(centre.data(), centroids, sizeof(int) * centre.size(), cudaMemcpyDeviceToHost));
	CU(cudaMemcpy(&host_cost, cost, sizeof(host_cost), cudaMemcpyDeviceToHost));
	uint64_t a = 17, b = 17;
	for (int v : label)
		a = a * 0x5851f42d4c957f2dull + v + 1;
	for (int v : centre)
		b = b * 0x5851f42d4c957f2dull + v + 1;
	printf("cluster: %016llx\n", (unsigned long long)a);
	printf("centroid: %016llx\n", (unsigned long long)b);
	printf("cost %llu centroid0 %d\n", host_cost, centre[0]);
	return 0;
}
