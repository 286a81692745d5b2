/* Copies between two devices by the CUDA driver, run with GPUSIM_DEVICES=2. Ends with "PASS" or exit status 1. */
#include "tests/cuda/api/driver.h"

#include <string.h>

enum { BYTES = 1 << 16, INVALID_CONTEXT = 201, ALREADY_ENABLED = 704, NOT_ENABLED = 705 };
typedef int peer_copy(address, void *, address, void *, size_t);
typedef int peer_copy_async(address, void *, address, void *, size_t, void *);

static void access_is_per_direction(void *first, void *second)
{
	int can;
	GOOD(CU(cuDeviceCanAccessPeer, int *, int, int)(&can, 0, 1));
	EXPECT(can, 1);
	EXPECT(CU(cuCtxEnablePeerAccess, void *, unsigned)(second, 0), INVALID_CONTEXT); /* it is the current one */
	EXPECT(CU(cuCtxEnablePeerAccess, void *, unsigned)(&can, 0), INVALID_CONTEXT);
	GOOD(CU(cuCtxEnablePeerAccess, void *, unsigned)(first, 0));
	EXPECT(CU(cuCtxEnablePeerAccess, void *, unsigned)(first, 0), ALREADY_ENABLED);
	GOOD(CU(cuCtxDisablePeerAccess, void *)(first));
	EXPECT(CU(cuCtxDisablePeerAccess, void *)(first), NOT_ENABLED);
}

/* 16 rows of 64 bytes, of planes of 16 rows: the second half of the rows of 128 bytes in a, to the begin of b. */
static void boxes_have_contexts(address a, void *first, address b, void *second, const unsigned char *sent)
{
	struct copy3d box = {{.x = 64, .kind = 2, .device = a, .context = first, .pitch = 128, .height = 16},
	                     {.kind = 2, .device = b, .context = second, .pitch = 64, .height = 16}, 64, 16, 2};
	unsigned char rows[2 * 16 * 64];
	GOOD(CU(cuMemcpy3DPeer, const void *)(&box));
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(rows, b, sizeof rows));
	for (int row = 0; row < 32; row++)
		EXPECT(memcmp(rows + 64 * row, sent + 128 * row + 64, 64), 0);
	box.from.context = NULL;
	EXPECT(CU(cuMemcpy3DPeer, const void *)(&box), INVALID_CONTEXT);
	EXPECT(CU(cuMemcpy3DPeerAsync, const void *, void *)(&box, NULL), INVALID_CONTEXT);
}

int main(void)
{
	static unsigned char sent[BYTES], received[BYTES];
	void *first, *second, *stream;
	address a, b;
	open_driver();
	GOOD(CU(cuInit, unsigned)(0));
	GOOD(CU(cuCtxCreate_v2, void **, unsigned, int)(&first, 0, 0));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&a, BYTES));
	GOOD(CU(cuCtxCreate_v2, void **, unsigned, int)(&second, 0, 1));
	GOOD(CU(cuMemAlloc_v2, address *, size_t)(&b, BYTES));
	access_is_per_direction(first, second);
	for (int i = 0; i < BYTES; i++)
		sent[i] = (unsigned char)(i * 7);
	GOOD(CU(cuMemcpyHtoD_v2, address, const void *, size_t)(a, sent, BYTES));
	GOOD(((peer_copy *)function("cuMemcpyPeer"))(b, second, a, first, BYTES));
	EXPECT(((peer_copy *)function("cuMemcpyPeer"))(b, NULL, a, first, BYTES), INVALID_CONTEXT);
	GOOD(CU(cuMemsetD8_v2, address, unsigned char, size_t)(a, 0, BYTES));
	GOOD(CU(cuStreamCreate, void **, unsigned)(&stream, 0));
	GOOD(((peer_copy_async *)function("cuMemcpyPeerAsync"))(a, first, b, second, BYTES, stream));
	GOOD(CU(cuStreamSynchronize, void *)(stream));
	GOOD(CU(cuMemcpyDtoH_v2, void *, address, size_t)(received, a, BYTES));
	EXPECT(memcmp(sent, received, BYTES), 0);
	boxes_have_contexts(a, first, b, second, sent);
	return verdict();
}
