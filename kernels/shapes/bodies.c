/* All pairs of bodies: n of them are pulled by `length`, which may be more. */
#include "kernels/shapes/shapes.h"

#include <math.h>

enum { LOCAL = 128 };

static void pull(const float *on, const float *by, float *sum)
{
	float dx = by[0] - on[0], dy = by[1] - on[1], dz = by[2] - on[2];
	float inverse = 1.0f / sqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f))));
	float force = by[3] * inverse * inverse * inverse;
	sum[0] = fmaf(dx, force, sum[0]);
	sum[1] = fmaf(dy, force, sum[1]);
	sum[2] = fmaf(dz, force, sum[2]);
}

static void bodies(struct shape_size s, const char *name, bool tiled)
{
	size_t count = (size_t)(s.n > s.length ? s.n : s.length);
	float *body = random_floats(count * 4), *expected = NULL;
	cl_mem all = buffer(count * 16, body), force = buffer((size_t)s.n * 16, NULL);
	cl_kernel k = shape_kernel("bodies.cl", name);
	if (tiled)
		args(k, "mmli", all, force, LOCAL * 16, s.length);
	else
		args(k, "mmi", all, force, s.length);
	launch(k, (size_t)s.n, 1, LOCAL, 1);
	if (checking) {
		expected = allocate((size_t)s.n * 4, sizeof *expected);
		for (int i = 0; i < s.n; i++)
			for (int j = 0; j < s.length; j++)
				pull(body + 4 * (size_t)i, body + 4 * (size_t)j, expected + 4 * (size_t)i);
	}
	conclude(force, (size_t)s.n * 16, expected);
}

void run_nbody(struct shape_size s)
{
	bodies(s, "bodies_plain", false);
}

/* Whole tiles only. */
void run_nbody_tiled(struct shape_size s)
{
	s.length = (s.length + LOCAL - 1) / LOCAL * LOCAL;
	bodies(s, "bodies_tiled", true);
}
