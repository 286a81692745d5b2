/* What lifted text calls: integers and bits. The files prelude*.cl are one text, in the order of their names. */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define GS_INLINE static inline __attribute__((always_inline))

GS_INLINE ulong gs_joined(uint low, uint high) { return (ulong)high << 32 | low; }
GS_INLINE uint gs_pair(ushort low, ushort high) { return (uint)high << 16 | low; }

GS_INLINE ushort gs_mul_hi_u16(ushort a, ushort b) { return (ushort)((uint)a * b >> 16); }
GS_INLINE short gs_mul_hi_s16(short a, short b) { return (short)((int)a * b >> 16); }
GS_INLINE uint gs_mul_hi_u32(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
GS_INLINE int gs_mul_hi_s32(int a, int b) { return (int)((long)a * b >> 32); }
GS_INLINE ulong gs_mul_hi_u64(ulong a, ulong b) { return mul_hi(a, b); }
GS_INLINE long gs_mul_hi_s64(long a, long b) { return mul_hi(a, b); }
GS_INLINE uint gs_24_u32(uint a) { return a & 0xffffffu; }
GS_INLINE int gs_24_s32(int a) { return (int)((uint)a << 8) >> 8; }

/* Divisions that a processor would trap are replaced. PTX leaves the results of division by zero open; GPUs give -1. */
#define GS_DIVISIONS(u, U, s, S) \
GS_INLINE U gs_div_##u(U a, U b) { U d = b == 0 ? 1 : b; U q = a / d; return b == 0 ? (U)~(U)0 : q; } \
GS_INLINE U gs_rem_##u(U a, U b) { U d = b == 0 ? 1 : b; U r = a % d; return b == 0 ? (U)~(U)0 : r; } \
GS_INLINE S gs_div_##s(S a, S b) { S d = b == 0 || b == -1 ? 1 : b; S q = a / d; return b == 0 ? (S)-1 : b == -1 ? (S)((U)0 - (U)a) : q; } \
GS_INLINE S gs_rem_##s(S a, S b) { S d = b == 0 || b == -1 ? 1 : b; S r = a % d; return b == 0 ? (S)-1 : b == -1 ? (S)0 : r; }
GS_DIVISIONS(u16, ushort, s16, short)
GS_DIVISIONS(u32, uint, s32, int)
GS_DIVISIONS(u64, ulong, s64, long)

/* The highest bit that differs from the sign, and how far it is from the top. */
GS_INLINE uint gs_bfind_shift_s32(int a) { uint x = (uint)(a ^ (a >> 31)); return x == 0 ? ~0u : (uint)clz(x); }
GS_INLINE uint gs_bfind_shift_s64(long a) { ulong x = (ulong)(a ^ (a >> 63)); return x == 0 ? ~0u : (uint)clz(x); }
GS_INLINE uint gs_bfind_s32(int a) { uint s = gs_bfind_shift_s32(a); return s == ~0u ? s : 31u - s; }
GS_INLINE uint gs_bfind_s64(long a) { uint s = gs_bfind_shift_s64(a); return s == ~0u ? s : 63u - s; }

GS_INLINE uint gs_brev_b32(uint x)
{
	x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
	x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
	x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
	x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
	return x >> 16 | x << 16;
}
GS_INLINE ulong gs_brev_b64(ulong x) { return gs_joined(gs_brev_b32((uint)(x >> 32)), gs_brev_b32((uint)x)); }

/* Bits from a position on. Positions and lengths of fields of 32 bits are the lowest 8 bits of their operands; of 64 bits, GPUs take all. */
#define GS_FIELDS(n, U, S, m, B) \
GS_INLINE U gs_low_u##n(uint bits) { return bits > m ? ~(U)0 : ((U)1 << (bits & m)) - 1; } \
GS_INLINE U gs_bfe_u##n(U a, uint b, uint c) { uint p = b & B; return (p > m ? 0 : a >> (p & m)) & gs_low_u##n(c & B); } \
GS_INLINE S gs_bfe_s##n(S a, uint b, uint c) \
{ \
	uint p = b & B, bits = c & B, gap = bits > m ? 0 : (m + 1 - bits) & m; \
	S x = a >> (p > m ? m : p); \
	return bits == 0 ? 0 : (S)((U)x << gap) >> gap; \
} \
GS_INLINE U gs_bfi_b##n(U a, U b, uint c, uint d) \
{ \
	uint p = c & B; \
	U mask = p > m ? 0 : gs_low_u##n(d & B) << (p & m); \
	return (b & ~mask) | (a << (p & m) & mask); \
}
GS_FIELDS(32, uint, int, 31u, 255u)
GS_FIELDS(64, ulong, long, 63u, ~0u)

GS_INLINE uint gs_bmsk_wrap(uint a, uint b)
{
	uint first = a & 31u, end = first + (b & 31u);
	return (~0u << first) & ~(end > 31u ? 0 : ~0u << (end & 31u));
}
GS_INLINE uint gs_bmsk_clamp(uint a, uint b)
{
	uint all = a > 31u ? 0 : ~0u << (a & 31u);
	return b > 31u ? all : all & gs_bmsk_wrap(a, b);
}
GS_INLINE uint gs_szext_u32(uint a, uint b, uint whole) { return whole ? a : a & ~(~0u << (b & 31u)); }
GS_INLINE int gs_szext_s32(int a, uint b, uint whole)
{
	uint n = b & 31u, mask = ~0u << n, sign = n == 0 ? 0 : (uint)a >> ((n - 1) & 31u) & 1u;
	return whole ? a : (int)(((uint)a & ~mask) | (sign ? mask : 0));
}
GS_INLINE uint gs_fns(uint mask, uint base, int offset)
{
	int at = (int)(base & 31u), step = offset < 0 ? -1 : 1, left = offset < 0 ? -offset : offset;
	uint found = ~0u;
	if (base > 31u)
		return ~0u;
	if (offset == 0)
		return mask >> at & 1u ? (uint)at : ~0u;
	for (; at >= 0 && at < 32 && found == ~0u; at += step) {
		left -= mask >> at & 1u;
		found = left == 0 ? (uint)at : ~0u;
	}
	return found;
}

/* Four bytes of eight; the top bit of a selector asks for the sign of its byte. */
GS_INLINE uint gs_prmt(uint a, uint b, uint c)
{
	ulong all = gs_joined(a, b);
	uint r = 0;
	for (uint i = 0; i < 4; i++) {
		uint s = c >> i * 4 & 15u, byte = (uint)(all >> (s & 7u) * 8) & 255u;
		r |= (s & 8u ? (byte & 128u ? 255u : 0) : byte) << i * 8;
	}
	return r;
}
GS_INLINE uint gs_prmt_b4e(uint c) { uint s = c & 3u; return s | (s - 1 & 7u) << 4 | (s - 2 & 7u) << 8 | (s - 3 & 7u) << 12; }
GS_INLINE uint gs_prmt_ecl(uint c) { uint s = c & 3u; return s | max(s, 1u) << 4 | max(s, 2u) << 8 | 0x3000u; }
GS_INLINE uint gs_prmt_ecr(uint c) { uint s = c & 3u; return min(s, 1u) << 4 | min(s, 2u) << 8 | s << 12; }

#define GS_DOTS(A, B, ta, tb, C4, D4, C2) \
GS_INLINE uint gs_dp4a_##A##B(uint a, uint b, uint c) \
{ \
	return c + (uint)((int)(C4)a * (int)(D4)b + (int)(C4)(a >> 8) * (int)(D4)(b >> 8) + (int)(C4)(a >> 16) * (int)(D4)(b >> 16) + \
			  (int)(C4)(a >> 24) * (int)(D4)(b >> 24)); \
} \
GS_INLINE uint gs_dp2a_lo_##A##B(uint a, uint b, uint c) { return c + (uint)((int)(C2)a * (int)(D4)b + (int)(C2)(a >> 16) * (int)(D4)(b >> 8)); } \
GS_INLINE uint gs_dp2a_hi_##A##B(uint a, uint b, uint c) { return gs_dp2a_lo_##A##B(a, b >> 16, c); }
GS_DOTS(u32, u32, u, u, uchar, uchar, ushort)
GS_DOTS(u32, s32, u, s, uchar, char, ushort)
GS_DOTS(s32, u32, s, u, char, uchar, short)
GS_DOTS(s32, s32, s, s, char, char, short)

GS_INLINE uint gs_add_x2(uint a, uint b) { return gs_pair((ushort)(a + b), (ushort)((a >> 16) + (b >> 16))); }
#define GS_PAIRS(name, type, T, op) \
GS_INLINE uint gs_##name##_##type(uint a, uint b) \
{ \
	T al = (T)a, ah = (T)(a >> 16), bl = (T)b, bh = (T)(b >> 16); \
	return gs_pair((ushort)(al op bl ? al : bl), (ushort)(ah op bh ? ah : bh)); \
}
GS_PAIRS(min, u16x2, ushort, <)
GS_PAIRS(max, u16x2, ushort, >)
GS_PAIRS(min, s16x2, short, <)
GS_PAIRS(max, s16x2, short, >)

/* a << n, or a number that is too large for 32 bits in any case. */
GS_INLINE long gs_vshl(long a, long n, int clamped)
{
	long r = (long)((ulong)a << n);
	return clamped && r >> n != a ? (a < 0 ? (long)(1ul << 63) : (long)(~0ul >> 1)) : r;
}
