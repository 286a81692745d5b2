/* Every member of struct estimate has a row here: how it is written, and which values it may have. */
#include "runtime/estimates/kept/estimate_bytes.h"

#include <math.h>
#include <string.h>

enum field_kind {
	NUMBER,        /* double; finite */
	NUMBER_OR_NAN, /* the same, or not known */
	COUNT64,
	COUNT32,       /* uint32_t of at most `most` */
	COUNT16,
	TRUTH,
	NAME,          /* one of names */
};

static const size_t sizes[] = {[NUMBER] = sizeof(double), [NUMBER_OR_NAN] = sizeof(double), [COUNT64] = sizeof(uint64_t),
                               [COUNT32] = sizeof(uint32_t), [COUNT16] = sizeof(uint16_t), [TRUTH] = sizeof(bool),
                               [NAME] = sizeof(const char *)};

static const struct field {
	enum field_kind kind;
	size_t at, bytes;
	uint32_t most;
} fields[] = {
#define FIELD(kind, member, most) {kind, offsetof(struct estimate, member), sizeof((struct estimate *)0)->member, most}
#define ANY(kind, member) FIELD(kind, member, UINT32_MAX)
#define LINE(i) \
	ANY(COUNT32, divergence[i].line), ANY(COUNT16, divergence[i].file), ANY(NUMBER, divergence[i].executions), \
	ANY(NUMBER, divergence[i].divergent)
	ANY(NAME, model), ANY(NUMBER, cycles), ANY(NUMBER, time_ns), ANY(NUMBER, low_ns), ANY(NUMBER, high_ns), ANY(NUMBER, by),
	ANY(NUMBER, register_bank_conflicts), ANY(NUMBER, simulated_fraction), ANY(COUNT32, iterations),
	ANY(NUMBER, fixed_point.history), ANY(COUNT32, fixed_point.count), ANY(TRUTH, fixed_point.converged),
	ANY(NAME, fixed_point.start), ANY(NAME, fixed_point.model), ANY(NAME, limiter), ANY(COUNT64, thread_instructions),
	ANY(COUNT64, warp_instructions), ANY(COUNT64, warps), ANY(COUNT64, machine_instructions), ANY(NUMBER, by_pipe),
	ANY(COUNT32, occupancy.warps_per_block), ANY(COUNT32, occupancy.blocks_per_sm), ANY(NUMBER, occupancy.fraction),
	FIELD(COUNT32, occupancy.limit, OCCUPANCY_NONE), ANY(COUNT32, occupancy.allowed), ANY(NUMBER, lane_efficiency),
	LINE(0), LINE(1), LINE(2), LINE(3), LINE(4), LINE(5), LINE(6), LINE(7),
	ANY(COUNT64, needed.ids), FIELD(COUNT32, needed.count, MOST_NEEDED), ANY(TRUTH, sampled), ANY(NUMBER, spread), ANY(NUMBER_OR_NAN, memory.requests),
	ANY(NUMBER_OR_NAN, memory.transactions), ANY(NUMBER_OR_NAN, memory.l1_hit), ANY(NUMBER_OR_NAN, memory.l2_hit),
	ANY(NUMBER_OR_NAN, memory.dram_read_bytes), ANY(NUMBER_OR_NAN, memory.dram_written_bytes),
	ANY(NUMBER_OR_NAN, memory.dram_share), ANY(NUMBER_OR_NAN, memory.l2_share), ANY(NUMBER_OR_NAN, memory.atomic_share),
	ANY(NUMBER_OR_NAN, memory.shared_factor),
	ANY(NUMBER_OR_NAN, memory.atomics), ANY(NUMBER_OR_NAN, memory.load_latency), ANY(NUMBER_OR_NAN, accesses.load_requests),
	ANY(NUMBER_OR_NAN, accesses.load_sectors), ANY(NUMBER_OR_NAN, accesses.store_sectors),
	ANY(NUMBER_OR_NAN, accesses.shared_conflicts), ANY(NUMBER_OR_NAN, accesses.store_requests),
	ANY(NUMBER_OR_NAN, accesses.atomic_requests), ANY(NUMBER_OR_NAN, accesses.texture_requests),
	ANY(NUMBER_OR_NAN, accesses.private_requests), ANY(NUMBER_OR_NAN, accesses.shared_requests),
	ANY(NUMBER_OR_NAN, memory.l2_read_bytes), ANY(NUMBER_OR_NAN, memory.l2_written_bytes), ANY(NUMBER, unit_cycles),
	FIELD(COUNT32, flags, (UINT32_C(1) << FLAG_COUNT) - 1),
#undef LINE
#undef ANY
#undef FIELD
};

_Static_assert(ESTIMATE_MAX_LINES == 8, "there is a row for each line");
_Static_assert(FLAG_COUNT < 32, "flags are below 2^32");
_Static_assert(sizeof(enum occupancy_limit) == sizeof(uint32_t) && sizeof(flag_set) == sizeof(uint32_t), "they are written as such");

/* ---- names ---- */

/* Of models and limiters; 0: NULL. */
static const char *name_of(uint32_t number)
{
	static const char *const models[] = {NULL, "full", "optimistic", "probabilistic", "occupancy"};
	if (number < GS_ARRAY_LEN(models))
		return models[number];
	return cycle_kind_name((enum cycle_kind)(number - GS_ARRAY_LEN(models)));
}

enum { NAMES = 5 + CYCLE_KIND_COUNT };

static uint32_t number_of(const char *name)
{
	uint32_t i = 0;
	while (i < NAMES && (name ? !name_of(i) || strcmp(name, name_of(i)) : name_of(i) != NULL))
		i++;
	return i;
}

/* ---- writing ---- */

static bool write_name(const char *at, struct gs_buf *out)
{
	const char *name;
	memcpy(&name, at, sizeof name);
	uint32_t number = number_of(name);
	gs_buf_add(out, &number, sizeof number);
	return number < NAMES;
}

bool estimate_write(const struct estimate *e, const struct instruction_count *instructions, size_t count, struct gs_buf *out)
{
	uint64_t there = instructions ? count : 0;
	bool sound = true;
	struct gs_buf all = {0};
	for (size_t i = 0; i < GS_ARRAY_LEN(fields); i++) {
		const char *at = (const char *)e + fields[i].at;
		if (fields[i].kind == NAME)
			sound &= write_name(at, &all);
		else
			gs_buf_add(&all, at, fields[i].bytes);
	}
	gs_buf_add(&all, &there, sizeof there);
	if (instructions)
		gs_buf_add(&all, instructions, count * sizeof *instructions);
	sound &= !all.failed;
	if (sound)
		gs_buf_add(out, all.data, all.len);
	gs_buf_free(&all);
	return sound && !out->failed;
}

/* ---- reading ---- */

struct byte_reader {
	const char *at;
	size_t left;
};

static bool take_bytes(struct byte_reader *r, void *out, size_t bytes)
{
	if (r->left < bytes)
		return false;
	memcpy(out, r->at, bytes);
	r->at += bytes;
	r->left -= bytes;
	return true;
}

static bool read_name(struct byte_reader *r, char *out)
{
	uint32_t number;
	if (!take_bytes(r, &number, sizeof number) || number >= NAMES)
		return false;
	const char *name = name_of(number);
	memcpy(out, &name, sizeof name);
	return true;
}

/* Whether one value of a kind may be so. */
static bool is_sound(const struct field *f, const char *at)
{
	double number;
	uint32_t count;
	switch (f->kind) {
	case NUMBER:
	case NUMBER_OR_NAN:
		memcpy(&number, at, sizeof number);
		return isfinite(number) || (f->kind == NUMBER_OR_NAN && isnan(number));
	case COUNT32:
		memcpy(&count, at, sizeof count);
		return count <= f->most;
	case TRUTH:
		return *at == 0 || *at == 1;
	case COUNT64:
	case COUNT16:
	case NAME:
		break;
	}
	return true;
}

static bool read_field(struct byte_reader *r, const struct field *f, char *out)
{
	if (f->kind == NAME)
		return read_name(r, out);
	for (size_t i = 0; i < f->bytes; i += sizes[f->kind], out += sizes[f->kind]) {
		if (r->left < sizes[f->kind] || !is_sound(f, r->at)) /* before it is put into a bool */
			return false;
		take_bytes(r, out, sizes[f->kind]);
	}
	return true;
}

static bool is_whole(const struct estimate *e, size_t files)
{
	bool whole = e->model && e->limiter && e->time_ns >= 0 && e->cycles >= 0;
	for (int i = 0; i < ESTIMATE_MAX_LINES; i++)
		whole &= e->divergence[i].divergent == 0 || e->divergence[i].file < files;
	return whole;
}

bool estimate_read(const void *bytes, size_t length, size_t files, struct estimate *out, struct instruction_count *instructions,
                   size_t count)
{
	struct byte_reader r = {bytes, length};
	uint64_t there;
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < GS_ARRAY_LEN(fields); i++)
		if (!read_field(&r, &fields[i], (char *)out + fields[i].at))
			return false;
	if (!is_whole(out, files) || !take_bytes(&r, &there, sizeof there) || (there != 0 && there != count) ||
	    r.left != there * sizeof *instructions || (instructions && !there))
		return false;
	static const struct field number = {.kind = NUMBER};
	for (size_t i = 0; i < r.left; i += sizeof(double))
		if (!is_sound(&number, r.at + i))
			return false;
	return !instructions || take_bytes(&r, instructions, count * sizeof *instructions);
}
