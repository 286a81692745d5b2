// Counts the solutions of the n-queens puzzle for n = 12, 13, 14: the host lists partial boards, each thread searches one with bitmasks.
// Hard for a GPU: search trees differ in size, so threads of a warp backtrack at different depths and finish at different times.
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <vector>

#define checkCuda(x) check_((x), __FILE__, __LINE__)
static void check_(cudaError_t e, const char *file, int line)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "%s:%d %s\n", file, line, cudaGetErrorString(e));
		exit(1);
	}
}

struct Board {
	unsigned columns, left, right;
};

template <int MAX_ROWS>
__global__ void search(const Board *boards, int count, int rows_left, unsigned all, unsigned *solutions)
{
	int id = blockIdx.x * blockDim.x + threadIdx.x;
	if (id >= count)
		return;
	unsigned columns[MAX_ROWS], left[MAX_ROWS], right[MAX_ROWS], open[MAX_ROWS];
	Board b = boards[id];
	columns[0] = b.columns;
	left[0] = b.left;
	right[0] = b.right;
	open[0] = all & ~(b.columns | b.left | b.right);
	unsigned found = 0;
	int depth = 0;
	while (depth >= 0) {
		unsigned free_places = open[depth];
		if (free_places == 0) {
			depth--;
			continue;
		}
		unsigned bit = free_places & (0u - free_places);
		open[depth] = free_places ^ bit;
		unsigned c = columns[depth] | bit;
		if (depth + 1 == rows_left) {
			found++;
			continue;
		}
		unsigned l = (left[depth] | bit) << 1;
		unsigned r = (right[depth] | bit) >> 1;
		unsigned next = all & ~(c | l | r);
		if (next) {
			depth++;
			columns[depth] = c;
			left[depth] = l;
			right[depth] = r;
			open[depth] = next;
		}
	}
	solutions[id] = found;
}

static void list_boards(std::vector<Board> &list, Board b, unsigned all, int rows)
{
	if (rows == 0) {
		list.push_back(b);
		return;
	}
	unsigned open = all & ~(b.columns | b.left | b.right);
	while (open) {
		unsigned bit = open & -open;
		open ^= bit;
		list_boards(list, Board{b.columns | bit, (b.left | bit) << 1, (b.right | bit) >> 1}, all, rows - 1);
	}
}

int main()
{
	uint64_t h = 0;
	unsigned long totals[3];
	int which = 0;
	for (int n = 12; n <= 14; n++) {
		const int placed = n == 12 ? 3 : 4;
		unsigned all = (1u << n) - 1;
		std::vector<Board> boards;
		list_boards(boards, Board{0, 0, 0}, all, placed);
		int count = (int)boards.size();
		Board *d_boards;
		unsigned *d_solutions;
		checkCuda(cudaMalloc((void **)&d_boards, count * sizeof(Board)));
		checkCuda(cudaMalloc((void **)&d_solutions, count * sizeof(unsigned)));
		checkCuda(cudaMemcpy(d_boards, boards.data(), count * sizeof(Board), cudaMemcpyHostToDevice));
		search<10><<<(count + 63) / 64, 64>>>(d_boards, count, n - placed, all, d_solutions);
		checkCuda(cudaGetLastError());
		checkCuda(cudaDeviceSynchronize());
		std::vector<unsigned> solutions(count);
		checkCuda(cudaMemcpy(solutions.data(), d_solutions, count * sizeof(unsigned), cudaMemcpyDeviceToHost));
		totals[which] = 0;
		for (unsigned s : solutions) {
			totals[which] += s;
			h = (h * 31 + s) ^ (h >> 53);
		}
		which++;
		checkCuda(cudaFree(d_boards));
		checkCuda(cudaFree(d_solutions));
	}
	printf("solutions: %016llx\n", (unsigned long long)h);
	printf("12: %lu 13: %lu 14: %lu\n", totals[0], totals[1], totals[2]);
	return 0;
}
