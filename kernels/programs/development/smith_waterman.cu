// Smith-Waterman local alignment with affine gaps, one warp per pair: each lane owns a query column and the warp moves along
// anti-diagonals, passing cells to the right with shuffles. Hard for a GPU: long dependent chains and few warps.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(x) \
	do { \
		cudaError_t e_ = (x); \
		if (e_ != cudaSuccess) { \
			fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e_)); \
			exit(1); \
		} \
	} while (0)

constexpr int QUERY = 96;
constexpr int TARGET = 256;
constexpr int PAIRS = 264;
constexpr int WARPS_PER_BLOCK = 2;

__constant__ signed char score_table[16];

__global__ void align(const unsigned char *queries, const unsigned char *targets, int gap_open, int gap_extend, int *best_score,
	int *best_place)
{
	// the right border column of a strip is the left border of the next one
	__shared__ int border_h[WARPS_PER_BLOCK][TARGET];
	__shared__ int border_e[WARPS_PER_BLOCK][TARGET];
	const unsigned full = 0xffffffffu;
	int lane = threadIdx.x, w = threadIdx.y;
	int pair = blockIdx.x * WARPS_PER_BLOCK + w;
	const unsigned char *query = queries + pair * QUERY;
	const unsigned char *target = targets + pair * TARGET;
	for (int i = lane; i < TARGET; i += 32) {
		border_h[w][i] = 0;
		border_e[w][i] = -1000000;
	}
	__syncwarp();
	int best = 0, place = 0;
	for (int strip = 0; strip < QUERY; strip += 32) {
		int q = query[strip + lane];
		int h_up = 0, f = -1000000, h_diag = 0, h = 0, e = -1000000;
		for (int step = 0; step < TARGET + 31; step++) {
			int row = step - lane;
			// cell to the left: computed by the lane before in the step before
			int h_left = __shfl_up_sync(full, h, 1);
			int e_left = __shfl_up_sync(full, e, 1);
			bool active = row >= 0 && row < TARGET;
			if (lane == 0 && active) {
				h_left = border_h[w][row];
				e_left = border_e[w][row];
			}
			if (active) {
				int t = target[row];
				e = max(e_left - gap_extend, h_left - gap_open);
				f = max(f - gap_extend, h_up - gap_open);
				h = max(max(0, h_diag + score_table[q * 4 + t]), max(e, f));
				h_diag = h_left;
				h_up = h;
				if (h > best) {
					best = h;
					place = row * QUERY + strip + lane;
				}
				if (lane == 31) {
					border_h[w][row] = h;
					border_e[w][row] = e;
				}
			}
			__syncwarp();
		}
	}
	// the lane with the highest score wins, among equal lanes the one with the smallest place
	for (int d = 16; d > 0; d >>= 1) {
		int other = __shfl_xor_sync(full, best, d);
		int other_place = __shfl_xor_sync(full, place, d);
		if (other > best || (other == best && other_place < place)) {
			best = other;
			place = other_place;
		}
	}
	if (lane == 0) {
		best_score[pair] = best;
		best_place[pair] = place;
	}
}

int main()
{
	std::vector<unsigned char> queries(PAIRS * QUERY), targets(PAIRS * TARGET);
	uint64_t s = 88172645463325252ull;
	auto next = [&s]() { s ^= s << 13; s ^= s >> 7; s ^= s << 17; return (unsigned)(s >> 32); };
	for (auto &c : targets)
		c = next() & 3;
	for (int p = 0; p < PAIRS; p++) {
		// the query is a damaged piece of the target
		int at = next() % (TARGET - QUERY);
		for (int i = 0; i < QUERY; i++) {
			unsigned r = next() % 20;
			at += r == 0 && at + QUERY < TARGET;
			queries[p * QUERY + i] = r < 3 ? next() & 3 : targets[p * TARGET + at + i];
		}
	}
	const signed char table[16] = {5, -4, -3, -4, -4, 5, -4, -3, -3, -4, 5, -4, -4, -3, -4, 5};
	unsigned char *d_queries, *d_targets;
	int *d_score, *d_place;
	CK(cudaMemcpyToSymbol(score_table, table, sizeof table));
	CK(cudaMalloc(&d_queries, queries.size()));
	CK(cudaMalloc(&d_targets, targets.size()));
	CK(cudaMalloc(&d_score, PAIRS * sizeof(int)));
	CK(cudaMalloc(&d_place, PAIRS * sizeof(int)));
	CK(cudaMemcpy(d_queries, queries.data(), queries.size(), cudaMemcpyHostToDevice));
	CK(cudaMemcpy(d_targets, targets.data(), targets.size(), cudaMemcpyHostToDevice));
	std::vector<int> score(PAIRS), place(PAIRS);
	uint64_t sh = 0, ph = 0;
	long total = 0;
	for (int open = 8; open <= 14; open += 2) {
		align<<<PAIRS / WARPS_PER_BLOCK, dim3(32, WARPS_PER_BLOCK)>>>(d_queries, d_targets, open, 2, d_score, d_place);
		CK(cudaGetLastError());
		CK(cudaMemcpy(score.data(), d_score, PAIRS * sizeof(int), cudaMemcpyDeviceToHost));
		CK(cudaMemcpy(place.data(), d_place, PAIRS * sizeof(int), cudaMemcpyDeviceToHost));
		for (int p = 0; p < PAIRS; p++) {
			sh = (sh ^ score[p]) * 0x100000001b3ull;
			ph = (ph ^ place[p]) * 0x100000001b3ull;
			total += score[p];
		}
	}
	printf("score: %016llx\nplace: %016llx\ntotal %ld first %d\n", (unsigned long long)sh, (unsigned long long)ph, total, score[0]);
	return 0;
}
