/*
 * Counters are packed in blocks of BLOCK 32-bit numbers. A block is its least number, and for each number how much more it is, in as many
 * bits as the largest difference needs: 0, 1, 2, 4, 8, 16 or 32.
 */
#include "runtime/model/packed_counters.h"

#include "runtime/base/base.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 };

struct packed_block {
	uint32_t least;
	uint32_t bits; /* of each difference */
};

struct packed_counters {
	size_t words;         /* of 64 bits */
	struct gs_buf blocks; /* struct packed_block */
	struct gs_buf differences;
};

/* Differences are packed from the low bits of 32-bit words up; all of a block's fill whole words. */
static void pack_block(const uint32_t *numbers, struct packed_block b, uint32_t *out)
{
	uint32_t each = 32 / b.bits;
	for (uint32_t w = 0; w < BLOCK / each; w++) {
		uint32_t word = 0;
		for (uint32_t i = 0; i < each; i++)
			word |= (numbers[w * each + i] - b.least) << i * b.bits;
		out[w] = word;
	}
}

static void unpack_block(const uint32_t *words, struct packed_block b, uint32_t *out)
{
	uint32_t each = 32 / b.bits, mask = b.bits == 32 ? UINT32_MAX : (1u << b.bits) - 1;
	for (uint32_t w = 0; w < BLOCK / each; w++)
		for (uint32_t i = 0; i < each; i++)
			out[w * each + i] = b.least + (words[w] >> i * b.bits & mask);
}

static uint32_t bits_for(uint32_t most)
{
	uint32_t bits = most ? 1 : 0;
	while (bits && bits < 32 && most >> bits)
		bits *= 2;
	return bits;
}

static struct packed_block block_of(const uint32_t *numbers)
{
	uint32_t least = numbers[0], most = numbers[0];
	for (int i = 1; i < BLOCK; i++) {
		least = numbers[i] < least ? numbers[i] : least;
		most = numbers[i] > most ? numbers[i] : most;
	}
	return (struct packed_block){least, bits_for(most - least)};
}

struct packed_counters *counters_pack(const uint64_t *words, size_t count)
{
	struct packed_counters *p = calloc(1, sizeof *p);
	const uint32_t *numbers = (const uint32_t *)words;
	if (!p)
		return NULL;
	p->words = count;
	for (size_t at = 0; at < 2 * count; at += BLOCK) {
		uint32_t last[BLOCK] = {0}, packed[BLOCK];
		const uint32_t *from = numbers + at;
		if (2 * count - at < BLOCK) {
			memcpy(last, from, (2 * count - at) * sizeof *from);
			from = last;
		}
		struct packed_block b = block_of(from);
		gs_buf_add(&p->blocks, &b, sizeof b);
		if (!b.bits)
			continue;
		pack_block(from, b, packed);
		gs_buf_add(&p->differences, packed, BLOCK / 8 * b.bits);
	}
	if (!p->blocks.failed && !p->differences.failed)
		return p;
	packed_counters_free(p);
	return NULL;
}

uint64_t *counters_unpack(const struct packed_counters *p)
{
	size_t blocks = p->blocks.len / sizeof(struct packed_block), used = 0;
	uint64_t *words = malloc((blocks * BLOCK + 1) * sizeof(uint32_t));
	uint32_t *to = (uint32_t *)words;
	for (size_t i = 0; words && i < blocks; i++, to += BLOCK) {
		struct packed_block b;
		memcpy(&b, p->blocks.data + i * sizeof b, sizeof b);
		for (int n = 0; n < BLOCK && !b.bits; n++)
			to[n] = b.least;
		if (!b.bits)
			continue;
		unpack_block((const uint32_t *)(const void *)(p->differences.data + used), b, to);
		used += BLOCK / 8 * b.bits;
	}
	return words;
}

size_t counters_packed_bytes(const struct packed_counters *p)
{
	return sizeof *p + p->blocks.len + p->differences.len;
}

void packed_counters_free(struct packed_counters *p)
{
	if (!p)
		return;
	gs_buf_free(&p->blocks);
	gs_buf_free(&p->differences);
	free(p);
}
