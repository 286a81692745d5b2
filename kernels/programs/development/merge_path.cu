// Merges sorted key/value arrays by merge path: every thread finds its diagonal by binary search and merges a short run.
// Hard for a GPU: the searches are long chains of scattered loads, and the merge loop branches on every comparison.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

static void must(cudaError_t result, const char *doing)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "error while %s: %s\n", doing, cudaGetErrorString(result));
	exit(1);
}

template <typename Key>
__device__ int diagonal_split(const Key *a, int na, const Key *b, int nb, int diagonal)
{
	int low = max(0, diagonal - nb), high = min(diagonal, na);
	while (low < high) {
		int mid = (low + high) >> 1;
		if (a[mid] <= b[diagonal - 1 - mid])
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

template <typename Key, int RUN>
__global__ void merge_arrays(const Key *a_key, const int *a_value, int na, const Key *b_key, const int *b_value, int nb,
	Key *out_key, int *out_value)
{
	int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * RUN;
	if (diagonal >= na + nb)
		return;
	int i = diagonal_split(a_key, na, b_key, nb, diagonal);
	int j = diagonal - i;
	int end = min(diagonal + RUN, na + nb);
	for (int k = diagonal; k < end; k++) {
		bool take_a = i < na && (j >= nb || a_key[i] <= b_key[j]);
		if (take_a) {
			out_key[k] = a_key[i];
			out_value[k] = a_value[i++];
		} else {
			out_key[k] = b_key[j];
			out_value[k] = b_value[j++];
		}
	}
}

// gaps between keys depend on the region, so runs of one input alternate with finely mixed stretches
static void make_sorted(std::vector<unsigned> &key, std::vector<int> &value, int count, unsigned seed)
{
	key.resize(count);
	value.resize(count);
	unsigned k = seed % 100, s = seed;
	for (int i = 0; i < count; i++) {
		s ^= s << 13;
		s ^= s >> 17;
		s ^= s << 5;
		unsigned gap = ((i >> 12) + seed) % 3 == 0 ? 7 : 500;
		k += s % gap;
		key[i] = k;
		value[i] = (int)(seed * 10000000u + i);
	}
}

int main()
{
	const int piece = 1000000, merges = 4, total = piece * (merges + 1), run = 12, block = 256;
	unsigned *key[2], *piece_key;
	int *value[2], *piece_value;
	for (int s = 0; s < 2; s++) {
		must(cudaMalloc(&key[s], total * sizeof(unsigned)), "allocating keys");
		must(cudaMalloc(&value[s], total * sizeof(int)), "allocating values");
	}
	must(cudaMalloc(&piece_key, piece * sizeof(unsigned)), "allocating a piece");
	must(cudaMalloc(&piece_value, piece * sizeof(int)), "allocating a piece");

	std::vector<unsigned> host_key;
	std::vector<int> host_value;
	make_sorted(host_key, host_value, piece, 1);
	must(cudaMemcpy(key[0], host_key.data(), piece * sizeof(unsigned), cudaMemcpyHostToDevice), "copying keys");
	must(cudaMemcpy(value[0], host_value.data(), piece * sizeof(int), cudaMemcpyHostToDevice), "copying values");
	int have = piece;
	for (int m = 0; m < merges; m++) {
		make_sorted(host_key, host_value, piece, m + 2);
		must(cudaMemcpy(piece_key, host_key.data(), piece * sizeof(unsigned), cudaMemcpyHostToDevice), "copying keys");
		must(cudaMemcpy(piece_value, host_value.data(), piece * sizeof(int), cudaMemcpyHostToDevice), "copying values");
		int threads = (have + piece + run - 1) / run;
		merge_arrays<unsigned, run><<<(threads + block - 1) / block, block>>>(key[0], value[0], have, piece_key, piece_value, piece,
			key[1], value[1]);
		must(cudaGetLastError(), "merging");
		std::swap(key[0], key[1]);
		std::swap(value[0], value[1]);
		have += piece;
	}
	host_key.resize(total);
	host_value.resize(total);
	must(cudaMemcpy(host_key.data(), key[0], total * sizeof(unsigned), cudaMemcpyDeviceToHost), "reading keys");
	must(cudaMemcpy(host_value.data(), value[0], total * sizeof(int), cudaMemcpyDeviceToHost), "reading values");

	uint64_t kh = 1, vh = 1;
	int inversions = 0;
	for (int i = 0; i < total; i++) {
		kh = (kh ^ host_key[i]) * 0x9fb21c651e98df25ull;
		kh ^= kh >> 28;
		vh = (vh ^ (unsigned)host_value[i]) * 0x9fb21c651e98df25ull;
		vh ^= vh >> 28;
		inversions += i && host_key[i - 1] > host_key[i];
	}
	printf("key: %016llx\n", (unsigned long long)kh);
	printf("value: %016llx\n", (unsigned long long)vh);
	printf("inversions %d middle %u\n", inversions, host_key[total / 2]);
	for (int s = 0; s < 2; s++) {
		cudaFree(key[s]);
		cudaFree(value[s]);
	}
	cudaFree(piece_key);
	cudaFree(piece_value);
	return 0;
}
