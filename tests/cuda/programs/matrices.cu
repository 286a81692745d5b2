/* Tensor cores: products of matrices by wmma and mma, and matrices that ldmatrix, stmatrix and movmatrix spread over lanes. */
#include "tests/cuda/programs/program.h"

#define SIZE 64 /* rows and columns of square matrices */

#ifdef WITH_KERNELS
__device__ static unsigned shared_address(const void *p)
{
	unsigned address;
	asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(address) : "l"(p));
	return address;
}

/* A warp computes 16 by 16 sums. B is in rows, or in columns. */
#define WMMA(name, layout, at, order, place) \
extern "C" __global__ void name(const unsigned short *a, const unsigned short *b, float *c) \
{ \
	unsigned x[8], y[8]; \
	float s[8] = {0, 0, 0, 0, 0, 0, 0, 0}; \
	int row = (int)blockIdx.y * 16, column = (int)blockIdx.x * 16; \
	for (int k = 0; k < SIZE; k += 16) { \
		asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" \
		             : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]), "=r"(x[4]), "=r"(x[5]), "=r"(x[6]), "=r"(x[7]) \
		             : "l"(a + row * SIZE + k), "r"(SIZE)); \
		asm volatile("wmma.load.b.sync.aligned." layout ".m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" \
		             : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]), "=r"(y[4]), "=r"(y[5]), "=r"(y[6]), "=r"(y[7]) \
		             : "l"(b + (at)), "r"(SIZE)); \
		asm volatile("wmma.mma.sync.aligned.row." layout ".m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, " \
		             "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};" \
		             : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]), "+f"(s[7]) \
		             : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), "r"(y[0]), "r"(y[1]), \
		               "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7])); \
	} \
	asm volatile("wmma.store.d.sync.aligned." order ".m16n16k16.global.f32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7}, %9;" \
	             : : "f"(s[0]), "f"(s[1]), "f"(s[2]), "f"(s[3]), "f"(s[4]), "f"(s[5]), "f"(s[6]), "f"(s[7]), \
	             "l"(c + (place)), "r"(SIZE) : "memory"); \
}
WMMA(by_wmma, "row", k * SIZE + column, "row", row * SIZE + column)
WMMA(by_columns, "col", column * SIZE + k, "col", column * SIZE + row)

/* Two warps compute 32 by 16 sums, by shared memory. */
extern "C" __global__ void by_mma(const unsigned short *a, const unsigned short *b, float *c)
{
	__shared__ __attribute__((aligned(16))) unsigned short sa[32][24], sb[16][24];
	int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, row = (int)blockIdx.y * 32, column = (int)blockIdx.x * 16;
	float s[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
	for (int k = 0; k < SIZE; k += 16) {
		int i = (int)threadIdx.x;
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared_address(&sa[i / 2][i % 2 * 8])), "l"(a + (row + i / 2) * SIZE + k + i % 2 * 8));
		if (i < 32)
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared_address(&sb[i / 2][i % 2 * 8])), "l"(b + (k + i / 2) * SIZE + column + i % 2 * 8));
		asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" : : : "memory");
		__syncthreads();
		unsigned x[4], y[4];
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		             : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(shared_address(&sa[warp * 16 + lane % 16][lane / 16 * 8])));
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		             : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(shared_address(&sb[lane % 16][lane / 16 * 8])));
		for (int j = 0; j < 2; j++)
			asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
			             : "+f"(s[j][0]), "+f"(s[j][1]), "+f"(s[j][2]), "+f"(s[j][3])
			             : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * j]), "r"(y[2 * j + 1]));
		__syncthreads();
	}
	for (int j = 0; j < 2; j++)
		for (int i = 0; i < 4; i++)
			c[(row + warp * 16 + lane / 4 + i / 2 * 8) * SIZE + column + j * 8 + lane % 4 * 2 + i % 2] = s[j][i];
}

/* One warp: 16 by 8 sums of 32 products of bytes, A in rows, B in columns. */
extern "C" __global__ void by_bytes(const unsigned *a, const unsigned *b, int *c)
{
	int lane = (int)threadIdx.x, g = lane / 4, t = lane % 4;
	int s[4] = {1, 2, 3, 4};
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
	             : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
	             : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]), "r"(a[(g + 8) * 8 + t + 4]), "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]));
	for (int i = 0; i < 4; i++)
		c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = s[i];
}

/* One warp: 8 by 8 sums of 4 products of doubles. */
extern "C" __global__ void by_doubles(const double *a, const double *b, double *c)
{
	int lane = (int)threadIdx.x;
	double s[2] = {0.5, 0.25};
	asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
	             : "+d"(s[0]), "+d"(s[1]) : "d"(a[lane]), "d"(b[lane]));
	c[lane * 2] = s[0];
	c[lane * 2 + 1] = s[1];
}

/* A matrix of 8 by 8 goes through movmatrix and stmatrix.trans, and is as before. */
extern "C" __global__ void turned(const unsigned *in, unsigned *out)
{
	__shared__ __attribute__((aligned(16))) unsigned short m[8][8];
	unsigned x = in[threadIdx.x], y;
	asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
	asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" : : "r"(shared_address(m[threadIdx.x % 8])), "r"(y) : "memory");
	__syncthreads();
	out[threadIdx.x] = ((const unsigned *)m)[threadIdx.x];
	out[32 + threadIdx.x] = y;
}
#endif

#ifdef WITH_HOST
KERNEL(by_wmma)
KERNEL(by_columns)
KERNEL(by_mma)
KERNEL(by_bytes)
KERNEL(by_doubles)
KERNEL(turned)

static unsigned short a[SIZE * SIZE], b[SIZE * SIZE], turned_b[SIZE * SIZE];
static float expected[SIZE * SIZE], sums[SIZE * SIZE], other[SIZE * SIZE];

/* Small multiples of 1/8, which halves and sums of 64 products hold exactly. */
static int eighths(int i)
{
	return (i * 37 + i / 11) % 15 - 7;
}

static unsigned short half_of(int eighth)
{
	unsigned size = (unsigned)(eighth < 0 ? -eighth : eighth), e = 0;
	if (!size)
		return 0;
	while (size >> (e + 1))
		e++;
	return (unsigned short)((eighth < 0 ? 0x8000u : 0u) | (e + 12) << 10 | (size << (10 - e) & 1023));
}

static void fill(void)
{
	for (int i = 0; i < SIZE * SIZE; i++) {
		a[i] = half_of(eighths(i));
		b[i] = half_of(eighths(i + 5));
		turned_b[i % SIZE * SIZE + i / SIZE] = b[i];
	}
	for (int row = 0; row < SIZE; row++)
		for (int column = 0; column < SIZE; column++) {
			int sum = 0;
			for (int k = 0; k < SIZE; k++)
				sum += eighths(row * SIZE + k) * eighths(k * SIZE + column + 5);
			expected[row * SIZE + column] = (float)sum / 64;
		}
}

static size_t wrong_sums(const float *c)
{
	size_t wrong = 0;
	for (int i = 0; i < SIZE * SIZE; i++)
		wrong += c[i] != expected[i];
	return wrong;
}

static void products(void)
{
	void *da = device_new(a, sizeof a), *db = device_new(b, sizeof b), *dt = device_new(turned_b, sizeof turned_b), *dc = device_new(NULL, sizeof sums);
	LAUNCH(by_wmma, dims(SIZE / 16, SIZE / 16, 1), dims(32, 1, 1), 0, 0, &da, &db, &dc);
	fetch(sums, dc, sizeof sums);
	report("wmma, B in rows", wrong_sums(sums));
	LAUNCH(by_columns, dims(SIZE / 16, SIZE / 16, 1), dims(32, 1, 1), 0, 0, &da, &dt, &dc);
	fetch(sums, dc, sizeof sums);
	for (int i = 0; i < SIZE * SIZE; i++)
		other[i % SIZE * SIZE + i / SIZE] = sums[i];
	report("wmma, B and D in columns", wrong_sums(other));
	LAUNCH(by_mma, dims(SIZE / 16, SIZE / 32, 1), dims(64, 1, 1), 0, 0, &da, &db, &dc);
	fetch(sums, dc, sizeof sums);
	report("mma, ldmatrix and cp.async", wrong_sums(sums));
}

static void small_products(void)
{
	signed char x[16 * 32];
	unsigned char y[8 * 32];
	int c[16 * 8];
	size_t wrong = 0;
	double p[8 * 4], q[4 * 8], r[64];
	for (int i = 0; i < 512; i++)
		x[i] = (signed char)(i * 73);
	for (int i = 0; i < 256; i++)
		y[i] = (unsigned char)(i * 89 + 3);
	void *dx = device_new(x, sizeof x), *dy = device_new(y, sizeof y), *dc = device_new(NULL, sizeof c);
	LAUNCH(by_bytes, dims(1, 1, 1), dims(32, 1, 1), 0, 0, &dx, &dy, &dc);
	fetch(c, dc, sizeof c);
	for (int row = 0; row < 16; row++)
		for (int column = 0; column < 8; column++) {
			int sum = 1 + column % 2 + row / 8 * 2;
			for (int k = 0; k < 32; k++)
				sum += x[row * 32 + k] * y[column * 32 + k];
			wrong += sum != c[row * 8 + column];
		}
	report("mma of bytes", wrong);
	for (int i = 0; i < 32; i++) {
		p[i] = i * 0.5 - 3;
		q[i] = 7 - i * 0.25;
	}
	void *dp = device_new(p, sizeof p), *dq = device_new(q, sizeof q), *dr = device_new(NULL, sizeof r);
	LAUNCH(by_doubles, dims(1, 1, 1), dims(32, 1, 1), 0, 0, &dp, &dq, &dr);
	fetch(r, dr, sizeof r);
	wrong = 0;
	for (int row = 0; row < 8; row++)
		for (int column = 0; column < 8; column++) {
			double sum = column % 2 ? 0.25 : 0.5;
			for (int k = 0; k < 4; k++)
				sum += p[row * 4 + k] * q[column * 4 + k];
			wrong += sum != r[row * 8 + column];
		}
	report("mma of doubles", wrong);
}

static void transposes(void)
{
	unsigned short m[64];
	unsigned out[64];
	size_t wrong = 0;
	for (int i = 0; i < 64; i++)
		m[i] = (unsigned short)(i * 1021);
	void *from = device_new(m, sizeof m), *to = device_new(NULL, sizeof out);
	LAUNCH(turned, dims(1, 1, 1), dims(32, 1, 1), 0, 0, &from, &to);
	fetch(out, to, sizeof out);
	report("stmatrix.trans undoes movmatrix", memcmp(out, m, sizeof m) != 0);
	for (int lane = 0; lane < 32; lane++)
		wrong += out[32 + lane] != ((unsigned)m[lane % 4 * 2 * 8 + lane / 4] | (unsigned)m[(lane % 4 * 2 + 1) * 8 + lane / 4] << 16);
	report("movmatrix", wrong);
}

int main(void)
{
	begin();
	fill();
	products();
	small_products();
	transposes();
	return finish();
}
#endif
