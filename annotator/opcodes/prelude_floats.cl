/*
 * Floating point that C does not have: other roundings, f16 and bf16, and the rules of PTX for minima and conversions.
 *
 * A value that is not exact is first rounded to odd, in a format with more bits: its last bit is set if anything was lost. What is rounded
 * from there is rounded right.
 */
#define GS_RN 0
#define GS_RZ 1
#define GS_RM 2
#define GS_RP 3
#define GS_RNA 4
#define GS_ODD 5

/* Makes s odd, if s + e is the exact value and e is not 0. */
GS_INLINE double gs_odd(double s, double e)
{
	ulong u = as_ulong(s), inexact = (e > 0) | (e < 0);
	return as_double(inexact & ~u & 1ul ? ((e > 0) == (s > 0) ? u + 1 : u - 1) : u);
}

/* a + b, rounded to odd. Of an exact zero, the mode decides the sign. */
GS_INLINE double gs_sum_odd(double a, double b, int mode)
{
	double s = a + b, big = fabs(a) >= fabs(b) ? a : b, small = fabs(a) >= fabs(b) ? b : a;
	double odd = gs_odd(s, small - (s - big));
	return mode == GS_RM && s == 0 && (as_ulong(a) | as_ulong(b)) >> 63 ? -0.0 : odd;
}

GS_INLINE float gs_f32_of_f64(double d, int mode)
{
	float r = (float)d;
	double back = fabs((double)r), size = fabs(d);
	uint u = as_uint(r), inexact = (back < size) | (back > size), low = u - (back > size), negative = u >> 31;
	uint up = mode == GS_RM ? negative : mode == GS_RP ? negative ^ 1u : 0;
	return mode == GS_RN ? r : as_float(mode == GS_ODD ? low | inexact : low + (up & inexact));
}

GS_INLINE float gs_add_f32(float a, float b, int mode) { return gs_f32_of_f64(gs_sum_odd(a, b, mode), mode); }
GS_INLINE float gs_mul_f32(float a, float b, int mode) { return gs_f32_of_f64((double)a * (double)b, mode); }
GS_INLINE float gs_fma_f32(float a, float b, float c, int mode) { return gs_f32_of_f64(gs_sum_odd((double)a * (double)b, c, mode), mode); }
GS_INLINE float gs_div_f32(float a, float b, int mode)
{
	double q = (double)a / (double)b, rest = fma(-q, (double)b, (double)a);
	return gs_f32_of_f64(gs_odd(q, b < 0 ? -rest : rest), mode);
}
GS_INLINE float gs_sqrt_f32(float a, int mode) { double q = sqrt((double)a); return gs_f32_of_f64(gs_odd(q, fma(-q, q, (double)a)), mode); }

/* m * 2^e, where the top bit of m is set, as a double. */
GS_INLINE double gs_pack_f64(ulong negative, int e, ulong m, int mode)
{
	int biased = e + 63 + 1023, shift = biased >= 1 ? 11 : 12 - biased;
	ulong q = shift > 63 ? 0 : m >> (shift & 63), rest = shift > 64 ? 1 : shift == 64 ? m : m << (64 - shift & 63), middle = 1ul << 63;
	ulong up = mode == GS_RN ? rest > middle || (rest == middle && q & 1) : mode == GS_RM ? negative && rest : mode == GS_RP ? !negative && rest : 0;
	ulong away = mode == GS_RN || (mode == GS_RM && negative) || (mode == GS_RP && !negative);
	ulong bits = (biased >= 1 ? (ulong)(biased - 1) << 52 : 0) + q + up;
	if (mode == GS_ODD)
		bits |= rest != 0;
	if (biased > 2046 || bits >= 0x7ff0000000000000ul)
		bits = away ? 0x7ff0000000000000ul : 0x7feffffffffffffful;
	return as_double(bits | negative << 63);
}

/* The significand of a finite number that is not 0, its top bit set, and its exponent: x = m * 2^e. */
GS_INLINE ulong gs_significand(double x, int *e)
{
	ulong m = as_ulong(x) & 0xffffffffffffful;
	int biased = (int)(as_ulong(x) >> 52 & 0x7ff), gap;
	m |= biased ? 1ul << 52 : 0;
	gap = (int)clz(m);
	*e = (biased ? biased : 1) - 1075 - gap;
	return m << gap;
}

static __attribute__((noinline)) double gs_fma_f64(double a, double b, double c, int mode)
{
	ulong sp = (as_ulong(a) ^ as_ulong(b)) >> 63, sc = as_ulong(c) >> 63, hi, lo, chi, clo = 0, negative;
	int ea, eb, ec, e;
	if (!isfinite(a) || !isfinite(b) || !isfinite(c))
		return fma(a, b, c);
	if (a == 0 || b == 0)
		return c != 0 ? c : sp == sc ? c : mode == GS_RM ? -0.0 : 0.0;
	ulong ma = gs_significand(a, &ea) >> 1, mb = gs_significand(b, &eb) >> 1;
	hi = mul_hi(ma, mb);
	lo = ma * mb;
	e = ea + eb + 2; /* the product's top bit is 124 or 125 of 128 */
	if (c != 0) {
		chi = gs_significand(c, &ec) >> 2;
		ec = ec + 2 - 64; /* its top bit is 125 */
		if (ec > e) {
			int n = ec - e;
			ulong lost = n > 127 ? hi | lo : n > 63 ? lo | (n > 64 ? hi << (128 - n) : 0) : lo << (64 - n);
			lo = (n > 127 ? 0 : n > 63 ? hi >> (n - 64) : lo >> n | hi << (64 - n)) | (lost != 0);
			hi = n > 63 ? 0 : hi >> n;
			e = ec;
		} else if (ec < e) {
			int n = e - ec;
			ulong lost = n > 127 ? chi : n > 64 ? chi << (128 - n) : 0;
			clo = (n > 127 ? 0 : n > 63 ? chi >> (n - 64) : chi << (64 - n)) | (lost != 0);
			chi = n > 63 ? 0 : chi >> n;
		}
		if (sp == sc) {
			lo += clo;
			hi += chi + (lo < clo);
			negative = sp;
		} else if (hi > chi || (hi == chi && lo >= clo)) {
			hi -= chi + (lo < clo);
			lo -= clo;
			negative = sp;
		} else {
			hi = chi - hi - (clo < lo);
			lo = clo - lo;
			negative = sc;
		}
		if (!hi && !lo)
			return mode == GS_RM ? -0.0 : 0.0;
	} else {
		negative = sp;
	}
	if (!hi) {
		hi = lo;
		lo = 0;
		e -= 64;
	}
	int gap = (int)clz(hi);
	hi = gap ? hi << gap | lo >> (64 - gap) : hi;
	lo <<= gap;
	return gs_pack_f64(negative, e - gap + 64, hi | (lo != 0), mode);
}
GS_INLINE double gs_add_f64(double a, double b, int mode) { return gs_fma_f64(a, 1.0, b, mode); }
GS_INLINE double gs_mul_f64(double a, double b, int mode)
{
	return a == 0 || b == 0 ? a * b : gs_fma_f64(a, b, as_double((as_ulong(a) ^ as_ulong(b)) & 1ul << 63), mode);
}

/* A significand of q in (1/2, 4), of which the rest's sign says where the exact value is, times 2^e. */
GS_INLINE double gs_pack_quotient(ulong negative, double q, double rest, int e, int mode)
{
	int eq;
	ulong m = gs_significand(q, &eq);
	m = rest > 0 ? m | 1 : rest < 0 ? m - 1 : m;
	int gap = (int)clz(m);
	return gs_pack_f64(negative, e + eq - gap, m << gap, mode);
}
static __attribute__((noinline)) double gs_div_f64(double a, double b, int mode)
{
	int ea, eb;
	if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0)
		return a / b;
	ulong ma = gs_significand(a, &ea), mb = gs_significand(b, &eb);
	double x = (double)(ma >> 11), y = (double)(mb >> 11), q = x / y;
	return gs_pack_quotient((as_ulong(a) ^ as_ulong(b)) >> 63, q, fma(-q, y, x), ea - eb, mode);
}
static __attribute__((noinline)) double gs_sqrt_f64(double a, int mode)
{
	int e;
	if (!isfinite(a) || a <= 0)
		return sqrt(a);
	ulong m = gs_significand(a, &e) >> 11;
	e += 11;
	double x = (double)(e & 1 ? m * 2 : m), q = sqrt(x);
	return gs_pack_quotient(0, q, fma(-q, q, x), (e & 1 ? e - 1 : e) / 2, mode);
}

GS_INLINE double gs_f64_of_u64(ulong a, int mode) { int gap = (int)clz(a); return a == 0 ? 0.0 : gs_pack_f64(0, -gap, a << (gap & 63), mode); }
GS_INLINE double gs_f64_of_s64(long a, int mode)
{
	ulong size = a < 0 ? 0 - (ulong)a : (ulong)a;
	int gap = (int)clz(size);
	return a == 0 ? 0.0 : gs_pack_f64(a < 0, -gap, size << (gap & 63), mode);
}

/* f16 and bf16 */
GS_INLINE float gs_f32_of_f16(ushort h)
{
	uint x = (uint)(h & 0x7fff) << 13;
	uint u = (h & 0x7c00) == 0x7c00 ? x | 0x7f800000u : as_uint(as_float(x) * 0x1p112f);
	return as_float(u | (uint)(h & 0x8000) << 16);
}
GS_INLINE uint gs_round(uint q, uint rest, uint middle, uint negative, int mode)
{
	uint up = mode == GS_RN ? rest > middle || (rest == middle && q & 1u) : mode == GS_RNA ? rest >= middle : mode == GS_RM ? negative && rest
		: mode == GS_RP ? !negative && rest : 0;
	return mode == GS_ODD ? q | (rest != 0) : q + up;
}
GS_INLINE ushort gs_f16_of_f32(float f, int mode)
{
	uint u = as_uint(f), negative = u >> 31, m = u & 0x7fffffffu, e = m >> 23, normal = e >= 113u;
	uint x = normal ? m - (112u << 23) : (m & 0x7fffffu) | (e ? 0x800000u : 0), shift = normal ? 13u : min(126u - (e ? e : 1u), 31u);
	uint q = gs_round(x >> shift, x & ((1u << shift) - 1), 1u << (shift - 1), negative, mode);
	uint away = mode == GS_RN || mode == GS_RNA || (mode == GS_RM && negative) || (mode == GS_RP && !negative);
	uint r = m > 0x7f800000u ? 0x7fffu : m == 0x7f800000u ? 0x7c00u : q < 0x7c00u ? q : away ? 0x7c00u : 0x7bffu;
	return (ushort)(m > 0x7f800000u ? r : r | negative << 15);
}
GS_INLINE float gs_f32_of_bf16(ushort h) { return as_float((uint)h << 16); }
GS_INLINE ushort gs_bf16_of_f32(float f, int mode)
{
	uint u = as_uint(f), m = u & 0x7fffffffu, q = gs_round(m >> 16, m & 0xffffu, 0x8000u, u >> 31, mode);
	return m > 0x7f800000u ? (ushort)0x7fff : (ushort)((m == 0x7f800000u ? 0x7f80u : q) | u >> 31 << 15);
}
/* .rna cuts the payload of a NaN off; other roundings give one NaN. */
GS_INLINE uint gs_tf32_of_f32(float f, int mode)
{
	uint u = as_uint(f), m = u & 0x7fffffffu, q = gs_round(m >> 13, m & 0x1fffu, 0x1000u, u >> 31, mode) << 13;
	uint special = mode == GS_RNA || m == 0x7f800000u ? u & 0xffffe000u : 0x7fffe000u;
	return m >= 0x7f800000u ? special : q | (u & 0x80000000u);
}
GS_INLINE ushort gs_f16_rounded(double d, int mode) { return gs_f16_of_f32(gs_f32_of_f64(d, GS_ODD), mode); }
GS_INLINE ushort gs_bf16_rounded(double d, int mode) { return gs_bf16_of_f32(gs_f32_of_f64(d, GS_ODD), mode); }
/* Conversions from f64 keep the sign and the beginning of a NaN. */
GS_INLINE ushort gs_f16_of_f64(double d, int mode)
{
	return d != d ? (ushort)((as_ulong(d) >> 48 & 0x8000) | 0x7e00 | (as_ulong(d) >> 42 & 0x1ff)) : gs_f16_rounded(d, mode);
}
GS_INLINE ushort gs_bf16_of_f64(double d, int mode)
{
	return d != d ? (ushort)((as_ulong(d) >> 48 & 0x8000) | 0x7fc0 | (as_ulong(d) >> 45 & 0x3f)) : gs_bf16_rounded(d, mode);
}

/* A float has enough bits that rounding it once more to f16 or bf16 gives what rounding the exact value would; products of bf16 may
 * become too small for that. */
#define GS_SHORTS(t) \
GS_INLINE ushort gs_add_##t(ushort a, ushort b) { return gs_##t##_of_f32(gs_f32_of_##t(a) + gs_f32_of_##t(b), GS_RN); } \
GS_INLINE ushort gs_sub_##t(ushort a, ushort b) { return gs_##t##_of_f32(gs_f32_of_##t(a) - gs_f32_of_##t(b), GS_RN); } \
GS_INLINE ushort gs_mul_##t(ushort a, ushort b) { return gs_##t##_rounded((double)gs_f32_of_##t(a) * (double)gs_f32_of_##t(b), GS_RN); } \
GS_INLINE ushort gs_fma_##t(ushort a, ushort b, ushort c) \
{ \
	return gs_##t##_rounded(gs_sum_odd((double)gs_f32_of_##t(a) * (double)gs_f32_of_##t(b), gs_f32_of_##t(c), GS_RN), GS_RN); \
} \
GS_INLINE ushort gs_abs_##t(ushort a) { return (a & 0x7fff) > GS_INFINITY_##t ? (ushort)0x7fff : (ushort)(a & 0x7fff); } \
GS_INLINE ushort gs_neg_##t(ushort a) { return (a & 0x7fff) > GS_INFINITY_##t ? (ushort)0x7fff : (ushort)(a ^ 0x8000); } \
GS_INLINE ushort gs_relu_##t(ushort a) { return (a & 0x7fff) > GS_INFINITY_##t ? (ushort)0x7fff : a & 0x8000 ? (ushort)0 : a; } \
GS_INLINE ushort gs_satfinite_##t(ushort a) { return (a & 0x7fff) == GS_INFINITY_##t ? (ushort)(a - 1) : a; } \
GS_INLINE ushort gs_sat_##t(ushort a) { return (a & 0x7fff) > GS_INFINITY_##t || a & 0x8000 ? (ushort)0 : a > GS_ONE_##t ? (ushort)GS_ONE_##t : a; } \
GS_INLINE short gs_order_##t(ushort a) { return (short)(a & 0x8000 ? -(a & 0x7fff) - 1 : a); } \
GS_INLINE ushort gs_min_##t(ushort a, ushort b) \
{ \
	ushort r = gs_order_##t(a) < gs_order_##t(b) ? a : b, na = (a & 0x7fff) > GS_INFINITY_##t, nb = (b & 0x7fff) > GS_INFINITY_##t; \
	return na && nb ? (ushort)0x7fff : na ? b : nb ? a : r; \
} \
GS_INLINE ushort gs_max_##t(ushort a, ushort b) \
{ \
	ushort r = gs_order_##t(a) > gs_order_##t(b) ? a : b, na = (a & 0x7fff) > GS_INFINITY_##t, nb = (b & 0x7fff) > GS_INFINITY_##t; \
	return na && nb ? (ushort)0x7fff : na ? b : nb ? a : r; \
} \
GS_INLINE ushort gs_min_nan_##t(ushort a, ushort b) { return (a & 0x7fff) > GS_INFINITY_##t || (b & 0x7fff) > GS_INFINITY_##t ? (ushort)0x7fff : gs_min_##t(a, b); } \
GS_INLINE ushort gs_max_nan_##t(ushort a, ushort b) { return (a & 0x7fff) > GS_INFINITY_##t || (b & 0x7fff) > GS_INFINITY_##t ? (ushort)0x7fff : gs_max_##t(a, b); } \
GS_INLINE ushort gs_xorsign_##t(ushort r, ushort a, ushort b) { return (r & 0x7fff) > GS_INFINITY_##t ? r : (ushort)(r | ((a ^ b) & 0x8000)); }
#define GS_INFINITY_f16 0x7c00
#define GS_INFINITY_bf16 0x7f80
#define GS_ONE_f16 0x3c00
#define GS_ONE_bf16 0x3f80
GS_SHORTS(f16)
GS_SHORTS(bf16)
GS_INLINE ushort gs_ftz_f16(ushort a) { return a & 0x7c00 ? a : (ushort)(a & 0x8000); }
/* Of products in f16, .ftz flushes what is small before it is rounded: measured on an H200. */
GS_INLINE ushort gs_flushed_f16(double exact) { return fabs(exact) < 0x1p-14 ? (ushort)(signbit(exact) ? 0x8000 : 0) : gs_f16_rounded(exact, GS_RN); }
GS_INLINE ushort gs_mul_ftz_f16(ushort a, ushort b) { return gs_flushed_f16((double)gs_f32_of_f16(a) * (double)gs_f32_of_f16(b)); }
GS_INLINE ushort gs_fma_ftz_f16(ushort a, ushort b, ushort c)
{
	return gs_flushed_f16(gs_sum_odd((double)gs_f32_of_f16(a) * (double)gs_f32_of_f16(b), gs_f32_of_f16(c), GS_RN));
}
GS_INLINE ushort gs_ftz_bf16(ushort a) { return a & 0x7f80 ? a : (ushort)(a & 0x8000); }

#define GS_BOTH_1(name, t) GS_INLINE uint gs_##name##_##t##x2(uint a) { return gs_pair(gs_##name##_##t((ushort)a), gs_##name##_##t((ushort)(a >> 16))); }
#define GS_BOTH_2(name, t) GS_INLINE uint gs_##name##_##t##x2(uint a, uint b) \
{ return gs_pair(gs_##name##_##t((ushort)a, (ushort)b), gs_##name##_##t((ushort)(a >> 16), (ushort)(b >> 16))); }
#define GS_BOTH_3(name, t) GS_INLINE uint gs_##name##_##t##x2(uint a, uint b, uint c) \
{ return gs_pair(gs_##name##_##t((ushort)a, (ushort)b, (ushort)c), gs_##name##_##t((ushort)(a >> 16), (ushort)(b >> 16), (ushort)(c >> 16))); }
#define GS_BOTH(t) GS_BOTH_2(add, t) GS_BOTH_2(sub, t) GS_BOTH_2(mul, t) GS_BOTH_3(fma, t) GS_BOTH_1(abs, t) GS_BOTH_1(neg, t) \
	GS_BOTH_1(relu, t) GS_BOTH_1(sat, t) GS_BOTH_1(ftz, t) GS_BOTH_2(min, t) GS_BOTH_2(max, t) GS_BOTH_2(min_nan, t) GS_BOTH_2(max_nan, t) \
	GS_BOTH_3(xorsign, t)
GS_BOTH(f16)
GS_BOTH(bf16)
GS_BOTH_2(mul_ftz, f16)
GS_BOTH_3(fma_ftz, f16)

/* f32 and f64 */
GS_INLINE float gs_ftz_f32(float a) { return as_float(as_uint(a) & 0x7f800000u ? as_uint(a) : as_uint(a) & 0x80000000u); }
GS_INLINE float gs_sat_f32(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
GS_INLINE double gs_sat_f64(double a) { return a > 0.0 ? (a < 1.0 ? a : 1.0) : 0.0; }
GS_INLINE float gs_relu_f32(float a) { return a != a ? as_float(0x7fffffffu) : a > 0.0f ? a : 0.0f; }
GS_INLINE uint gs_relu_tf32(uint a) { return (a & 0x7fffffffu) > 0x7f800000u ? a : a >> 31 ? 0 : a; }
GS_INLINE uint gs_satfinite_tf32(uint a) { return (a & 0x7fffffffu) == 0x7f800000u ? (a & 0x80000000u) | 0x7f7fe000u : a; }
GS_INLINE float gs_abs_f32(float a) { return fabs(a); }
GS_INLINE double gs_abs_f64(double a) { return fabs(a); }
GS_INLINE uint gs_subnormal_f32(float a) { uint m = as_uint(a) & 0x7fffffffu; return m != 0 && m < 0x800000u; }
GS_INLINE uint gs_subnormal_f64(double a) { ulong m = as_ulong(a) & 0x7ffffffffffffffful; return m != 0 && m < 0x10000000000000ul; }

/* -0 is less than +0. A NaN is not chosen; two of them make the canonical one. */
#define GS_EXTREMES(t, T, bits, NAN_BITS) \
GS_INLINE T gs_min_##t(T a, T b) \
{ \
	T r = a == b ? as_##T(as_##bits(a) | as_##bits(b)) : a < b ? a : b; \
	return a != a ? (b != b ? as_##T(NAN_BITS) : b) : b != b ? a : r; \
} \
GS_INLINE T gs_max_##t(T a, T b) \
{ \
	T r = a == b ? as_##T(as_##bits(a) & as_##bits(b)) : a > b ? a : b; \
	return a != a ? (b != b ? as_##T(NAN_BITS) : b) : b != b ? a : r; \
} \
GS_INLINE T gs_min_nan_##t(T a, T b) { return a != a || b != b ? as_##T(NAN_BITS) : gs_min_##t(a, b); } \
GS_INLINE T gs_max_nan_##t(T a, T b) { return a != a || b != b ? as_##T(NAN_BITS) : gs_max_##t(a, b); } \
GS_INLINE T gs_xorsign_##t(T r, T a, T b) { return r != r ? r : copysign(r, as_##T(as_##bits(a) ^ as_##bits(b))); }
GS_EXTREMES(f32, float, uint, 0x7fffffffu)
GS_EXTREMES(f64, double, ulong, 0x7ffffffffffffffful)

/* Numbers that do not fit become the nearest that does. What a NaN becomes depends on both types. */
#define GS_TO_INTEGER(name, T, F, low, above, smallest, largest, nan) \
GS_INLINE T gs_##name(F x) { return x != x ? (T)(nan) : x >= above ? (T)(largest) : x < low ? (T)(smallest) : (T)x; }
#define GS_TO_INTEGERS(f, F, nan8, nan16, nan32) \
GS_TO_INTEGER(s8_of_##f, char, F, -128, 128, -128, 127, nan8) \
GS_TO_INTEGER(u8_of_##f, uchar, F, 0, 256, 0, 255, nan8) \
GS_TO_INTEGER(s16_of_##f, short, F, -32768, 32768, -32768, 32767, nan16) \
GS_TO_INTEGER(u16_of_##f, ushort, F, 0, 65536, 0, 65535, nan16) \
GS_TO_INTEGER(s32_of_##f, int, F, (F)-2147483648.0, (F)2147483648.0, 0x80000000u, 0x7fffffff, nan32) \
GS_TO_INTEGER(u32_of_##f, uint, F, 0, (F)4294967296.0, 0, ~0u, nan32) \
GS_TO_INTEGER(s64_of_##f, long, F, (F)-9223372036854775808.0, (F)9223372036854775808.0, 1ul << 63, ~0ul >> 1, 1ul << 63) \
GS_TO_INTEGER(u64_of_##f, ulong, F, 0, (F)18446744073709551616.0, 0, ~0ul, 1ul << 63)
GS_TO_INTEGERS(f32, float, 0, 0, 0)
GS_TO_INTEGERS(f64, double, 128, 32768, 0x80000000u)

/* Two floats in 64 bits. */
GS_INLINE float gs_low_f32(ulong a, int flush) { float f = as_float((uint)a); return flush ? gs_ftz_f32(f) : f; }
GS_INLINE ulong gs_join_f32(float low, float high, int flush)
{
	return gs_joined(as_uint(flush ? gs_ftz_f32(low) : low), as_uint(flush ? gs_ftz_f32(high) : high));
}
GS_INLINE float gs_fma_any(float a, float b, float c, int mode) { return mode == GS_RN ? fma(a, b, c) : gs_fma_f32(a, b, c, mode); }
GS_INLINE float gs_add_any(float a, float b, int mode) { return mode == GS_RN ? a + b : gs_add_f32(a, b, mode); }
GS_INLINE float gs_mul_any(float a, float b, int mode) { return mode == GS_RN ? a * b : gs_mul_f32(a, b, mode); }
GS_INLINE ulong gs_add_f32x2(ulong a, ulong b, int mode, int z)
{
	return gs_join_f32(gs_add_any(gs_low_f32(a, z), gs_low_f32(b, z), mode), gs_add_any(gs_low_f32(a >> 32, z), gs_low_f32(b >> 32, z), mode), z);
}
GS_INLINE ulong gs_sub_f32x2(ulong a, ulong b, int mode, int z) { return gs_add_f32x2(a, b ^ 0x8000000080000000ul, mode, z); }
GS_INLINE ulong gs_mul_f32x2(ulong a, ulong b, int mode, int z)
{
	return gs_join_f32(gs_mul_any(gs_low_f32(a, z), gs_low_f32(b, z), mode), gs_mul_any(gs_low_f32(a >> 32, z), gs_low_f32(b >> 32, z), mode), z);
}
GS_INLINE ulong gs_fma_f32x2(ulong a, ulong b, ulong c, int mode, int z)
{
	return gs_join_f32(gs_fma_any(gs_low_f32(a, z), gs_low_f32(b, z), gs_low_f32(c, z), mode),
			   gs_fma_any(gs_low_f32(a >> 32, z), gs_low_f32(b >> 32, z), gs_low_f32(c >> 32, z), mode), z);
}

/* e4m3 and e5m2, two in 16 bits. What is too large becomes the largest number. */
GS_INLINE uint gs_byte_of_f32(float f, uint bits, uint bias, uint largest, int relu)
{
	uint u = as_uint(f), m = u & 0x7fffffffu, e = m >> 23, least = 128u - bias, normal = e >= least;
	uint x = normal ? m - ((least - 1) << 23) : (m & 0x7fffffu) | (e ? 0x800000u : 0);
	uint shift = normal ? 23u - bits : min(23u - bits + least - (e ? e : 1u), 31u);
	uint q = min(gs_round(x >> shift, x & ((1u << shift) - 1), 1u << (shift - 1), u >> 31, GS_RN), largest);
	return m > 0x7f800000u ? 0x7fu : u >> 31 ? (relu ? 0 : q | 0x80u) : q;
}
GS_INLINE ushort gs_e4m3x2_of_f32(float a, float b, int relu)
{
	return (ushort)(gs_byte_of_f32(a, 3, 7, 0x7e, relu) | gs_byte_of_f32(b, 3, 7, 0x7e, relu) << 8);
}
GS_INLINE ushort gs_e5m2x2_of_f32(float a, float b, int relu)
{
	return (ushort)(gs_byte_of_f32(a, 2, 15, 0x7b, relu) | gs_byte_of_f32(b, 2, 15, 0x7b, relu) << 8);
}
GS_INLINE ushort gs_e4m3x2_of_f16x2(uint a, int relu) { return gs_e4m3x2_of_f32(gs_f32_of_f16((ushort)a), gs_f32_of_f16((ushort)(a >> 16)), relu); }
GS_INLINE ushort gs_e5m2x2_of_f16x2(uint a, int relu) { return gs_e5m2x2_of_f32(gs_f32_of_f16((ushort)a), gs_f32_of_f16((ushort)(a >> 16)), relu); }
GS_INLINE ushort gs_f16_of_e4m3(uint b)
{
	ushort h = gs_f16_of_f32(gs_f32_of_f16((ushort)((b & 0x7f) << 7)) * 256.0f, GS_RN);
	return (b & 0x7f) == 0x7f ? (ushort)0x7fff : (ushort)(h | (b & 0x80) << 8);
}
GS_INLINE ushort gs_f16_of_e5m2(uint b) { return (b & 0x7f) > 0x7c ? (ushort)0x7fff : (ushort)(b << 8); }
GS_INLINE uint gs_f16x2_of_e4m3x2(ushort a) { return gs_pair(gs_f16_of_e4m3(a & 0xff), gs_f16_of_e4m3(a >> 8)); }
GS_INLINE uint gs_f16x2_of_e5m2x2(ushort a) { return gs_pair(gs_f16_of_e5m2(a & 0xff), gs_f16_of_e5m2(a >> 8)); }
