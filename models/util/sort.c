/* Digits of 8 bits, the lowest first (Knuth, The Art of Computer Programming, 5.2.5). Digits that are the same in all numbers, as the high ones of
 * addresses mostly are, are passed over. */
#include "models/util/sort.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

static unsigned digit_of(uint64_t number, unsigned shift)
{
	return (unsigned)(number >> shift) & (DIGITS - 1);
}

/* In the order of one digit; those that have the same stay in their order. */
static void sort_by_digit(const uint64_t *from, size_t count, unsigned shift, uint64_t *to)
{
	size_t places[DIGITS] = {0}, before = 0;
	for (size_t i = 0; i < count; i++)
		places[digit_of(from[i], shift)]++;
	for (unsigned d = 0; d < DIGITS; d++) {
		size_t with = places[d];
		places[d] = before;
		before += with;
	}
	for (size_t i = 0; i < count; i++)
		to[places[digit_of(from[i], shift)]++] = from[i];
}

void sort_numbers(uint64_t *numbers, size_t count, uint64_t *scratch)
{
	uint64_t differs = 0, *from = numbers, *to = scratch;
	for (size_t i = 1; i < count; i++)
		differs |= numbers[i] ^ numbers[0];
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!digit_of(differs, shift))
			continue;
		sort_by_digit(from, count, shift, to);
		uint64_t *sorted = to;
		to = from;
		from = sorted;
	}
	if (from != numbers && count)
		memcpy(numbers, from, count * sizeof *numbers);
}
