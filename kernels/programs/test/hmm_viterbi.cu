// Hidden Markov model over many symbol sequences: Viterbi with back pointers, trace back, and the scaled forward pass.
// Hard for a GPU: time steps are sequential with a barrier each, sequences differ in length, and the trace back chases pointers.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

#define STATES 64
#define SYMBOLS 32
#define MAX_LEN 400

static void check(cudaError_t e, const char *what)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
		exit(1);
	}
}

static uint32_t lcg_state = 20240229u;
static uint32_t lcg()
{
	lcg_state = lcg_state * 1664525u + 1013904223u;
	return lcg_state >> 8;
}

// the model in logarithms, from the model in probabilities
__global__ void take_logs(const float *p, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = logf(p[i]);
}

// one block a sequence, one thread a state
__global__ void viterbi(const float *log_trans, const float *log_emit, const uint8_t *symbols, const int *length, uint8_t *back, float *best_score, int *best_state)
{
	__shared__ float trans[STATES * STATES];
	__shared__ float delta[2][STATES];
	__shared__ uint8_t obs[MAX_LEN];
	int seq = blockIdx.x, s = threadIdx.x;
	int len = length[seq];
	for (int i = s; i < STATES * STATES; i += STATES)
		trans[i] = log_trans[i];
	for (int i = s; i < len; i += STATES)
		obs[i] = symbols[seq * MAX_LEN + i];
	__syncthreads();
	delta[0][s] = __ldg(&log_emit[obs[0] * STATES + s]) - 4.158883f;
	__syncthreads();
	uint8_t *bp = back + (size_t)seq * MAX_LEN * STATES;
	for (int t = 1; t < len; t++) {
		const float *prev = delta[(t - 1) & 1];
		float best = -1e30f;
		int from = 0;
#pragma unroll 8
		for (int i = 0; i < STATES; i++) {
			float v = prev[i] + trans[i * STATES + s];
			if (v > best) {
				best = v;
				from = i;
			}
		}
		delta[t & 1][s] = best + __ldg(&log_emit[obs[t] * STATES + s]);
		bp[t * STATES + s] = (uint8_t)from;
		__syncthreads();
	}
	if (s == 0) {
		const float *last = delta[(len - 1) & 1];
		int arg = 0;
		for (int i = 1; i < STATES; i++)
			if (last[i] > last[arg])
				arg = i;
		best_score[seq] = last[arg];
		best_state[seq] = arg;
	}
}

__global__ void trace_back(const uint8_t *back, const int *length, const int *best_state, uint8_t *path, int sequences)
{
	int seq = blockIdx.x * blockDim.x + threadIdx.x;
	if (seq >= sequences)
		return;
	const uint8_t *bp = back + (size_t)seq * MAX_LEN * STATES;
	int state = best_state[seq];
	for (int t = length[seq] - 1; t > 0; t--) {
		path[seq * MAX_LEN + t] = (uint8_t)state;
		state = bp[t * STATES + state];
	}
	path[seq * MAX_LEN] = (uint8_t)state;
}

// one warp a sequence, two states a lane
__global__ void forward(const float *trans_p, const float *emit_p, const uint8_t *symbols, const int *length, float *log_likelihood, int sequences)
{
	__shared__ float2 trans[STATES][STATES / 2];
	for (int i = threadIdx.x; i < STATES * STATES / 2; i += blockDim.x)
		trans[i / 32][i % 32] = ((const float2 *)trans_p)[i];
	__syncthreads();
	int seq = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
	int lane = threadIdx.x & 31;
	if (seq >= sequences)
		return;
	const uint8_t *obs = symbols + seq * MAX_LEN;
	float2 e = ((const float2 *)emit_p)[obs[0] * 32 + lane];
	float a0 = e.x / STATES, a1 = e.y / STATES, ll = 0.f;
	for (int t = 1; t < length[seq]; t++) {
		float n0 = 0.f, n1 = 0.f;
		for (int i = 0; i < 32; i++) {
			float x = __shfl_sync(~0u, a0, i), y = __shfl_sync(~0u, a1, i);
			float2 p = trans[2 * i][lane], q = trans[2 * i + 1][lane];
			n0 += x * p.x + y * q.x;
			n1 += x * p.y + y * q.y;
		}
		e = ((const float2 *)emit_p)[obs[t] * 32 + lane];
		n0 *= e.x;
		n1 *= e.y;
		float sum = n0 + n1;
		for (int m = 16; m; m >>= 1)
			sum += __shfl_xor_sync(~0u, sum, m);
		a0 = n0 / sum;
		a1 = n1 / sum;
		ll += logf(sum);
	}
	if (lane == 0)
		log_likelihood[seq] = ll;
}

int main()
{
	const int sequences = 330;
	std::vector<float> trans(STATES * STATES), emit(SYMBOLS * STATES);
	for (int i = 0; i < STATES; i++) {
		float sum = 0;
		for (int j = 0; j < STATES; j++)
			sum += trans[i * STATES + j] = 1.0f + lcg() % 1000 + (i == j ? 8000 : 0);
		for (int j = 0; j < STATES; j++)
			trans[i * STATES + j] /= sum;
		sum = 0;
		for (int k = 0; k < SYMBOLS; k++)
			sum += emit[k * STATES + i] = 1.0f + lcg() % 500 + (k == i / 2 ? 6000 : 0);
		for (int k = 0; k < SYMBOLS; k++)
			emit[k * STATES + i] /= sum;
	}
	std::vector<uint8_t> symbols(sequences * MAX_LEN);
	std::vector<int> length(sequences);
	for (int s = 0; s < sequences; s++) {
		length[s] = 150 + lcg() % 250;
		int cur = lcg() % SYMBOLS;
		for (int t = 0; t < MAX_LEN; t++) {
			if (lcg() % 6 == 0)
				cur = lcg() % SYMBOLS;
			symbols[s * MAX_LEN + t] = (uint8_t)cur;
		}
	}
	float *d_trans, *d_emit, *d_ltrans, *d_lemit, *d_score, *d_ll;
	uint8_t *d_symbols, *d_back, *d_path;
	int *d_length, *d_state;
	size_t nt = trans.size() * 4, ne = emit.size() * 4, nb = (size_t)sequences * MAX_LEN * STATES;
	check(cudaMalloc(&d_trans, nt), "malloc");
	check(cudaMalloc(&d_ltrans, nt), "malloc");
	check(cudaMalloc(&d_emit, ne), "malloc");
	check(cudaMalloc(&d_lemit, ne), "malloc");
	check(cudaMalloc(&d_score, sequences * 4), "malloc");
	check(cudaMalloc(&d_ll, sequences * 4), "malloc");
	check(cudaMalloc(&d_symbols, symbols.size()), "malloc");
	check(cudaMalloc(&d_back, nb), "malloc");
	check(cudaMalloc(&d_path, symbols.size()), "malloc");
	check(cudaMalloc(&d_length, sequences * 4), "malloc");
	check(cudaMalloc(&d_state, sequences * 4), "malloc");
	check(cudaMemset(d_path, 0xff, symbols.size()), "memset");
	check(cudaMemcpy(d_trans, trans.data(), nt, cudaMemcpyHostToDevice), "copy");
	check(cudaMemcpy(d_emit, emit.data(), ne, cudaMemcpyHostToDevice), "copy");
	check(cudaMemcpy(d_symbols, symbols.data(), symbols.size(), cudaMemcpyHostToDevice), "copy");
	check(cudaMemcpy(d_length, length.data(), sequences * 4, cudaMemcpyHostToDevice), "copy");
	take_logs<<<STATES * STATES / 256, 256>>>(d_trans, d_ltrans, STATES * STATES);
	take_logs<<<SYMBOLS * STATES / 256, 256>>>(d_emit, d_lemit, SYMBOLS * STATES);
	viterbi<<<sequences, STATES>>>(d_ltrans, d_lemit, d_symbols, d_length, d_back, d_score, d_state);
	check(cudaGetLastError(), "viterbi");
	trace_back<<<(sequences + 63) / 64, 64>>>(d_back, d_length, d_state, d_path, sequences);
	forward<<<(sequences + 2) / 3, 96>>>(d_trans, d_emit, d_symbols, d_length, d_ll, sequences);
	check(cudaDeviceSynchronize(), "kernels");
	std::vector<uint8_t> path(symbols.size());
	std::vector<float> score(sequences), ll(sequences);
	check(cudaMemcpy(path.data(), d_path, path.size(), cudaMemcpyDeviceToHost), "copy");
	check(cudaMemcpy(score.data(), d_score, sequences * 4, cudaMemcpyDeviceToHost), "copy");
	check(cudaMemcpy(ll.data(), d_ll, sequences * 4, cudaMemcpyDeviceToHost), "copy");
	auto fnv = [](const void *p, size_t n) {
		unsigned long long h = 0xcbf29ce484222325ull;
		for (size_t i = 0; i < n; i++)
			h = (h ^ ((const uint8_t *)p)[i]) * 0x100000001b3ull;
		return h;
	};
	printf("paths %016llx\n", fnv(path.data(), path.size()));
	printf("scores %016llx likelihoods %016llx\n", fnv(score.data(), sequences * 4), fnv(ll.data(), sequences * 4));
	void *all[] = {d_trans, d_ltrans, d_emit, d_lemit, d_score, d_ll, d_symbols, d_back, d_path, d_length, d_state};
	for (void *p : all)
		check(cudaFree(p), "free");
	return 0;
}
