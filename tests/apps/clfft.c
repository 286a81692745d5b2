/* clfft - a complex transform and its inverse by clFFT, in one and in two dimensions. */
#include "tests/guest/guest.h"

#include <clFFT.h>
#include <math.h>

static struct guest g;

static void transform(const char *name, clfftDim dims, size_t x, size_t y)
{
	size_t lengths[2] = {x, y}, count = x * y, bytes = count * 2 * sizeof(float);
	float *in = malloc(bytes), *out = malloc(bytes);
	clfftPlanHandle plan;

	for (size_t i = 0; i < count * 2; i++)
		in[i] = (float)(i * 7 % 11) - 5.0f;
	cl_mem mem = guest_buffer(&g, bytes, in);
	OK(clfftCreateDefaultPlan(&plan, g.context, dims, lengths));
	OK(clfftSetPlanPrecision(plan, CLFFT_SINGLE));
	OK(clfftSetLayout(plan, CLFFT_COMPLEX_INTERLEAVED, CLFFT_COMPLEX_INTERLEAVED));
	OK(clfftSetResultLocation(plan, CLFFT_INPLACE));
	OK(clfftBakePlan(plan, 1, &g.queue, NULL, NULL));
	OK(clfftEnqueueTransform(plan, CLFFT_FORWARD, 1, &g.queue, 0, NULL, NULL, &mem, NULL, NULL));
	guest_read(&g, mem, out, bytes);
	printf("%s: %08x", name, guest_sum(out, bytes));
	OK(clfftEnqueueTransform(plan, CLFFT_BACKWARD, 1, &g.queue, 0, NULL, NULL, &mem, NULL, NULL));
	guest_read(&g, mem, out, bytes);
	printf(", back: %08x\n", guest_sum(out, bytes));
	for (size_t i = 0; i < count * 2; i++)
		EXPECT(fabsf(out[i] - in[i]) < 1e-4f, "%s: element %zu is %f, not %f", name, i, (double)out[i], (double)in[i]);
	OK(clfftDestroyPlan(&plan));
	OK(clReleaseMemObject(mem));
	free(in);
	free(out);
}

int main(void)
{
	clfftSetupData setup;

	guest_open(&g);
	OK(clfftInitSetupData(&setup));
	OK(clfftSetup(&setup));
	transform("1D", CLFFT_1D, 64, 1);
	transform("2D", CLFFT_2D, 16, 16);
	OK(clfftTeardown());
	guest_close(&g);
	return 0;
}
