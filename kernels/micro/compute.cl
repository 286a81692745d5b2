/*
 * Chains of dependent operations: latency and initiation interval of the instruction classes, and what schedulers issue.
 *
 * How: a work-item does n times STEPS steps, each of which needs the result of the one before. The time of one warp alone is the
 *   latency of a step. Built with WIDE, a work-item has four chains; the time of many warps is then the initiation
 *   interval, and no warp is needed to fill the gaps of another, whatever order the schedulers prefer. The tuner takes the
 *   slope of time against n, so that launching cancels, and of that slope against STEPS, so that the loop cancels.
 * Against the compiler: operands are arguments; the result is compared with an argument that it does not meet, and stored if it
 *   did. Steps are written out, and the loop must not be unrolled further. Sums, products and logic of integers could be
 *   merged (x + a + a), so those take turns with logic, whose cost the tuner takes off; logic has shifts between. Conversions are
 *   of the bits of the last result, so that none undoes another.
 */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define R4(x) x x x x
#define R12(x) R4(x) R4(x) R4(x)
#define R16(x) R4(x) R4(x) R4(x) R4(x)
#define R48(x) R16(x) R16(x) R16(x)
#define REPEAT_(n) R##n
#define REPEAT(n) REPEAT_(n)

#ifdef WIDE
#define OF(name) name##4
#define ANY(x) any(x)
#else
#define OF(name) name
#define ANY(x) (x)
#endif

#define CHAIN(name, type, ...)                                                                                         \
	kernel void name(global uint *out, uint n, uint first, uint second, uint never)                                \
	{                                                                                                              \
		OF(type) a = (type)first, b = (type)second, c = (type)never, x = (type)get_local_id(0), y;             \
		_Pragma("unroll 1") for (uint i = 0; i < n; i++)                                                       \
		{                                                                                                      \
			REPEAT(STEPS)(__VA_ARGS__)                                                                     \
		}                                                                                                      \
		if (ANY(x == c))                                                                                       \
			out[get_global_id(0)] = first;                                                                 \
	}

CHAIN(logic, uint, x = (x >> b) ^ a;)               /* a shift and a logic operation */
CHAIN(int_add, uint, x = (x + a) ^ b;)              /* an addition and a logic operation */
CHAIN(int_sum, uint, y = x; x += a; a = y;)         /* an addition: of the last two sums, which cannot be merged */
CHAIN(int_sum3, uint, y = x; x += a + b; a = y;)    /* an addition of three, which units of multiplications cannot do */
CHAIN(int_mul, uint, x = (x * a) ^ b;)              /* a product and a logic operation */
CHAIN(int_square, uint, x = x * x;)
CHAIN(int_mad, uint, x = x * a + b;)
CHAIN(int_minmax, uint, x = max(min(x, a), b);)     /* two */
CHAIN(int_div, uint, x = a / (x ^ b);)              /* a division and a logic operation */
CHAIN(int_rem, uint, x = a % (x ^ b);)              /* a remainder and a logic operation */
CHAIN(fp32, float, x = x + a;)
CHAIN(fp32_fma, float, x = fma(x, a, b);)
CHAIN(fp32_minmax, float, x = fmax(fmin(x, a), b);) /* two */
CHAIN(fp32_div, float, x = a / x;)
CHAIN(sfu, float, x = native_sin(x);)               /* a special function and, in machine code, a multiplication */
CHAIN(conv, uint, x = OF(as_uint)(OF(convert_float)(x));) /* in PTX, also a move */
CHAIN(conv_back, uint, x = OF(convert_uint)(OF(as_float)(x));)
CHAIN(move, uint, x = x == a ? b : c;)              /* a comparison and a selection */
#ifdef cl_khr_fp64
CHAIN(fp64, double, x = x + a;)
CHAIN(fp64_fma, double, x = fma(x, a, b);)
CHAIN(fp64_minmax, double, x = fmax(fmin(x, a), b);) /* two */
CHAIN(fp64_div, double, x = a / x;)
#endif

/* Two chains beside each other, on units that can work at the same time: what the schedulers issue. Four instructions. */
kernel void issue(global uint *out, uint n, uint first, uint second, uint never)
{
	OF(float) a = (float)first, b = (float)second, x = (float)get_local_id(0);
	OF(uint) c = first, d = second, y = (uint)get_local_id(0);
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		REPEAT(STEPS)(x = fma(x, a, b); y = max(y, c); x = fma(x, a, b); y = min(y, d);)
	}
	if (ANY(x == (float)never) && ANY(y == never))
		out[get_global_id(0)] = first;
}

/*
 * Two ways through a branch, which a work-item takes by where it is in its group, `run` items at a time. A warp of lanes that go
 * both ways goes both ways one after the other: the shortest run that takes no longer than long ones is a warp.
 */
kernel void diverge(global uint *out, uint n, uint first, uint second, uint never, uint run)
{
	uint x = get_local_id(0);
	if (get_local_id(0) / run % 2) {
#pragma unroll 1
		for (uint i = 0; i < n; i++) {
			REPEAT(STEPS)(x = x * first + second;)
		}
	} else {
#pragma unroll 1
		for (uint i = 0; i < n; i++) {
			REPEAT(STEPS)(x = x * second + never;)
		}
	}
	if (x == never)
		out[get_global_id(0)] = first;
}

/* Barriers: a warp alone waits for nobody; the more warps, the more instructions. */
kernel void barriers(global uint *out, uint n, uint first, uint second, uint never)
{
	uint x = get_local_id(0);
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		REPEAT(STEPS)(barrier(CLK_LOCAL_MEM_FENCE);)
		x = x * first + second;
	}
	if (x == never)
		out[get_global_id(0)] = first;
}

/* Nothing: what a launch costs. */
kernel void nothing(global uint *out, uint never)
{
	if (get_global_id(0) == never)
		out[0] = never;
}
