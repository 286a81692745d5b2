/* Memory. PTX has no types there, so accesses of different types may meet. Addresses are numbers. */
typedef uchar gs_m8 __attribute__((may_alias));
typedef ushort gs_m16 __attribute__((may_alias));
typedef uint gs_m32 __attribute__((may_alias));
typedef ulong gs_m64 __attribute__((may_alias));

GS_INLINE uint gs_copied(ulong from, uint at, uint size)
{
	uint word = 0;
	if (at + 4 <= size)
		return *(__global gs_m32 *)(from + at);
	for (uint i = 0; i < 4 && at + i < size; i++)
		word |= (uint)*(__global gs_m8 *)(from + at + i) << i * 8;
	return word;
}

#define GS_ATOMICS(prefix, t, T) \
GS_INLINE T gs_atomic_add_##t(ulong a, T v) { return prefix##_add((volatile __global T *)a, v); } \
GS_INLINE T gs_atomic_min_##t(ulong a, T v) { return prefix##_min((volatile __global T *)a, v); } \
GS_INLINE T gs_atomic_max_##t(ulong a, T v) { return prefix##_max((volatile __global T *)a, v); } \
GS_INLINE T gs_atomic_and_##t(ulong a, T v) { return prefix##_and((volatile __global T *)a, v); } \
GS_INLINE T gs_atomic_or_##t(ulong a, T v) { return prefix##_or((volatile __global T *)a, v); } \
GS_INLINE T gs_atomic_xor_##t(ulong a, T v) { return prefix##_xor((volatile __global T *)a, v); } \
GS_INLINE T gs_atomic_exch_##t(ulong a, T v) { return prefix##_xchg((volatile __global T *)a, v); } \
GS_INLINE T gs_atomic_cas_##t(ulong a, T c, T v) { return prefix##_cmpxchg((volatile __global T *)a, c, v); }
GS_ATOMICS(atomic, u32, uint)
GS_ATOMICS(atomic, s32, int)
GS_ATOMICS(atom, u64, ulong)
GS_ATOMICS(atom, s64, long)

/* What the host has no operation for: read, compute, and try again if another thread was faster. */
#define GS_ATOMIC_LOOP(name, t, T, B, compute) \
GS_INLINE T gs_atomic_##name##_##t(ulong a, T v) \
{ \
	B seen = gs_atomic_read_##B(a), was; \
	do { \
		was = seen; \
		T old = GS_AS_##t(was); \
		seen = gs_atomic_cas_##B(a, was, GS_BITS_##t(compute)); \
	} while (seen != was); \
	return GS_AS_##t(was); \
}
#define gs_atomic_read_uint(a) *(volatile __global uint *)(a)
#define gs_atomic_read_ulong(a) *(volatile __global ulong *)(a)
#define gs_atomic_cas_uint gs_atomic_cas_u32
#define gs_atomic_cas_ulong gs_atomic_cas_u64
#define GS_AS_u32(x) (x)
#define GS_BITS_u32(x) (x)
#define GS_AS_f32(x) as_float(x)
#define GS_BITS_f32(x) as_uint(x)
#define GS_AS_f64(x) as_double(x)
#define GS_BITS_f64(x) as_ulong(x)
#define GS_AS_f16x2(x) (x)
#define GS_BITS_f16x2(x) (x)
#define GS_AS_bf16x2(x) (x)
#define GS_BITS_bf16x2(x) (x)
GS_ATOMIC_LOOP(inc, u32, uint, uint, old >= v ? 0 : old + 1)
GS_ATOMIC_LOOP(dec, u32, uint, uint, old == 0 || old > v ? v : old - 1)
GS_ATOMIC_LOOP(add, f32, float, uint, old + v)
GS_ATOMIC_LOOP(add_flushed, f32, float, uint, gs_ftz_f32(gs_ftz_f32(old) + gs_ftz_f32(v)))
GS_ATOMIC_LOOP(add, f64, double, ulong, old + v)
#define GS_ATOMIC_PAIRS(t) \
GS_ATOMIC_LOOP(add, t, uint, uint, gs_add_##t(old, v)) \
GS_ATOMIC_LOOP(min, t, uint, uint, gs_min_##t(old, v)) \
GS_ATOMIC_LOOP(max, t, uint, uint, gs_max_##t(old, v))
GS_ATOMIC_PAIRS(f16x2)
GS_ATOMIC_PAIRS(bf16x2)

/* 16 bits of the word that they are in. */
#define GS_ATOMIC_SHORT(name, parameters, compute) \
GS_INLINE ushort gs_atomic_##name parameters \
{ \
	ulong word = a & ~3ul; \
	uint shift = (uint)(a & 2ul) * 8, seen = gs_atomic_read_uint(word), was; \
	do { \
		was = seen; \
		ushort old = (ushort)(was >> shift); \
		seen = gs_atomic_cas_u32(word, was, (was & ~(0xffffu << shift)) | (uint)(ushort)(compute) << shift); \
	} while (seen != was); \
	return (ushort)(was >> shift); \
}
GS_ATOMIC_SHORT(cas_u16, (ulong a, ushort c, ushort v), old == c ? v : old)
GS_ATOMIC_SHORT(add_f16, (ulong a, ushort v), gs_add_f16(old, v))
GS_ATOMIC_SHORT(min_f16, (ulong a, ushort v), gs_min_f16(old, v))
GS_ATOMIC_SHORT(max_f16, (ulong a, ushort v), gs_max_f16(old, v))
GS_ATOMIC_SHORT(add_bf16, (ulong a, ushort v), gs_add_bf16(old, v))
GS_ATOMIC_SHORT(min_bf16, (ulong a, ushort v), gs_min_bf16(old, v))
GS_ATOMIC_SHORT(max_bf16, (ulong a, ushort v), gs_max_bf16(old, v))

/* Barriers in shared memory: arrivals that are pending in bits 0 to 19, those of a phase in bits 20 to 39, bytes that copies have still to bring in
 * bits 40 to 61, modulo 2^22, and the last bits of the phase's number above. A phase is over when neither arrivals nor bytes are missing. */
GS_INLINE void gs_mbarrier_put(ulong a, ulong pending, ulong expected, ulong bytes, ulong phase)
{
	ulong over = !(pending & 0xffffful) && !(bytes & 0x3ffffful);
	*(volatile __global ulong *)a = ((over ? expected : pending) & 0xffffful) | (expected & 0xffffful) << 20 | (bytes & 0x3ffffful) << 40 | (phase + over) << 62;
}
GS_INLINE void gs_mbarrier_init(ulong a, uint count) { *(volatile __global ulong *)a = (count & 0xffffful) | (count & 0xffffful) << 20; }
GS_INLINE void gs_mbarrier_bytes(ulong a, ulong more)
{
	ulong was = *(volatile __global ulong *)a;
	gs_mbarrier_put(a, was, was >> 20, (was >> 40) + more, was >> 62);
}
GS_INLINE ulong gs_mbarrier_arrive(ulong a, uint count, uint drops, uint bytes)
{
	ulong was = *(volatile __global ulong *)a;
	gs_mbarrier_put(a, was - count, (was >> 20) - (drops ? count : 0u), (was >> 40) + bytes, was >> 62);
	return was;
}
GS_INLINE uint gs_mbarrier_phase_over(ulong a, ulong state) { return *(volatile __global ulong *)a >> 62 != state >> 62; }
GS_INLINE uint gs_mbarrier_parity_over(ulong a, uint parity) { return (uint)(*(volatile __global ulong *)a >> 62 & 1ul) != (parity & 1u); }
/* Of 16 bytes or a multiple, as all bulk copies. */
GS_INLINE void gs_bulk_copy(ulong to, ulong from, uint bytes)
{
	for (uint i = 0; i < bytes; i += 4)
		*(__global gs_m32 *)(to + i) = *(__global gs_m32 *)(from + i);
}
