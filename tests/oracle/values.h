/* Values in rows: the bits of their width, with zeros above. */
#ifndef GPUSIM_TESTS_ORACLE_VALUES_H
#define GPUSIM_TESTS_ORACLE_VALUES_H

#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

#define INTEGER_VALUE(type, same_width)                                                                                \
	static inline type get_##type(uint64_t row) { return (type)row; }                                              \
	static inline uint64_t put_##type(uint64_t value) { return (same_width)value; }
INTEGER_VALUE(u8, u8)
INTEGER_VALUE(s8, u8)
INTEGER_VALUE(u16, u16)
INTEGER_VALUE(s16, u16)
INTEGER_VALUE(u32, u32)
INTEGER_VALUE(s32, u32)
INTEGER_VALUE(u64, u64)
INTEGER_VALUE(s64, u64)
#undef INTEGER_VALUE
/* The bits of an integer in its own width. */
#define put_own(x) ((uint64_t)(x) & (sizeof(x) == 8 ? UINT64_MAX : (UINT64_C(1) << sizeof(x) * 8 % 64) - 1))

static inline f32 get_f32(uint64_t row)
{
	uint32_t bits = (uint32_t)row;
	f32 value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static inline uint64_t put_f32(f32 value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static inline f64 get_f64(uint64_t row)
{
	f64 value;
	memcpy(&value, &row, sizeof value);
	return value;
}

static inline uint64_t put_f64(f64 value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

#endif
