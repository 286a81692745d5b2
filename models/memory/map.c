/*
 * Where an address is: pieces of interleave_bytes go round the channels, then round the slices of a channel.
 *
 *   piece p, S slices:  slice = p mod S,  address within it = p / S
 *   with turn_bytes:    two neighbouring pieces take turns of so many bytes
 *   hashed, S = 2^n:    slice = p(x) mod P(x), polynomials over GF(2), P irreducible of degree n: strides of any power of
 *                       two go round all slices (Rau, "Pseudo-randomly interleaved memory", ISCA 1991; Accel-Sim, III)
 *   hashed, other S:    slice = (p + hash of p / S) mod S
 */
#include "models/memory/map.h"

#include "models/util/divide.h"
#include "models/util/hash.h"

/* Bit by bit. */
static uint32_t divide_slowly(uint64_t piece, uint32_t polynomial, uint32_t degree)
{
	while (piece >> degree) {
		uint32_t top = 63 - (uint32_t)__builtin_clzll(piece);
		piece ^= (uint64_t)polynomial << (top - degree);
	}
	return (uint32_t)piece;
}

void memory_map_init(struct memory_map *m, uint32_t channels, uint32_t slices, uint64_t interleave_bytes, bool hash)
{
	/* x + 1, x^2 + x + 1, x^3 + x + 1 ...: Peterson's table, the first of each degree. */
	static const uint32_t polynomials[] = {1, 3, 7, 11, 19, 37, 67, 131, 285, 529, 1033};
	uint32_t all = channels * slices, degree = 0;
	*m = (struct memory_map){.channels = channels, .slices = slices, .interleave_bytes = interleave_bytes, .hash = hash};
	while (1u << degree < all)
		degree++;
	if (1u << degree == all && degree < GS_ARRAY_LEN(polynomials)) {
		m->degree = degree;
		m->polynomial = polynomials[degree];
		for (uint64_t byte = 0; degree && byte < GS_ARRAY_LEN(m->remainders); byte++)
			m->remainders[byte] = (uint16_t)divide_slowly(byte << degree, m->polynomial, degree);
	}
}

uint32_t memory_channels(const struct gpu *gpu, double share)
{
	double wanted = gpu->dram_channels * share;
	uint32_t low = wanted > 1 ? (uint32_t)(wanted + 0.5) : 1, high = low;
	int most = gpu->l2_hash ? 31 : __builtin_ctz(gpu->dram_channels);
	while (__builtin_ctz(low) > most)
		low--;
	while (__builtin_ctz(high) > most)
		high++;
	return wanted - low < high - wanted ? low : high;
}

/* Byte by byte, from the top: of what was before, the remainder is left. */
static uint32_t remainder_of(const struct memory_map *m, uint64_t piece)
{
	uint32_t left = 0, mask = (1u << m->degree) - 1;
	if (!m->degree || !piece)
		return 0;
	for (int shift = (63 - __builtin_clzll(piece)) / 8 * 8; shift >= 0; shift -= 8) {
		uint32_t next = left << 8 | (uint32_t)(piece >> shift & 255);
		left = (next & mask) ^ m->remainders[next >> m->degree];
	}
	return left;
}

/* Where its buffer is, as if the two pieces lay one after the other. */
static uint64_t in_one_piece(const struct memory_map *m, uint64_t address)
{
	address = memory_placed(&m->places, address);
	if (!m->turn_bytes)
		return address;
	uint64_t in_two = remainder_by(address, 2 * m->interleave_bytes), turn = quotient(in_two, m->turn_bytes);
	uint64_t at = turn % 2 * m->interleave_bytes + turn / 2 * m->turn_bytes + (in_two - turn * m->turn_bytes);
	return address - in_two + at;
}

uint64_t memory_map_local(const struct memory_map *m, uint64_t address)
{
	address = in_one_piece(m, address);
	uint64_t row = quotient(quotient(address, m->interleave_bytes), (uint64_t)m->channels * m->slices);
	return row * m->interleave_bytes + remainder_by(address, m->interleave_bytes);
}

struct memory_place memory_map_find(const struct memory_map *m, uint64_t address)
{
	address = in_one_piece(m, address);
	uint64_t piece = quotient(address, m->interleave_bytes), all = (uint64_t)m->channels * m->slices, row = quotient(piece, all);
	uint32_t n = (uint32_t)(piece - row * all);
	if (m->hash && m->polynomial)
		n = remainder_of(m, piece);
	else if (m->hash)
		n = (uint32_t)((n + (hash_high(row) >> 33)) % all);
	return (struct memory_place){.channel = n % m->channels,
	                             .slice = n / m->channels,
	                             .local = row * m->interleave_bytes + remainder_by(address, m->interleave_bytes)};
}

uint32_t memory_set(uint64_t line, uint32_t sets, bool hash)
{
	if (hash && sets == 32) {
		/* Fermi's: Nugteren et al., "A detailed GPU cache model", HPCA 2014. Bits of the address, of lines of 128 bytes. */
		static const uint8_t bits[] = {13 - 7, 14 - 7, 15 - 7, 17 - 7, 19 - 7};
		uint32_t mixed = 0;
		for (uint32_t i = 0; i < GS_ARRAY_LEN(bits); i++)
			mixed |= (uint32_t)(line >> bits[i] & 1) << i;
		return (uint32_t)(line % 32) ^ mixed;
	}
	if (!sets) /* shared memory takes all of L1 */
		return 0;
	if (hash)
		line += hash_high(quotient(line, sets)) >> 33;
	return (uint32_t)remainder_by(line, sets);
}
