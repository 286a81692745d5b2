#include "interposer/cuda/ways/patch.h"

#include <string.h>

enum { X86_BRANCH_BYTES = 5, ARM_BRANCH_BYTES = 4 };

static void put_le(uint8_t *out, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> 8 * i);
}

/* jmp with a distance of 32 bits, from the end of the instruction. */
static size_t x86_branch(uint64_t from, uint64_t to, uint8_t *out)
{
	int64_t distance = (int64_t)(to - from) - X86_BRANCH_BYTES;
	if (distance != (int32_t)distance)
		return 0;
	out[0] = 0xe9;
	put_le(out + 1, (uint32_t)distance, 4);
	return X86_BRANCH_BYTES;
}

/* b with a distance of 26 bits, in instructions. */
static size_t arm_branch(uint64_t from, uint64_t to, uint8_t *out)
{
	int64_t distance = (int64_t)(to - from);
	if (distance % 4 || distance < -(INT64_C(1) << 27) || distance >= INT64_C(1) << 27)
		return 0;
	put_le(out, 0x14000000u | ((uint32_t)(distance / 4) & 0x03ffffffu), 4);
	return ARM_BRANCH_BYTES;
}

size_t patch_branch(enum patch_machine machine, uint64_t from, uint64_t to, uint8_t out[PATCH_MOST_BYTES])
{
	return machine == PATCH_X86_64 ? x86_branch(from, to, out) : arm_branch(from, to, out);
}

void patch_jump(enum patch_machine machine, uint64_t to, uint8_t out[PATCH_MOST_BYTES])
{
	memset(out, 0, PATCH_MOST_BYTES);
	if (machine == PATCH_X86_64) {
		put_le(out, 0x0225ff, 6); /* jmp *2(%rip) */
	} else {
		put_le(out, 0x58000050, 4);     /* ldr x16, . + 8 */
		put_le(out + 4, 0xd61f0200, 4); /* br x16 */
	}
	put_le(out + 8, to, 8);
}

uint64_t patch_reach(enum patch_machine machine)
{
	return machine == PATCH_X86_64 ? UINT64_C(0x70000000) : UINT64_C(0x7000000);
}
