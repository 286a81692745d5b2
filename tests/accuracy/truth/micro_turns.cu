/*
 * micro_turns: how soon a block follows another in its place, and how far apart blocks and warps of an SM start.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_turns tests/accuracy/truth/micro_turns.cu
 *   micro_turns                prints bench,what,a,b,c,value
 *
 * Every warp notes its SM's clock in its first instruction, and before its last ones. Blocks take 2000 to 5000 cycles, each another time, so that
 * they do not end together (turns), or all the same (turns_together). a: warps of a block, b: KB of shared memory of a block, c: its registers of a thread.
 *   places          blocks that an SM has at once
 *   gap_10, gap, gap_90, gap_most  from the last warp's end of a block to the first warp's begin of the one that follows in its place: cycles,
 *                   of every tenth, the median, nine of ten, the most. The n-th block that ends on an SM makes place for the one that is its
 *                   (places + n)-th.
 *   warps           from the first warp's begin to the last one's, blocks that follow others; the median
 *   first_warps     the same of the blocks that are first on their SM
 *   starts          from one block's first begin to that of the next, of the first blocks of an SM; the mean
 * period: SMs with room for one block, and 132 x 16 or 132 x 48 of them: cycles from one to the next, of what events say. a: warps, b: instructions
 *   that depend on one another, c: registers. Nothing is noted there.
 */
#include "tests/accuracy/truth/micro.h"

enum { TURNS = 12, LAUNCHES = 4, MOST_WARPS = 64 };

struct stamp {
	long long begin, end;
	unsigned sm, block;
};

/* Makes the kernel take many registers, in a part that is never executed. */
template <int N> __device__ void take_registers(unsigned *area)
{
	unsigned v[N];
#pragma unroll
	for (int i = 0; i < N; i++)
		v[i] = ((volatile unsigned *)area)[i];
#pragma unroll
	for (int i = 0; i < N; i++)
		((volatile unsigned *)area)[N - 1 - i] = v[i] * v[(i * 7 + 1) % N];
}

template <int REGISTERS> __global__ void turns(stamp *found, unsigned least, unsigned more, unsigned never, unsigned *area)
{
	long long begin = cycles();
	unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, sm = sm_number();
	unsigned wanted = least + (more ? blockIdx.x * 2654435761u % more : 0);
	if (REGISTERS > 0 && least == never)
		take_registers<REGISTERS ? REGISTERS : 1>(area);
	stamp *mine = found + warp;
	while (cycles() - begin < wanted)
		;
	long long end = cycles();
	if (threadIdx.x % 32 == 0)
		*mine = {begin, end, sm, blockIdx.x};
}

template <int REGISTERS> __global__ void works(unsigned trips, unsigned never, unsigned *area)
{
	float v = 1.0f;
	for (unsigned i = 0; i < trips; i++)
#pragma unroll
		for (int k = 0; k < 32; k++)
			asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(v));
	if (REGISTERS > 0 && trips == never)
		take_registers<REGISTERS ? REGISTERS : 1>(area);
	if (v == 3.0f)
		area[0] = 1;
}

struct block {
	long long begin, end, last_begin;
	unsigned sm;
};

static std::vector<block> blocks_of(const std::vector<stamp> &stamps, int count, int warps)
{
	std::vector<block> blocks;
	for (int b = 0; b < count; b++) {
		const stamp *s = &stamps[(size_t)b * warps];
		block one = {s->begin, s->end, s->begin, s->sm};
		for (int w = 1; w < warps; w++) {
			one.begin = std::min(one.begin, s[w].begin);
			one.last_begin = std::max(one.last_begin, s[w].begin);
			one.end = std::max(one.end, s[w].end);
		}
		blocks.push_back(one);
	}
	return blocks;
}

struct found {
	std::vector<double> gaps, warps, first_warps, starts;
};

static double at(std::vector<double> v, double share)
{
	if (v.empty())
		return 0;
	std::sort(v.begin(), v.end());
	return v[std::min(v.size() - 1, (size_t)(share * v.size()))];
}

static double mean(const std::vector<double> &v)
{
	double sum = 0;
	for (double x : v)
		sum += x;
	return v.empty() ? 0 : sum / v.size();
}

static void add_sm(std::vector<block> of, int places, found &f)
{
	std::vector<long long> ends;
	std::sort(of.begin(), of.end(), [](const block &x, const block &y) { return x.begin < y.begin; });
	for (auto &b : of)
		ends.push_back(b.end);
	std::sort(ends.begin(), ends.end());
	for (size_t i = 0; i < of.size(); i++) {
		if (i < (size_t)places) {
			f.first_warps.push_back(of[i].last_begin - of[i].begin);
			if (i)
				f.starts.push_back(of[i].begin - of[i - 1].begin);
		} else {
			f.warps.push_back(of[i].last_begin - of[i].begin);
			f.gaps.push_back(of[i].begin - ends[i - places]);
		}
	}
}

template <int REGISTERS> void print_turns(stamp *device, unsigned *area, int warps, int shared_kb, bool together)
{
	auto kernel = turns<REGISTERS>;
	cudaFuncAttributes attributes;
	int places, shared = shared_kb * 1024;
	CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
	CHECK(cudaFuncGetAttributes(&attributes, kernel));
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&places, kernel, warps * 32, shared));
	int blocks = places * SMS * (places > 8 ? 4 : TURNS), registers = attributes.numRegs;
	found f;
	for (int r = 0; r < LAUNCHES; r++) {
		std::vector<stamp> read((size_t)blocks * warps);
		kernel<<<blocks, warps * 32, shared>>>(device, 2000, together ? 0 : 3000, 1u << 31, area);
		CHECK(cudaGetLastError());
		CHECK(cudaMemcpy(read.data(), device, read.size() * sizeof *device, cudaMemcpyDeviceToHost));
		auto all = blocks_of(read, blocks, warps);
		std::vector<std::vector<block>> sms(SMS);
		for (auto &b : all)
			sms[b.sm % SMS].push_back(b);
		for (auto &of : sms)
			if (r)
				add_sm(of, places, f);
	}
	const char *bench = together ? "turns_together" : "turns";
	row(bench, "places", warps, shared_kb, registers, places);
	row(bench, "gap_10", warps, shared_kb, registers, at(f.gaps, 0.1));
	row(bench, "gap", warps, shared_kb, registers, at(f.gaps, 0.5));
	row(bench, "gap_90", warps, shared_kb, registers, at(f.gaps, 0.9));
	row(bench, "gap_most", warps, shared_kb, registers, at(f.gaps, 1));
	row(bench, "warps", warps, shared_kb, registers, at(f.warps, 0.5));
	row(bench, "first_warps", warps, shared_kb, registers, at(f.first_warps, 0.5));
	row(bench, "starts", warps, shared_kb, registers, mean(f.starts));
}

template <int REGISTERS> double launch_us(unsigned *area, int warps, int turns, int trips)
{
	auto kernel = works<REGISTERS>;
	std::vector<float> ms;
	cudaEvent_t begin, end;
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
	for (int r = 0; r < 9; r++) {
		float took;
		spin<<<4 * SMS, 128>>>(area, 200000); /* what follows is queued by then */
		CHECK(cudaEventRecord(begin));
		for (int k = 0; k < 8; k++)
			kernel<<<SMS * turns, warps * 32, 200 * 1024>>>(trips, 1u << 31, area);
		CHECK(cudaEventRecord(end));
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaEventElapsedTime(&took, begin, end));
		ms.push_back(took / 8);
	}
	std::sort(ms.begin(), ms.end());
	return ms[ms.size() / 2] * 1e3;
}

template <int REGISTERS> void print_periods(unsigned *area)
{
	cudaFuncAttributes attributes;
	CHECK(cudaFuncGetAttributes(&attributes, works<REGISTERS>));
	for (int warps : {1, 2, 4, 8, 32})
		for (int trips : {0, 1, 4, 16})
			row("period", "cycles", warps, 32 * trips, attributes.numRegs,
			    (launch_us<REGISTERS>(area, warps, 48, trips) - launch_us<REGISTERS>(area, warps, 16, trips)) / 32 * 1980);
}

int main()
{
	stamp *device;
	unsigned *area;
	CHECK(cudaMalloc(&device, 64 << 20));
	CHECK(cudaMalloc(&area, 1 << 20));
	clocks_up(area, 400);
	printf("bench,what,a,b,c,value\n");
	for (bool together : {false, true})
		for (int warps : {1, 2, 4, 8, 32})
			for (int shared_kb : {0, 16, 50, 100, 200}) {
				print_turns<0>(device, area, warps, shared_kb, together);
				if (warps < 16)
					print_turns<160>(device, area, warps, shared_kb, together);
			}
	print_periods<0>(area);
	print_periods<160>(area);
	return 0;
}
