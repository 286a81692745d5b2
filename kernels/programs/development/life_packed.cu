// Conway's Game of Life with 32 cells packed in a word, neighbours counted bit-parallel with full adders.
// Hard for a GPU: a few dozen dependent logic instructions per word, between nine loads and one store.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

typedef uint32_t word;

static void require(cudaError_t e, const char *where)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(e));
	exit(1);
}

__global__ void seed_board(word *board, int words, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= words || y >= height)
		return;
	word h = (word)(y * words + x) * 0x9e3779b1u;
	h ^= h >> 15;
	h *= 0x2c1b3c6du;
	h ^= h >> 12;
	word g = h * 0x297a2d39u;
	g ^= g >> 15;
	// some regions dense, some empty
	board[y * words + x] = ((x >> 4) + (y >> 7)) % 5 == 0 ? 0 : h & (g | 0x11111111u);
}

__device__ __forceinline__ void full_add(word a, word b, word c, word &sum, word &carry)
{
	word t = a ^ b;
	sum = t ^ c;
	carry = (a & b) | (t & c);
}

__global__ void generation(const word *__restrict__ in, word *__restrict__ out, int words, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= words || y >= height)
		return;
	int left = x == 0 ? words - 1 : x - 1, right = x == words - 1 ? 0 : x + 1;
	const word *row[3] = {
		in + (size_t)(y == 0 ? height - 1 : y - 1) * words,
		in + (size_t)y * words,
		in + (size_t)(y == height - 1 ? 0 : y + 1) * words,
	};
	word west[3], centre[3], east[3];
#pragma unroll
	for (int r = 0; r < 3; r++) {
		word l = row[r][left], m = row[r][x], n = row[r][right];
		centre[r] = m;
		west[r] = __funnelshift_l(l, m, 1);
		east[r] = __funnelshift_r(m, n, 1);
	}
	// eight neighbours: ones, twos and fours of the count
	word s0, c0, s1, c1, s2, c2, ones, c3, twos, c4;
	full_add(west[0], centre[0], east[0], s0, c0);
	full_add(west[2], centre[2], east[2], s1, c1);
	s2 = west[1] ^ east[1];
	c2 = west[1] & east[1];
	full_add(s0, s1, s2, ones, c3);
	word t, c5;
	full_add(c0, c1, c2, t, c4);
	twos = t ^ c3;
	c5 = t & c3;
	word four_or_more = c4 | c5;
	// alive with three neighbours, or alive before and two neighbours
	out[(size_t)y * words + x] = twos & ~four_or_more & (ones | centre[1]);
}

__global__ void population(const word *board, int n, unsigned long long *alive)
{
	unsigned sum = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		sum += __popc(board[i]);
	for (int d = 16; d >= 1; d >>= 1)
		sum += __shfl_xor_sync(0xffffffffu, sum, d);
	if (threadIdx.x % 32 == 0)
		atomicAdd(alive, (unsigned long long)sum);
}

int main()
{
	const int words = 500, height = 12000, generations = 4, n = words * height;
	word *a, *b;
	unsigned long long *alive, host_alive[2];
	require(cudaMalloc(&a, n * sizeof(word)), "malloc");
	require(cudaMalloc(&b, n * sizeof(word)), "malloc");
	require(cudaMalloc(&alive, sizeof(host_alive)), "malloc");
	require(cudaMemset(alive, 0, sizeof(host_alive)), "memset");
	dim3 block(32, 4), grid((words + 31) / 32, (height + 3) / 4);
	seed_board<<<grid, block>>>(a, words, height);
	require(cudaGetLastError(), "seed_board");
	population<<<132, 256>>>(a, n, alive);
	require(cudaGetLastError(), "population");
	for (int g = 0; g < generations; g++) {
		generation<<<grid, block>>>(a, b, words, height);
		require(cudaGetLastError(), "generation");
		word *t = a;
		a = b;
		b = t;
	}
	population<<<132, 256>>>(a, n, alive + 1);
	require(cudaGetLastError(), "population");

	std::vector<word> board(n);
	require(cudaMemcpy(board.data(), a, n * sizeof(word), cudaMemcpyDeviceToHost), "copy board");
	require(cudaMemcpy(host_alive, alive, sizeof(host_alive), cudaMemcpyDeviceToHost), "copy counts");
	uint64_t h = 7;
	for (word w : board)
		h = (h + w) * 0xda942042e4dd58b5ull ^ (h >> 35);
	printf("board: %016llx\n", (unsigned long long)h);
	printf("alive %llu %llu\n", host_alive[0], host_alive[1]);
	require(cudaFree(a), "free");
	require(cudaFree(b), "free");
	require(cudaFree(alive), "free");
	return 0;
}
