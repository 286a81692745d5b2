/* Several devices, run with GPUSIM_DEVICES=3: which is current, streams of them, copies between them. */
#include "tests/cuda/api/api.h"

#define PEER(name, ...) extern int name(__VA_ARGS__)
PEER(cudaDeviceEnablePeerAccess, int, unsigned);
PEER(cudaDeviceDisablePeerAccess, int);
PEER(cudaMemcpyPeer, void *, int, const void *, int, size_t);
PEER(cudaMemcpyPeerAsync, void *, int, const void *, int, size_t, void *);

enum { COUNT = 3, BYTES = 1 << 20, already_enabled = 704, not_enabled = 705, peer_unsupported = 217 };

static unsigned char host[BYTES];

static void test_current(void)
{
	int value, bus;
	char text[32];
	EXPECT(cudaGetDeviceCount(&value), 0);
	EXPECT(value, COUNT);
	for (int d = COUNT - 1; d >= 0; d--) {
		EXPECT(cudaSetDevice(d), 0);
		EXPECT(cudaGetDevice(&value), 0);
		EXPECT(value, d);
		EXPECT(cudaDeviceGetAttribute(&value, 16, d), 0);
		EXPECT(value, 132);
		EXPECT(cudaDeviceGetPCIBusId(text, sizeof text, d), 0);
		EXPECT(cudaDeviceGetByPCIBusId(&bus, text), 0);
		EXPECT(bus, d);
	}
	EXPECT(cudaSetDevice(COUNT), invalid_device);
	EXPECT(cudaSetDevice(-1), invalid_device);
	EXPECT(cudaGetDevice(&value), 0);
	EXPECT(value, 0);
}

static void test_peers(void)
{
	int can;
	EXPECT(cudaDeviceCanAccessPeer(&can, 0, 2), 0);
	EXPECT(can, 1);
	EXPECT(cudaDeviceCanAccessPeer(&can, 1, 1), 0);
	EXPECT(can, 0);
	EXPECT(cudaDeviceEnablePeerAccess(0, 0), peer_unsupported); /* device 0 is the current one; as an H200 answers */
	EXPECT(cudaDeviceEnablePeerAccess(COUNT, 0), invalid_device);
	EXPECT(cudaDeviceEnablePeerAccess(1, 0), 0);
	EXPECT(cudaDeviceEnablePeerAccess(1, 0), already_enabled);
	EXPECT(cudaDeviceDisablePeerAccess(1), 0);
	EXPECT(cudaDeviceDisablePeerAccess(1), not_enabled);
}

static void test_copies(void)
{
	void *a, *b;
	cudaStream_t stream;
	EXPECT(cudaMalloc(&a, BYTES), 0);
	EXPECT(cudaSetDevice(2), 0);
	EXPECT(cudaMalloc(&b, BYTES), 0);
	EXPECT(cudaStreamCreate(&stream), 0);
	for (int i = 0; i < BYTES; i++)
		host[i] = (unsigned char)(i * 7);
	EXPECT(cudaMemcpy(a, host, BYTES, 1), 0);
	EXPECT(cudaMemcpyPeer(b, 2, a, 0, BYTES), 0);
	EXPECT(cudaMemcpyPeer(b, COUNT, a, 0, BYTES), invalid_device);
	EXPECT(cudaMemset(a, 0, BYTES), 0);
	EXPECT(cudaMemcpyPeerAsync(a, 0, b, 2, BYTES, stream), 0);
	EXPECT(cudaStreamSynchronize(stream), 0);
	memset(host, 0, BYTES);
	EXPECT(cudaMemcpy(host, a, BYTES, 2), 0);
	for (int i = 0; i < BYTES; i++)
		if (host[i] != (unsigned char)(i * 7)) {
			EXPECT(host[i], (unsigned char)(i * 7));
			break;
		}
	/* By addresses: from one to the other, and within one. */
	EXPECT(cudaMemcpy(a, b, BYTES, 3), 0);
	EXPECT(cudaMemcpyAsync(b, a, BYTES, 4, stream), 0);
	EXPECT(cudaMemcpy(b, (char *)b + BYTES / 2, BYTES / 2, 4), 0);
	EXPECT(cudaStreamDestroy(stream), 0);
	EXPECT(cudaDeviceSynchronize(), 0);
}

int main(void)
{
	test_current();
	test_peers();
	test_copies();
	return verdict();
}
