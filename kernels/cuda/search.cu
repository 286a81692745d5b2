/* Searching, dynamic programming and interpreting: integers, branches, loops whose trips the data decide. As in search.cl. */
#include "kernels/cuda/device.h"

#define ORDER 16
#define TILE 32

/* The last of a node's keys that is not above the wanted one. */
__device__ static int child(const int *keys, int node, int wanted)
{
	int c = ORDER - 1;
	while (c > 0 && keys[node * ORDER + c] > wanted)
		c--;
	return node * ORDER + c;
}

/* B+ tree with four levels; every query walks from the root to a leaf. */
extern "C" __global__ void btree_search(const int *top, const int *upper, const int *lower, const int *leaf, const int *query, int *found)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, wanted = query[i];
	int at = child(leaf, child(lower, child(upper, child(top, 0, wanted), wanted), wanted), wanted);
	found[i] = leaf[at] == wanted ? at : -1 - at;
}

/* Needleman-Wunsch: one tile per block, all on one anti-diagonal of tiles, so that none needs another's cells. */
extern "C" __global__ void align_tile(int *score, const int *match, int n, int diagonal, int gap)
{
	__shared__ int s[TILE + 1][TILE + 1];
	int l = threadIdx.x, x0 = blockIdx.x * TILE, y0 = (diagonal - (int)blockIdx.x) * TILE, w = n + 1;
	if (l == 0)
		s[0][0] = score[y0 * w + x0];
	s[0][l + 1] = score[y0 * w + x0 + l + 1];
	s[l + 1][0] = score[(y0 + l + 1) * w + x0];
	__syncthreads();
	for (int d = 0; d < 2 * TILE - 1; d++) {
		int y = d - l;
		if (y >= 0 && y < TILE) {
			int diagonal_way = s[y][l] + match[(y0 + y) * n + x0 + l];
			s[y + 1][l + 1] = max(diagonal_way, max(s[y][l + 1], s[y + 1][l]) - gap);
		}
		__syncthreads();
	}
	for (int y = 1; y <= TILE; y++)
		score[(y0 + y) * w + x0 + l + 1] = s[y][l + 1];
}

/* Steps until 1 is reached: from 0 to a few hundred. */
extern "C" __global__ void collatz(int *steps, int first)
{
	unsigned at = blockIdx.x * blockDim.x + threadIdx.x, n = at + first;
	int count = 0;
	while (n > 1) {
		if (n & 1)
			n += (n >> 1) + 1, count += 2;
		else
			n >>= 1, count++;
	}
	steps[at] = count;
}

/* Open addressing: probes from the key's own place until it or a hole (a multiple of eight) is met. */
extern "C" __global__ void hash_probe(const int *table, const int *query, int *found, int mask)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, key = query[i], probes = 0, entry;
	unsigned at = (unsigned)key * 2654435761u;
again:
	at &= mask;
	entry = table[at];
	if (entry == key)
		goto hit;
	if ((entry & 7) == 0)
		goto miss;
	at += 1 + probes;
	if (++probes < 64)
		goto again;
miss:
	found[i] = -1 - probes;
	return;
hit:
	found[i] = at;
}

/* A machine with four registers; every thread runs the same code on its own data. */
extern "C" __global__ void interpret(const int *code, const int *data, int *out, int length, int limit)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, pc = 0, steps = 0;
	unsigned r[4] = {(unsigned)i, (unsigned)data[i], 1, 0};
	do {
		int word = code[pc], a = (word >> 4) & 3, b = (word >> 6) & 3;
		pc++;
		switch (word & 15) {
		case 0: r[a] = r[b]; break;
		case 1: r[a] += r[b]; break;
		case 2: r[a] -= r[b]; break;
		case 3: r[a] *= r[b] | 1; break;
		case 4: r[a] ^= r[b]; break;
		case 5: r[a] = r[b] >> 3; break;
		case 6: r[a] = r[b] << 5; break;
		case 7: r[a] = word >> 8; break;
		case 8: r[a]++; /* fall through */
		case 9: r[b]--; break;
		case 10: r[a] = rotate_left(r[a], 7); break;
		case 11:
			if (r[a] & 1)
				pc += b;
			break;
		case 12:
			if ((int)r[a] > (int)r[b])
				pc = word >> 8;
			break;
		case 13: r[a] = min(r[a], r[b]); break;
		case 14: r[a] = __popc(r[b]); break;
		default: r[a] = data[(r[b] ^ i) & 1023];
		}
		if (pc >= length)
			pc -= length;
	} while (++steps < limit);
	out[i] = r[0] ^ r[1] ^ r[2] ^ r[3];
}
