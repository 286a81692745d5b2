// Needleman-Wunsch global alignment scores for a batch of sequence pairs, one launch per diagonal of 128x128 tiles.
// Inside a tile the threads sweep the cell diagonals in shared memory with a barrier per step,
// so half of them idle on average and the large tile limits a multiprocessor to a few blocks.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define TRY(x)                                                                                            \
	do {                                                                                                  \
		cudaError_t r = (x);                                                                              \
		if (r != cudaSuccess) {                                                                           \
			fprintf(stderr, "line %d: %s: %s\n", __LINE__, cudaGetErrorName(r), cudaGetErrorString(r));   \
			exit(1);                                                                                      \
		}                                                                                                 \
	} while (0)

#define TILE 128
#define STRIDE (TILE + 2)
#define NTILES 3
#define LEN (TILE * NTILES)
#define PITCH (LEN + 1)
#define PAIRS 150
#define ALPHABET 20
#define GAP 5

struct TileMem {
	int cell[(TILE + 1) * STRIDE];
	int subst[ALPHABET * ALPHABET];
	unsigned char a[TILE], b[TILE];
};

__global__ void initBorders(int *score)
{
	int *m = score + (size_t)blockIdx.x * PITCH * PITCH;
	for (int i = threadIdx.x; i <= LEN; i += blockDim.x) {
		m[i] = -GAP * i;
		m[(size_t)i * PITCH] = -GAP * i;
	}
}

__global__ void alignDiagonal(int *score, const unsigned char *seqA, const unsigned char *seqB, const int *subst, int diag, int firstRow)
{
	extern __shared__ unsigned char raw[];
	TileMem &s = *reinterpret_cast<TileMem *>(raw);
	const int t = threadIdx.x;
	const int pair = blockIdx.y;
	const int tileRow = firstRow + blockIdx.x, tileCol = diag - tileRow;
	int *base = score + (size_t)pair * PITCH * PITCH + (size_t)tileRow * TILE * PITCH + tileCol * TILE;

	s.a[t] = seqA[pair * LEN + tileRow * TILE + t];
	s.b[t] = seqB[pair * LEN + tileCol * TILE + t];
	for (int i = t; i < ALPHABET * ALPHABET; i += TILE)
		s.subst[i] = subst[i];
	s.cell[t + 1] = base[t + 1];
	s.cell[(t + 1) * STRIDE] = base[(t + 1) * PITCH];
	if (t == 0)
		s.cell[0] = base[0];
	__syncthreads();

	const int *table = s.subst + s.a[t] * ALPHABET;
	int *row = s.cell + (t + 1) * STRIDE + 1;
	for (int step = 0; step < 2 * TILE - 1; step++) {
		int c = step - t;
		if (c >= 0 && c < TILE) {
			int match = row[c - STRIDE - 1] + table[s.b[c]];
			int gap = max(row[c - STRIDE], row[c - 1]) - GAP;
			row[c] = max(match, gap);
		}
		__syncthreads();
	}
	for (int r = 1; r <= TILE; r++)
		base[r * PITCH + t + 1] = s.cell[r * STRIDE + t + 1];
}

static unsigned mix(unsigned x)
{
	x = (x ^ (x >> 16)) * 0x45d9f3bu;
	x = (x ^ (x >> 16)) * 0x45d9f3bu;
	return x ^ (x >> 16);
}

int main()
{
	std::vector<unsigned char> a(PAIRS * LEN), b(PAIRS * LEN);
	for (int i = 0; i < PAIRS * LEN; i++) {
		a[i] = mix(i) % ALPHABET;
		b[i] = mix(i + 7777777) % 4 ? a[i] : mix(i * 3 + 1) % ALPHABET;
	}
	std::vector<int> subst(ALPHABET * ALPHABET);
	for (int i = 0; i < ALPHABET; i++)
		for (int j = 0; j < ALPHABET; j++)
			subst[i * ALPHABET + j] = i == j ? 5 + i % 4 : (int)(mix(i * j + i + j) % 6) - 4;

	const size_t cells = (size_t)PAIRS * PITCH * PITCH;
	unsigned char *dA, *dB;
	int *dSubst, *dScore;
	TRY(cudaMalloc(&dA, a.size()));
	TRY(cudaMalloc(&dB, b.size()));
	TRY(cudaMalloc(&dSubst, subst.size() * sizeof(int)));
	TRY(cudaMalloc(&dScore, cells * sizeof(int)));
	TRY(cudaMemcpy(dA, a.data(), a.size(), cudaMemcpyHostToDevice));
	TRY(cudaMemcpy(dB, b.data(), b.size(), cudaMemcpyHostToDevice));
	TRY(cudaMemcpy(dSubst, subst.data(), subst.size() * sizeof(int), cudaMemcpyHostToDevice));
	TRY(cudaFuncSetAttribute(alignDiagonal, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(TileMem)));

	initBorders<<<PAIRS, 128>>>(dScore);
	TRY(cudaGetLastError());
	for (int diag = 0; diag < 2 * NTILES - 1; diag++) {
		int first = diag < NTILES ? 0 : diag - NTILES + 1;
		int last = diag < NTILES ? diag : NTILES - 1;
		alignDiagonal<<<dim3(last - first + 1, PAIRS), TILE, sizeof(TileMem)>>>(dScore, dA, dB, dSubst, diag, first);
		TRY(cudaGetLastError());
	}
	std::vector<int> score(cells);
	TRY(cudaMemcpy(score.data(), dScore, cells * sizeof(int), cudaMemcpyDeviceToHost));
	uint64_t h = 0xcbf29ce484222325ull;
	for (int v : score)
		h = (h ^ (uint32_t)v) * 0x100000001b3ull;
	printf("scores: %016llx\nscore of last pair: %d\n", (unsigned long long)h, score[cells - 1]);
	return 0;
}
