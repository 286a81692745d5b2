/* clblast - a small single-precision matrix product by CLBlast, checked against a plain loop. */
#include "tests/guest/guest.h"

#include <clblast_c.h>
#include <math.h>

enum { M = 48, N = 40, K = 32 };

int main(void)
{
	static float a[M * K], b[K * N], c[M * N];
	struct guest g;
	cl_event event = NULL;

	for (int i = 0; i < M * K; i++)
		a[i] = (float)(i % 13);
	for (int i = 0; i < K * N; i++)
		b[i] = (float)(i % 7) - 3.0f;
	for (int i = 0; i < M * N; i++)
		c[i] = 1.0f;
	guest_open(&g);
	cl_mem ma = guest_buffer(&g, sizeof a, a), mb = guest_buffer(&g, sizeof b, b), mc = guest_buffer(&g, sizeof c, c);
	CLBlastStatusCode status = CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, M, N, K,
	                                        2.0f, ma, 0, K, mb, 0, N, 0.5f, mc, 0, N, &g.queue, &event);
	EXPECT(status == CLBlastSuccess, "CLBlastSgemm gave %d", status);
	OK(clWaitForEvents(1, &event));
	OK(clReleaseEvent(event));
	guest_read(&g, mc, c, sizeof c);
	for (int i = 0; i < M * N; i++) {
		float want = 0.5f;
		for (int k = 0; k < K; k++)
			want += 2.0f * a[i / N * K + k] * b[k * N + i % N];
		EXPECT(fabsf(c[i] - want) < 1e-3f, "element %d is %f, not %f", i, (double)c[i], (double)want);
	}
	printf("sgemm of %d x %d x %d: %08x\n", M, N, K, guest_sum(c, sizeof c));
	OK(clReleaseMemObject(ma));
	OK(clReleaseMemObject(mb));
	OK(clReleaseMemObject(mc));
	CLBlastClearCache();
	guest_close(&g);
	return 0;
}
