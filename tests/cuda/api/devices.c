/*
 * The device: properties in the layout of the version that the program is built for (CUDA_MAJOR), attributes, settings. It is run with
 * GPUSIM_GPU=h200; the values are those of its data sheet and of compute capability 9.0.
 */
#include "tests/cuda/api/api.h"

#include <stddef.h>

/* Offsets of some members, counted by hand in the order that CUDA documents. */
struct offsets {
	size_t name, memory, shared, registers, warp, threads, grid, clock, major, minor, sms, bus, l2, threads_per_sm, shared_per_sm, optin, end;
};
static const struct offsets known =
#if CUDA_MAJOR < 13
	{0, 288, 296, 304, 308, 320, 336, 348, 360, 364, 388, 612, 616, 624, 640, 696, 728};
#else
	{0, 288, 296, 304, 308, 320, 336, 0, 360, 364, 384, 592, 596, 604, 624, 672, 704};
#endif

static unsigned char p[2048];

static long long at(size_t offset, size_t bytes)
{
	long long value = 0;
	memcpy(&value, p + offset, bytes);
	return value;
}

static void test_properties(void)
{
	memset(p, 0xcc, sizeof p);
#if CUDA_MAJOR == 12
	EXPECT(cudaGetDeviceProperties_v2(p, 0), 0);
	EXPECT(cudaGetDeviceProperties_v2(p, 1), invalid_device);
#else
	EXPECT(cudaGetDeviceProperties(p, 0), 0);
	EXPECT(cudaGetDeviceProperties(p, -1), invalid_device);
#endif
	EXPECT_TEXT((char *)p + known.name, "NVIDIA H200");
	EXPECT(at(known.memory, 8) > 1 << 30, true);
	EXPECT(at(known.shared, 8), 48 * 1024);
	EXPECT(at(known.registers, 4), 65536);
	EXPECT(at(known.warp, 4), 32);
	EXPECT(at(known.threads, 4), 1024);
	EXPECT(at(known.grid, 4), 2147483647);
	EXPECT(at(known.grid + 4, 4), 65535);
	if (known.clock)
		EXPECT(at(known.clock, 4), 1958000);
	EXPECT(at(known.major, 4), 9);
	EXPECT(at(known.minor, 4), 0);
	EXPECT(at(known.sms, 4), 132);
	EXPECT(at(known.bus, 4), 6144);
	EXPECT(at(known.l2, 4), 60 << 20);
	EXPECT(at(known.threads_per_sm, 4), 2048);
	EXPECT(at(known.shared_per_sm, 8), 228 * 1024);
	EXPECT(at(known.optin, 8), 227 * 1024);
#if CUDA_MAJOR == 11
	EXPECT(p[known.end], 0xcc); /* nothing is written after it */
#endif
}

static void test_attributes(void)
{
	static const int expected[][2] = {{1, 1024}, {4, 64}, {8, 49152}, {10, 32}, {13, 1958000}, {16, 132}, {39, 2048}, {75, 9}, {76, 0}, {97, 232448}, {106, 32}};
	int value, clock, width;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		EXPECT(cudaDeviceGetAttribute(&value, expected[i][0], 0), 0);
		EXPECT(value, expected[i][1]);
	}
	EXPECT(cudaDeviceGetAttribute(&clock, 36, 0), 0);
	EXPECT(cudaDeviceGetAttribute(&width, 37, 0), 0);
	double gbps = 2.0 * clock * 1e3 * width / 8 / 1e9; /* as programs compute it */
	EXPECT(gbps > 4680.5 && gbps < 4681, true);
	EXPECT(cudaDeviceGetAttribute(&value, 0, 0), invalid_value);
	EXPECT(cudaDeviceGetAttribute(&value, 1, 1), invalid_device);
	EXPECT(cudaDeviceGetAttribute(NULL, 1, 0), invalid_value);
}

static void test_settings(void)
{
	int value;
	size_t limit;
	char bus[32];
	EXPECT(cudaGetDeviceCount(&value), 0);
	EXPECT(value, 1);
	EXPECT(cudaSetDevice(0), 0);
	EXPECT(cudaSetDevice(1), invalid_device);
	EXPECT(cudaGetDevice(&value), 0);
	EXPECT(value, 0);
	EXPECT(cudaDeviceSetLimit(2, 1 << 26), 0);
	EXPECT(cudaDeviceGetLimit(&limit, 2), 0);
	EXPECT(limit, 1 << 26);
	EXPECT(cudaDeviceGetLimit(&limit, 99), 215);
	EXPECT(cudaDeviceGetPCIBusId(bus, sizeof bus, 0), 0);
	EXPECT_TEXT(bus, "0000:01:00.0");
	EXPECT(cudaDeviceGetByPCIBusId(&value, bus), 0);
	EXPECT(value, 0);
	EXPECT(cudaDeviceGetByPCIBusId(&value, "0000:02:00.0"), invalid_device);
	EXPECT(cudaDeviceGetPCIBusId(bus, 4, 0), invalid_value);
	EXPECT(cudaDeviceCanAccessPeer(&value, 0, 0), 0);
	EXPECT(value, 0);
	EXPECT(cudaRuntimeGetVersion(&value), 0);
	EXPECT(value / 1000, CUDA_MAJOR);
	EXPECT(cudaDriverGetVersion(&value), 0);
	EXPECT(value >= 13000, true);
}

static void test_entry_points(void)
{
	void *f = NULL;
	int status = -1;
	EXPECT(cudaGetDriverEntryPoint("cuMemAlloc", &f, 0, &status), 0);
	EXPECT(status, 0);
	EXPECT(f != NULL, true);
	EXPECT(cudaGetDriverEntryPoint("cuNoSuchFunction", &f, 0, &status), 0);
	EXPECT(status, 1);
	EXPECT(f == NULL, true);
}

int main(void)
{
	test_properties();
	test_attributes();
	test_settings();
	test_entry_points();
	return verdict();
}
