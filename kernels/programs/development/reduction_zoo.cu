// Seven classical versions of the parallel sum reduction (after Harris' slides), from interleaved addressing with
// divergent branches to a grid-stride loop with vector loads.
// Hard for a GPU: divergence, bank conflicts, many barriers for little work; the last version is bound by memory.
#include <cstdio>
#include <cstdlib>
#include <cstdint>

#define CHK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s -> %s\n", #x, cudaGetErrorString(e)); exit(1); } } while (0)

const int BIG = 20 * 1000 * 1000 + 4; // elements for the grid-stride version
const int SMALL = 2500003;            // elements for the others

__global__ void fill(uint4 *v, int n4)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n4) return;
	unsigned s = i * 0x9E3779B9u;
	s ^= s >> 16; s *= 0x7feb352du; s ^= s >> 15;
	v[i] = make_uint4(s & 0xffff, s >> 16, (s * 5) & 0xffff, (s * 9) >> 16);
}

// 0: interleaved addressing, divergent
__global__ void reduce0(const unsigned *in, unsigned *out, int n)
{
	extern __shared__ unsigned sdata[];
	unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
	sdata[tid] = i < n ? in[i] : 0;
	__syncthreads();
	for (unsigned s = 1; s < blockDim.x; s *= 2) {
		if (tid % (2 * s) == 0)
			sdata[tid] += sdata[tid + s];
		__syncthreads();
	}
	if (tid == 0) out[blockIdx.x] = sdata[0];
}

// 1: interleaved addressing, contiguous threads (bank conflicts)
__global__ void reduce1(const unsigned *in, unsigned *out, int n)
{
	extern __shared__ unsigned sdata[];
	unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
	sdata[tid] = i < n ? in[i] : 0;
	__syncthreads();
	for (unsigned s = 1; s < blockDim.x; s *= 2) {
		unsigned index = 2 * s * tid;
		if (index < blockDim.x)
			sdata[index] += sdata[index + s];
		__syncthreads();
	}
	if (tid == 0) out[blockIdx.x] = sdata[0];
}

// 2: sequential addressing
__global__ void reduce2(const unsigned *in, unsigned *out, int n)
{
	extern __shared__ unsigned sdata[];
	unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
	sdata[tid] = i < n ? in[i] : 0;
	__syncthreads();
	for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
		if (tid < s)
			sdata[tid] += sdata[tid + s];
		__syncthreads();
	}
	if (tid == 0) out[blockIdx.x] = sdata[0];
}

// 3: first add during load
__global__ void reduce3(const unsigned *in, unsigned *out, int n)
{
	extern __shared__ unsigned sdata[];
	unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + tid;
	unsigned sum = i < n ? in[i] : 0;
	if (i + blockDim.x < n) sum += in[i + blockDim.x];
	sdata[tid] = sum;
	__syncthreads();
	for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
		if (tid < s)
			sdata[tid] = sum = sum + sdata[tid + s];
		__syncthreads();
	}
	if (tid == 0) out[blockIdx.x] = sum;
}

// 4: last warp unrolled, volatile shared memory with explicit warp barriers
__global__ void reduce4(const unsigned *in, unsigned *out, int n)
{
	extern __shared__ unsigned sdata[];
	unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + tid;
	unsigned sum = i < n ? in[i] : 0;
	if (i + blockDim.x < n) sum += in[i + blockDim.x];
	sdata[tid] = sum;
	__syncthreads();
	for (unsigned s = blockDim.x / 2; s >= 32; s >>= 1) {
		if (tid < s)
			sdata[tid] = sum = sum + sdata[tid + s];
		__syncthreads();
	}
	if (tid < 32) {
		volatile unsigned *v = sdata;
#pragma unroll
		for (int s = 16; s > 0; s >>= 1) {
			sum += v[tid + s]; __syncwarp();
			v[tid] = sum; __syncwarp();
		}
	}
	if (tid == 0) out[blockIdx.x] = sum;
}

// 5: shuffles only, block size known at compile time
template <int BLOCK>
__global__ void reduce5(const unsigned *__restrict__ in, unsigned *__restrict__ out, int n)
{
	__shared__ unsigned part[BLOCK / 32];
	int tid = threadIdx.x, i = blockIdx.x * BLOCK * 2 + tid;
	unsigned sum = i < n ? in[i] : 0;
	if (i + BLOCK < n) sum += in[i + BLOCK];
#pragma unroll
	for (int s = 16; s > 0; s >>= 1)
		sum += __shfl_down_sync(0xffffffffu, sum, s);
	if (tid % 32 == 0) part[tid / 32] = sum;
	__syncthreads();
	if (tid < BLOCK / 32) {
		sum = part[tid];
#pragma unroll
		for (int s = BLOCK / 64; s > 0; s >>= 1)
			sum += __shfl_down_sync((1ull << (BLOCK / 32)) - 1, sum, s);
		if (tid == 0) out[blockIdx.x] = sum;
	}
}

// 6: grid-stride, vector loads, one atomic for each block
__global__ void __launch_bounds__(512) reduce6(const uint4 *__restrict__ in, unsigned *out, int n4)
{
	__shared__ unsigned part[16];
	unsigned sum = 0;
	for (int i = blockIdx.x * 512 + threadIdx.x; i < n4; i += gridDim.x * 512) {
		uint4 v = in[i];
		sum += (v.x + v.y) + (v.z + v.w);
	}
	for (int s = 16; s > 0; s >>= 1)
		sum += __shfl_xor_sync(0xffffffffu, sum, s);
	if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x < 16) {
		sum = part[threadIdx.x];
		for (int s = 8; s > 0; s >>= 1)
			sum += __shfl_xor_sync(0xffffu, sum, s);
		if (threadIdx.x == 0) atomicAdd(out, sum);
	}
}

int main()
{
	unsigned *in, *out;
	const int T = 256, blocks1 = (SMALL + T - 1) / T, blocks2 = (SMALL + 2 * T - 1) / (2 * T);
	CHK(cudaMalloc(&in, BIG * sizeof(unsigned)));
	CHK(cudaMalloc(&out, blocks1 * sizeof(unsigned)));
	unsigned *host = (unsigned *)malloc(blocks1 * sizeof(unsigned));
	fill<<<(BIG / 4 + 255) / 256, 256>>>((uint4 *)in, BIG / 4);
	CHK(cudaGetLastError());
	for (int version = 0; version < 7; version++) {
		int blocks = version < 3 ? blocks1 : version < 6 ? blocks2 : 1;
		size_t shared = T * sizeof(unsigned);
		CHK(cudaMemset(out, 0, blocks1 * sizeof(unsigned)));
		switch (version) {
		case 0: reduce0<<<blocks, T, shared>>>(in, out, SMALL); break;
		case 1: reduce1<<<blocks, T, shared>>>(in, out, SMALL); break;
		case 2: reduce2<<<blocks, T, shared>>>(in, out, SMALL); break;
		case 3: reduce3<<<blocks, T, shared>>>(in, out, SMALL); break;
		case 4: reduce4<<<blocks, T, shared>>>(in, out, SMALL); break;
		case 5: reduce5<256><<<blocks, T>>>(in, out, SMALL); break;
		case 6: reduce6<<<132 * 4, 512>>>((const uint4 *)in, out, BIG / 4); break;
		}
		CHK(cudaGetLastError());
		CHK(cudaMemcpy(host, out, blocks * sizeof(unsigned), cudaMemcpyDeviceToHost));
		unsigned sum = 0, h = 0;
		for (int i = 0; i < blocks; i++) {
			sum += host[i];
			h = h * 16777619u ^ host[i];
		}
		printf("reduce%d sum %08x hash %08x\n", version, sum, h);
	}
	free(host);
	CHK(cudaFree(in));
	CHK(cudaFree(out));
	return 0;
}
