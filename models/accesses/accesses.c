/*
 * Accesses of warps.
 *
 *   global, local, constant: the parts that coalesce.c makes of them; where a description has banks of L1, loads take as many cycles as
 *   the fullest bank has words, and no fewer than the tags of their lines take. With l1_wide_parts, those of 8 and 16 bytes a lane go by parts of the
 *   warp, as in shared memory. Tags are in l1_tags_per_cycle banks (T, a power of two): a line is in
 *   the bank that the digits of its number to the base T make, each exclusive-ored with the others. In a cycle lines are looked up in the
 *   order of lanes until one is in a bank that was taken: 32 lines at random take 14.8 cycles of 4 banks, not 8
 *   constant: with const_each_cycles, so many cycles for each different address, if there are several
 *   shared: the largest number of different 4-byte words in one bank; lanes on the same word share it. Where a description says how much lanes get
 *   in a cycle (shared_return_bytes), accesses of 8 bytes a lane go by halves of the warp and those of 16 by quarters: as many lanes as banks have
 *   words for. In a load, two such parts go at once where all lanes i and i ^ 1, or all i and i ^ 2, ask for the same or are off
 * Source: measured on an H200 (tests/accuracy/truth, l1_stride: of 19 strides, only one takes another number of cycles; micro_wide: all 468
 * patterns of loads and 468 of stores of shared memory take these cycles); CUDA C programming guide (compute capabilities 2.x to 9.0);
 * GPGPU-Sim 4.0 for its GTX 480.
 */
#include "models/accesses/accesses.h"

#include "models/accesses/gathered.h"

#include "models/accesses/coalesce.h"
#include "models/accesses/operation.h"
#include "models/util/divide.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LANES = 128, MOST_PIECES = MOST_LANES * 16 }; /* the most of a description (warp_size); 16 words of a lane */

/* The largest number of different words in one bank; lanes on the same word share it. */
static uint32_t fullest_bank(uint32_t banks, const uint64_t *addresses, uint32_t lanes, uint32_t words_per_lane)
{
	enum { NONE = UINT16_MAX, MOST_BANKS = 1024 };
	uint64_t words[MOST_PIECES];
	uint16_t next[MOST_PIECES], heads[MOST_BANKS], in_bank[MOST_BANKS];
	uint32_t count = 0, most = 1;
	banks = banks < MOST_BANKS ? banks : MOST_BANKS;
	memset(heads, 0xff, banks * sizeof *heads);
	memset(in_bank, 0, banks * sizeof *in_bank);
	for (uint32_t i = 0; i < lanes; i++)
		for (uint32_t w = 0; w < words_per_lane && count < MOST_PIECES; w++) {
			uint64_t word = addresses[i] / 4 + w;
			uint32_t bank = (uint32_t)remainder_by(word, banks), at = heads[bank];
			while (at != NONE && words[at] != word)
				at = next[at];
			if (at != NONE)
				continue;
			words[count] = word;
			next[count] = heads[bank];
			heads[bank] = (uint16_t)count++;
			if (++in_bank[bank] > most)
				most = in_bank[bank];
		}
	return most;
}

static const uint64_t nowhere = UINT64_MAX;

/* Lanes that are off are like any other. */
static bool lanes_alike(const uint64_t *placed, uint32_t lanes, uint32_t apart)
{
	for (uint32_t i = 0; i < lanes; i++) {
		uint32_t other = i ^ apart;
		if (other < lanes && placed[i] != placed[other] && placed[i] != nowhere && placed[other] != nowhere)
			return false;
	}
	return true;
}

static uint32_t part_cycles(uint32_t banks, const uint64_t *placed, uint32_t lanes, uint32_t words)
{
	uint64_t own[MOST_LANES];
	uint32_t count = 0;
	for (uint32_t i = 0; i < lanes; i++)
		if (placed[i] != nowhere)
			own[count++] = placed[i];
	return count ? fullest_bank(banks, own, count, words) : 0;
}

static void place_lanes(const struct gpu *gpu, const uint64_t *addresses, const uint32_t *numbers, uint32_t lanes, uint64_t *placed, uint32_t *all)
{
	*all = min_u32(max_u32(gpu->warp_size, lanes), MOST_LANES);
	memset(placed, 0xff, *all * sizeof *placed);
	for (uint32_t i = 0; i < lanes; i++)
		placed[min_u32(numbers ? numbers[i] : i, *all - 1)] = addresses[i];
}

/* Parts of the warp take turns, and no fewer cycles than there are parts, whichever lanes are on. */
static uint32_t shared_turns(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *placed, uint32_t lanes)
{
	uint32_t bytes = kind->atomic ? 4 : max_u32(kind->bytes, 4), sum = 0;
	bool joined = !kind->store && (lanes_alike(placed, lanes, 1) || lanes_alike(placed, lanes, 2));
	uint32_t at_once = joined ? gpu->shared_return_bytes : gpu->shared_banks * 4, part = min_u32(max_u32(at_once / bytes, 1), lanes);
	for (uint32_t first = 0; first < lanes; first += part)
		sum += part_cycles(gpu->shared_banks, placed + first, min_u32(lanes - first, part), (bytes + 3) / 4);
	return max_u32(sum, (lanes + part - 1) / part);
}

/* Without measurements, wide accesses go in parts of the lanes that are on. */
static uint32_t shared_splits(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *addresses, uint32_t lanes)
{
	uint32_t bytes = kind->atomic ? 4 : kind->bytes, words = bytes > 4 && gpu->shared_wide_splits ? bytes / 4 : 1, sum = 0;
	uint32_t part = lanes / words ? lanes / words : 1;
	for (uint32_t first = 0; first < lanes; first += part)
		sum += fullest_bank(gpu->shared_banks, addresses + first, lanes - first < part ? lanes - first : part, words);
	return sum;
}

uint32_t shared_cycles(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *addresses, const uint32_t *numbers, uint32_t lanes)
{
	uint64_t placed[MOST_LANES];
	uint32_t all;
	if (!gpu->shared_return_bytes)
		return max_u32(shared_splits(gpu, kind, addresses, lanes), 1);
	place_lanes(gpu, addresses, numbers, lanes, placed, &all);
	return shared_turns(gpu, kind, placed, all);
}

uint32_t fragment_place(uint32_t n)
{
	enum { LINES = 8 };
	return n / (2 * LINES) * 2 * LINES + n % 2 * LINES + n % (2 * LINES) / 2;
}

/* The bank of tags that a line is in: digits of its number. Half of the digits are exclusive-ored with the other half, until one is left. */
static uint32_t tag_bank(uint64_t line, uint32_t digit_bits)
{
	for (uint32_t half = digit_bits << 5; half >= digit_bits && half; half >>= 1)
		if (half < 64)
			line = (line ^ line >> half) & ((UINT64_C(1) << half) - 1);
	return digit_bits ? (uint32_t)line : 0;
}

/* Cycles for the tags of the lines that lanes begin in. */
static uint32_t tag_cycles(const struct gpu *gpu, const uint64_t *addresses, uint32_t lanes, uint32_t parts)
{
	uint32_t banks = gpu->l1_tags_per_cycle, bits = (uint32_t)__builtin_ctz(banks), cycles = 1, count = 0;
	uint64_t seen[MOST_LANES], taken[2] = {0}, low = UINT64_MAX, high = 0;
	if (banks & (banks - 1))
		return (parts + banks - 1) / banks;
	for (uint32_t i = 0; i < lanes; i++) {
		uint64_t line = quotient(addresses[i], gpu->l1_line_bytes);
		uint32_t n = line >= low && line <= high ? count : 0; /* lanes mostly go up or down: one beyond all before is new */
		while (n && seen[n - 1] != line)
			n--;
		if (n)
			continue;
		uint32_t bank = tag_bank(line, bits);
		seen[count++] = line;
		low = min_u64(low, line);
		high = max_u64(high, line);
		if (taken[bank / 64] >> bank % 64 & 1) {
			cycles++;
			taken[0] = taken[1] = 0;
		}
		taken[bank / 64] |= 1ull << bank % 64;
	}
	return cycles;
}

/* Addresses of constants are taken one after the other, however near to each other they are. Where there is one, it mostly comes by way of registers
 * that lanes share (ULDC), and does not take this unit. */
static uint32_t constant_cycles(const struct gpu *gpu, const uint64_t *addresses, uint32_t lanes)
{
	uint64_t seen[MOST_LANES];
	uint32_t count = 0;
	for (uint32_t i = 0; i < lanes; i++) {
		uint32_t n = count;
		while (n && seen[n - 1] != addresses[i])
			n--;
		if (!n)
			seen[count++] = addresses[i];
	}
	return count > 1 ? gpu->const_each_cycles * count : 1;
}

/* Lanes of two parts that ask for the same word read it twice, unless lanes beside each other are alike. */
static uint32_t bank_turns(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *addresses, const uint32_t *numbers, uint32_t lanes)
{
	uint64_t placed[MOST_LANES];
	uint32_t words = (max_u32(kind->bytes, 1) + 3) / 4, part = max_u32(gpu->l1_banks / words, 1), all, sum = 0;
	if (part >= lanes || !gpu->l1_wide_parts)
		return fullest_bank(gpu->l1_banks, addresses, lanes, words);
	place_lanes(gpu, addresses, numbers, lanes, placed, &all);
	for (uint32_t apart = 1; apart <= 2; apart++)
		part *= lanes_alike(placed, all, apart) ? 2 : 1;
	for (uint32_t first = 0; first < all; first += part)
		sum += part_cycles(gpu->l1_banks, placed + first, min_u32(all - first, part), words);
	return sum;
}

/* Hits of L1 read its banks, as shared memory does; before that, the tags of some lines are looked up in a cycle. */
uint32_t unit_cycles(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *addresses, const uint32_t *numbers, uint32_t lanes,
                     uint32_t parts)
{
	bool of_l1 = kind->space == SPACE_global || kind->space == SPACE_generic; /* private memory is laid out so that lanes do not meet */
	if (kind->space == SPACE_const && gpu->const_each_cycles)
		return constant_cycles(gpu, addresses, min_u32(lanes, MOST_LANES));
	if (!gpu->l1_banks || !of_l1 || kind->store || kind->atomic || parts <= 1)
		return parts ? parts : 1;
	lanes = min_u32(lanes, MOST_LANES);
	return max_u32(tag_cycles(gpu, addresses, lanes, parts), bank_turns(gpu, kind, addresses, numbers, lanes));
}

/*
 * Lanes go in fours, in as many passes as these need. A pass reads 128 bytes for the four, which is 8 bytes of each of the texels that a filter weighs, and
 * gives each of them 8 bytes of a texel. On an H200 a warp's read of a texel of 16 bytes that hits L1 takes (tests/reference/h200-truth/micro.csv, in cycles)
 *
 *                 one channel of four    all four
 *   one texel              8.1             14.4 to 15.1      1 and 2 passes
 *   a filter              16.1             33.2 to 34.2      2 and 4 passes
 *
 * One channel: texture_again, whose machine code asks for x alone. All four: what the last eight of nine reads add (texture_32x8 and texture_16x16, 1024 x
 * 1024; of filters, 4096 x 4096 as well). Filters take as long where all the weight is on one texel: texture_again reads there. Filters of texels up to
 * 8 bytes were not measured; test benches of graphics cards find those of four halves as fast as those of four bytes.
 */
uint32_t texture_cycles(const struct gpu *gpu, uint32_t lanes, uint32_t texel_bytes, uint32_t asked_bytes, bool filtered)
{
	enum { PASS_BYTES = 8 };
	uint32_t cycles = (lanes + gpu->texels_per_cycle - 1) / gpu->texels_per_cycle, given = min_u32(texel_bytes, asked_bytes);
	uint32_t reads = filtered ? (texel_bytes + PASS_BYTES - 1) / PASS_BYTES : 1, passes = (given + PASS_BYTES - 1) / PASS_BYTES;
	return max_u32(cycles, 1) * max_u32(reads, 1) * max_u32(passes, 1);
}

uint32_t gpu_accesses(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *addresses, uint32_t lanes)
{
	lanes = lanes < MOST_LANES ? lanes : MOST_LANES;
	uint32_t n = 1;
	if (!lanes)
		return 1;
	struct memory_part parts[COALESCE_MOST_PARTS];
	if (kind->space == SPACE_shared)
		n = shared_cycles(gpu, kind, addresses, NULL, lanes);
	else if (kind->space != SPACE_none && kind->space != SPACE_texture && kind->space != SPACE_param)
		n = unit_cycles(gpu, kind, addresses, NULL, lanes, coalesce(gpu, kind, addresses, lanes, parts));
	return n ? n : 1;
}

/* ---- addresses from the code ---- */

struct lane {
	uint64_t tid[3];
	const struct launch_arguments *launch;
};

static uint64_t leaf_value(const struct code_node *n, const struct lane *l)
{
	size_t d = (size_t)(n->value < 0 || n->value > 2 ? 0 : n->value);
	switch (n->op) {
	case NODE_value:
		return (uint64_t)n->value;
	case NODE_param:
		return n->value >= 0 && n->value < l->launch->count && l->launch->known[n->value]
		           ? l->launch->values[n->value] : 0;
	case NODE_tid:
		return l->tid[d];
	case NODE_ntid:
		return l->launch->local[d];
	case NODE_nctaid:
		return l->launch->groups[d];
	default:
		return 0; /* the same for all lanes: any number does */
	}
}

/* What is not known of a node; the same for every lane. */
enum { KNOWN = 0, VARIES = 1, LOADED = 2, IN_LIST = 4, SCRAMBLED = 8 /* what was loaded, other than moved and scaled */ };

static bool is_linear(uint8_t op)
{
	return op == NODE_add || op == NODE_sub || op == NODE_mul || op == NODE_mad || op == NODE_shl || op == NODE_cvt;
}

static uint8_t state_of(const struct code_node *n, const uint8_t *states)
{
	if (n->op == NODE_varying || n->op == NODE_loaded)
		return n->op == NODE_varying ? VARIES : LOADED;
	uint8_t all = (uint8_t)((n->a < 0 ? 0 : states[n->a]) | (n->b < 0 ? 0 : states[n->b]) | (n->c < 0 ? 0 : states[n->c]));
	if (n->op == NODE_list)
		return all & (VARIES | SCRAMBLED) ? all : all & LOADED ? IN_LIST : all;
	/* The address of a list's element is its begin and something that is the same, or known, for all lanes. */
	return all && !is_linear(n->op) ? (uint8_t)(all | SCRAMBLED) : all;
}

/* All nodes for one lane. */
static void evaluate(const struct kernel_code *code, const struct lane *l, uint64_t *values, uint8_t *states)
{
	for (uint32_t i = 0; i < code->node_count; i++) {
		const struct code_node *n = &code->nodes[i];
		states[i] = state_of(n, states);
		values[i] = n->a < 0 ? operation_cut(leaf_value(n, l), n->to_bits)
		                     : operation_value(n, values[n->a], n->b < 0 ? 0 : values[n->b], n->c < 0 ? 0 : values[n->c]);
	}
}

struct warp_values {
	uint64_t *values; /* node i of lane l at l * node_count + i */
	uint8_t *states;
	uint32_t lanes;
};

static void evaluate_warp(const struct gpu *gpu, const struct kernel_code *code, const struct launch_arguments *launch,
                          uint32_t warp, struct warp_values *w)
{
	uint64_t threads = launch->local[0] * launch->local[1] * launch->local[2];
	w->lanes = 0;
	for (uint64_t i = (uint64_t)warp * gpu->warp_size; i < threads && w->lanes < gpu->warp_size; i++, w->lanes++) {
		struct lane l = {.launch = launch};
		l.tid[0] = i % launch->local[0];
		l.tid[1] = i / launch->local[0] % launch->local[1];
		l.tid[2] = i / launch->local[0] / launch->local[1];
		evaluate(code, &l, w->values + (size_t)w->lanes * code->node_count, w->states);
	}
}

/* Shared and constant memory are laid out to be read together, unless data says where; elsewhere each lane goes its own way. */
static uint32_t unknown_accesses(const struct code_instruction *in, uint8_t state)
{
	if (in->space == SPACE_shared)
		return state & VARIES || in->bytes > 4 ? 1 : ACCESSES_BY_CHANCE;
	return in->space == SPACE_const ? 1 : state == IN_LIST ? ACCESSES_OF_LIST : ACCESSES_BY_LANE;
}

static uint32_t accesses_of(const struct gpu *gpu, const struct kernel_code *code, const struct code_instruction *in,
                            const struct warp_values *w, bool *unknown)
{
	uint64_t addresses[MOST_LANES];
	struct access_kind kind = {.space = in->space, .atomic = in->class == CODE_atomic, .store = in->class == CODE_store,
	                           .bytes = in->bytes};
	uint8_t state = in->address < 0 ? VARIES : w->states[in->address];
	*unknown = state != KNOWN;
	if (in->space == SPACE_param || in->space == SPACE_texture || in->class == CODE_fence)
		*unknown = false;
	/* Private memory is interleaved by the hardware: equal offsets of all lanes lie together. */
	if (in->space == SPACE_local)
		*unknown = false;
	if (in->flags & CODE_EXPANDED) /* a library function's tables and descriptors: side by side */
		*unknown = false;
	if (is_gathered(gpu, code, in))
		return 1;
	if (*unknown)
		return unknown_accesses(in, state);
	for (uint32_t l = 0; l < w->lanes; l++)
		addresses[l] = in->address < 0 || in->space == SPACE_local
		                   ? (uint64_t)l * in->bytes : w->values[(size_t)l * code->node_count + (uint32_t)in->address];
	if (in->space == SPACE_param)
		return 1;
	if (in->class == CODE_texture)
		return texture_cycles(gpu, w->lanes, 0, in->bytes, false);
	return gpu_accesses(gpu, &kind, addresses, w->lanes);
}

uint16_t accesses_of_lanes(uint32_t usual, uint32_t active, uint32_t lanes)
{
	if (usual == ACCESSES_BY_LANE || usual == ACCESSES_OF_LIST)
		return (uint16_t)(active ? active : 1);
	if (usual == ACCESSES_BY_CHANCE)
		return 1;
	return (uint16_t)((usual * active + lanes - 1) / lanes);
}

int usual_accesses(const struct gpu *gpu, const struct kernel_code *code, const struct launch_arguments *launch,
                   uint16_t *out, uint32_t *unknown)
{
	enum { MOST_WARPS = 4 }; /* of a group, whose accesses are averaged: rows of a group differ, further warps repeat them */
	uint64_t threads = launch->local[0] * launch->local[1] * launch->local[2];
	uint64_t all = (threads + gpu->warp_size - 1) / gpu->warp_size;
	uint32_t warps = all < 1 ? 1 : all < MOST_WARPS ? (uint32_t)all : MOST_WARPS;
	struct warp_values w = {
		.values = calloc((size_t)(code->node_count + 1) * gpu->warp_size, sizeof *w.values),
		.states = calloc(code->node_count + 1, sizeof *w.states),
	};
	uint32_t *sums = calloc(code->code_count + 1, sizeof *sums);
	int result = w.values && w.states && sums ? 0 : -ENOMEM;
	*unknown = 0;
	for (uint32_t v = 0; v < warps && !result; v++) {
		evaluate_warp(gpu, code, launch, v, &w);
		for (uint32_t i = 0; i < code->code_count; i++) {
			bool is_unknown = false;
			if (code_accesses_memory(&code->code[i]))
				sums[i] += accesses_of(gpu, code, &code->code[i], &w, &is_unknown);
			*unknown += is_unknown && v == 0;
		}
	}
	for (uint32_t i = 0; i < code->code_count && !result; i++)
		out[i] = (uint16_t)(sums[i] || code_accesses_memory(&code->code[i]) ? (sums[i] + warps / 2) / warps : 1);
	free(w.values);
	free(w.states);
	free(sums);
	return result;
}
