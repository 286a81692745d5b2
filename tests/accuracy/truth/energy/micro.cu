/*
 * What instructions and memory accesses take of energy: each kernel runs for seconds on all SMs while NVML's counter is read.
 *   nvcc -O3 -arch=sm_90 -o micro micro.cu && ./micro OUT.csv [SECONDS]
 * A row for each: operations of warps (or bytes) per second, and watts. energy.py makes the keys of a description from them.
 */
#include <cuda_runtime.h>

#include "nvml.h"

#include "kernels.cuh"

#define CHECK(x)                                                                                                       \
	do {                                                                                                           \
		cudaError_t e_ = (x);                                                                                  \
		if (e_) {                                                                                              \
			fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e_));                                       \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

static unsigned *buffer; /* random words, then as many bytes of zeros */
static const size_t buffer_bytes = (size_t)4 << 30;
static int sms;

enum kind { IDLE, NOTHING, SLEEP, SPIN, FMA, FMA_ACC, FP64, FP64_ACC, IMAD, ALU, SHF, XU, XU_QUIET, TENSOR, SHARED, L1, L1_WIDE, BRANCH, STREAM, WRITE, RANDOM };
struct bench {
	const char *name;
	enum kind kind;
	double per_trip; /* operations of a warp; of STREAM and WRITE: bytes of all */
	int blocks_per_sm, threads, option, only_sms; /* option: quiet, lanes, or bits of RANDOM */
};
static const struct bench benches[] = {
	{"spin_low", SPIN, 1, 1, 32}, {"idle_after", IDLE}, {"sleep_full", SLEEP, 1, 4, 512}, {"nothing", NOTHING, 1, 1, 32},
	{"fma", FMA, 64, 4, 512, 32}, {"fma_8_lanes", FMA, 64, 4, 512, 8}, {"fma_acc", FMA_ACC, 64, 4, 512}, {"fma_acc_quiet", FMA_ACC, 64, 4, 512, 1},
	{"imad", IMAD, 64, 4, 512}, {"imad_quiet", IMAD, 64, 4, 512, 1}, {"alu", ALU, 64, 4, 512}, {"alu_quiet", ALU, 64, 4, 512, 1},
	{"shf", SHF, 64, 4, 512}, {"shf_quiet", SHF, 64, 4, 512, 1}, {"xu", XU, 64, 4, 512}, {"xu_quiet", XU_QUIET, 64, 4, 512},
	{"fp64", FP64, 64, 4, 512}, {"fp64_acc", FP64_ACC, 64, 4, 512}, {"fp64_acc_quiet", FP64_ACC, 64, 4, 512, 1},
	{"tensor", TENSOR, 16, 4, 256}, {"tensor_quiet", TENSOR, 16, 4, 256, 1}, {"shared", SHARED, 16, 2, 1024}, {"shared_quiet", SHARED, 16, 2, 1024, 1},
	{"l1", L1, 16, 2, 1024}, {"l1_quiet", L1, 16, 2, 1024, 1}, {"l1_wide", L1_WIDE, 8, 2, 1024}, {"l1_wide_quiet", L1_WIDE, 8, 2, 1024, 1},
	{"branch", BRANCH, 8, 4, 512}, {"l2_8mb", STREAM, 8 << 20, 2, 1024}, {"l2_8mb_quiet", STREAM, 8 << 20, 2, 1024, 1}, {"l2_24mb", STREAM, 24 << 20, 2, 1024},
	{"random_16mb", RANDOM, 8 * 1024, 2, 1024, 19}, {"random_4gb", RANDOM, 8 * 1024, 2, 1024, 27},
	{"stream", STREAM, 4294967296.0, 2, 1024}, {"stream_quiet", STREAM, 4294967296.0, 2, 1024, 1},
	{"write_quiet", WRITE, 4294967296.0, 2, 1024, 1}, {"write", WRITE, 4294967296.0, 2, 1024}, {"l2_write_16mb", WRITE, 16 << 20, 2, 1024}, {"idle_end", IDLE},
};

static void start(const struct bench *b, long trips)
{
	dim3 g((b->only_sms ? b->only_sms : sms) * b->blocks_per_sm), t(b->threads);
	const unsigned *words = buffer + (b->option == 1 ? buffer_bytes / 4 : 0);
	size_t vectors = (size_t)b->per_trip / 16;
	switch (b->kind) {
	case IDLE: break;
	case NOTHING:
		for (long i = 0; i < trips; i++)
			k_nothing<<<g, t>>>();
		break;
	case SLEEP: k_sleep<<<g, t>>>(buffer, trips); break;
	case SPIN: k_spin<<<g, t>>>(buffer, trips); break;
	case FMA: k_fma<<<g, t>>>(buffer, trips, b->option); break;
	case FMA_ACC: k_fma_acc<<<g, t>>>(buffer, trips, b->option); break;
	case FP64: k_fp64<<<g, t>>>(buffer, trips); break;
	case FP64_ACC: k_fp64_acc<<<g, t>>>(buffer, trips, b->option); break;
	case IMAD: k_imad<<<g, t>>>(buffer, trips, b->option ? 1 : 1664525u, b->option ? 0 : 1013904223u); break;
	case ALU: k_alu<<<g, t>>>(buffer, trips, b->option); break;
	case SHF: k_shf<<<g, t>>>(buffer, trips, b->option); break;
	case XU: k_xu<<<g, t>>>(buffer, trips); break;
	case XU_QUIET: k_xu_quiet<<<g, t>>>(buffer, trips); break;
	case TENSOR: k_tensor<<<g, t>>>(buffer, trips, b->option); break;
	case SHARED: k_shared<<<g, t>>>(buffer, trips, b->option); break;
	case L1: k_l1<<<g, t>>>(words, trips, buffer); break;
	case L1_WIDE: k_l1_wide<<<g, t>>>((const uint4 *)words, trips, buffer); break;
	case BRANCH: k_branch<<<g, t>>>(buffer, trips); break;
	case STREAM: k_stream<<<g, t>>>((const uint4 *)words, vectors, trips, buffer); break;
	case WRITE: k_write<<<g, t>>>((uint4 *)(buffer + buffer_bytes / 4), vectors, trips, b->option); break;
	case RANDOM: k_random<<<g, t>>>((const uint4 *)buffer, b->option, trips, buffer); break;
	}
	CHECK(cudaGetLastError());
}

static double timed(const struct bench *b, long trips)
{
	CHECK(cudaDeviceSynchronize());
	double t = now_s();
	start(b, trips);
	CHECK(cudaDeviceSynchronize());
	return now_s() - t;
}

static void run(const struct bench *b, FILE *out, double seconds)
{
	double from, to, period = 0, warps = (double)(b->only_sms ? b->only_sms : sms) * b->blocks_per_sm * b->threads / 32;
	long trips = b->kind == STREAM || b->kind == WRITE ? 1 : 100, launches = 0;
	if (b->kind == IDLE) {
		usleep(300000);
		from = now_s();
		usleep(seconds * 1e6);
		to = now_s();
	} else {
		int tries = 0;
		for (double t = timed(b, trips); (t = timed(b, trips)) < 0.03 && tries++ < 20; )
			trips *= t < 0.003 ? 8 : 2;
		if (tries >= 20) {
			fprintf(stderr, "%s: takes no time\n", b->name);
			return;
		}
		start(b, trips); start(b, trips); start(b, trips); start(b, trips);
		double begin = now_s();
		cudaEvent_t done[4];
		for (int i = 0; i < 4; i++) { cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming); cudaEventRecord(done[i]); }
		from = begin + 0.4;
		cudaEvent_t e0, e1; cudaEventCreate(&e0); cudaEventCreate(&e1);
		cudaEventRecord(e0);
		do {
			cudaEvent_t e = done[launches % 4];
			CHECK(cudaEventSynchronize(e));
			start(b, trips);
			cudaEventRecord(e);
			launches++;
		} while (now_s() < begin + seconds);
		to = now_s();
		cudaEventRecord(e1);
		CHECK(cudaDeviceSynchronize());
		float ms = 0; cudaEventElapsedTime(&ms, e0, e1);
		period = ms * 1e-3 / launches;
		for (int i = 0; i < 4; i++) cudaEventDestroy(done[i]);
	}
	double rate = period > 0 ? warps * trips * b->per_trip / period : 0;
	if (b->kind == STREAM || b->kind == WRITE)
		rate = b->per_trip * trips / period; /* bytes */
	if (b->kind == NOTHING)
		rate = trips / period; /* launches */
	fprintf(out, "%s,%.6g,%.6g,%ld,%ld,%.6g,", b->name, rate, period, trips, launches, warps);
	nvml_report(out, from, to);
	fputc('\n', out);
	fflush(out);
}

int main(int argc, char **argv)
{
	FILE *out = argc > 1 ? fopen(argv[1], "w") : stdout;
	double seconds = argc > 2 ? atof(argv[2]) : 2;
	if (!out || nvml_start())
		return 1;
	fprintf(out, "name,per_second,period_s,trips,launches,warps,%s\n", NVML_COLUMNS);
	struct bench cold = {"idle_cold", IDLE};
	run(&cold, out, 1);
	CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	CHECK(cudaMalloc(&buffer, 2 * buffer_bytes));
	CHECK(cudaMemset(buffer, 0, 2 * buffer_bytes));
	k_fill<<<sms * 8, 256>>>(buffer, buffer_bytes / 4);
	CHECK(cudaDeviceSynchronize());
	for (unsigned i = 0; i < sizeof benches / sizeof benches[0]; i++)
		run(&benches[i], out, seconds);
	fclose(out);
	return 0;
}
