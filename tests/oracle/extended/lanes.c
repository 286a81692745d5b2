/* What lanes of a warp do together: shuffles, votes, matches, reductions. And moves between vectors and wider registers. */
#include "tests/oracle/internal.h"

#include "tests/oracle/extended/extended.h"

/* The lane that a lane reads from, and whether that is one of its segment. */
static uint32_t shuffle_source(const char *opcode, uint32_t lane, uint32_t b, uint32_t c, bool *valid)
{
	uint32_t segment = c >> 8 & 31, clamp = c & 31, by = b & 31;
	uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment, source;
	if (oracle_has(opcode, "up")) {
		source = lane - by;
		*valid = (int32_t)source >= (int32_t)last;
	} else if (oracle_has(opcode, "down")) {
		source = lane + by;
		*valid = source <= last;
	} else if (oracle_has(opcode, "bfly")) {
		source = lane ^ by;
		*valid = source <= last;
	} else {
		source = first | (by & ~segment);
		*valid = source <= last;
	}
	return *valid ? source : lane;
}

static void shuffle(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d), *p = o->d2 == NO_ROW ? NULL : oracle_row(w, o->d2), taken[ORACLE_WARP];
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	bool valid[ORACLE_WARP];
	for (uint32_t l = 0; l < ORACLE_WARP; l++) {
		uint32_t source = shuffle_source(o->opcode, l, (uint32_t)b[l], (uint32_t)c[l], &valid[l]);
		taken[l] = mask >> source & 1 ? a[source] : 0;
	}
	for (uint32_t l = 0; l < ORACLE_WARP; l++) {
		if (!(mask >> l & 1))
			continue;
		d[l] = taken[l];
		if (p)
			p[l] = valid[l];
	}
}

static uint32_t ballot(struct warp *w, const struct oracle_op *o, uint32_t lanes)
{
	const uint64_t *a = oracle_row(w, o->a);
	uint32_t set = 0;
	for (uint32_t l = 0; l < ORACLE_WARP; l++)
		set |= (uint32_t)((a[l] & 1) ^ (o->negated & 1)) << l;
	return set & lanes;
}

static void vote(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *members = oracle_row(w, o->b);
	for (uint32_t l = 0; l < ORACLE_WARP; l++) {
		if (!(mask >> l & 1))
			continue;
		uint32_t lanes = oracle_has(o->opcode, "sync") ? (uint32_t)members[l] & mask : mask, set = ballot(w, o, lanes);
		d[l] = oracle_has(o->opcode, "ballot") ? set
		       : oracle_has(o->opcode, "all")  ? set == lanes
		       : oracle_has(o->opcode, "any")  ? set != 0
		                                       : set == 0 || set == lanes;
	}
}

static void match(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d), *p = o->d2 == NO_ROW ? NULL : oracle_row(w, o->d2);
	const uint64_t *a = oracle_row(w, o->a), *members = oracle_row(w, o->b);
	for (uint32_t l = 0; l < ORACLE_WARP; l++) {
		uint32_t equal = 0, lanes = (uint32_t)members[l] & mask;
		if (!(mask >> l & 1))
			continue;
		for (uint32_t k = 0; k < ORACLE_WARP; k++)
			equal |= (uint32_t)(lanes >> k & 1 && a[k] == a[l]) << k;
		bool all = equal == lanes;
		d[l] = oracle_has(o->opcode, "any") ? equal : all ? lanes : 0;
		if (p)
			p[l] = all;
	}
}

static uint32_t reduced(const char *opcode, uint32_t x, uint32_t y)
{
	bool negative = oracle_has(opcode, "s32"), less = negative ? (int32_t)x < (int32_t)y : x < y;
	if (oracle_has(opcode, "add"))
		return x + y;
	if (oracle_has(opcode, "min"))
		return less ? x : y;
	if (oracle_has(opcode, "max"))
		return less ? y : x;
	return oracle_has(opcode, "and") ? x & y : oracle_has(opcode, "or") ? x | y : x ^ y;
}

static void redux(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d), results[ORACLE_WARP];
	const uint64_t *a = oracle_row(w, o->a), *members = oracle_row(w, o->b);
	for (uint32_t l = 0; l < ORACLE_WARP; l++) {
		bool first = true;
		results[l] = 0;
		for (uint32_t k = 0; k < ORACLE_WARP; k++) {
			if (!(members[l] >> k & 1 && mask >> k & 1))
				continue;
			results[l] = first ? (uint32_t)a[k] : reduced(o->opcode, (uint32_t)results[l], (uint32_t)a[k]);
			first = false;
		}
	}
	for (uint32_t rest = mask; rest; rest &= rest - 1)
		d[__builtin_ctz(rest)] = results[__builtin_ctz(rest)];
}

static void active_mask(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	for (uint32_t rest = mask; rest; rest &= rest - 1)
		oracle_row(w, o->d)[__builtin_ctz(rest)] = mask;
}

oracle_handler oracle_warp_handler(const char *opcode)
{
	static const struct {
		const char *word;
		oracle_handler handler;
	} handlers[] = {{"shfl", shuffle}, {"vote", vote}, {"match", match}, {"redux", redux}, {"activemask", active_mask}};
	for (size_t i = 0; i < GS_ARRAY_LEN(handlers); i++) {
		size_t length = strlen(handlers[i].word);
		if (!strncmp(opcode, handlers[i].word, length) && opcode[length] == '.')
			return handlers[i].handler;
	}
	return NULL;
}

/* mov.b64 d, {a, b}: rows[1..elements] are the parts, the lowest first. */
static void pack(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	uint32_t bits = 8u * oracle_type_bytes((enum oracle_type)o->type) / o->elements;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		uint64_t r = 0;
		for (uint32_t e = 0; e < o->elements; e++)
			r |= (oracle_row(w, o->rows[1 + e])[l] & (UINT64_MAX >> (64 - bits))) << e * bits;
		d[l] = r;
	}
}

static void unpack(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	const uint64_t *a = oracle_row(w, o->a);
	uint32_t bits = 8u * oracle_type_bytes((enum oracle_type)o->type) / o->elements;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		uint64_t v = a[l];
		for (uint32_t e = 0; e < o->elements; e++)
			if (o->rows[1 + e] != NO_ROW)
				oracle_row(w, o->rows[1 + e])[l] = v >> e * bits & (UINT64_MAX >> (64 - bits));
	}
}

oracle_handler oracle_vector_handler(const struct ptx_instruction *i)
{
	if (strncmp(i->opcode, "mov.b", 5) || i->operand_count < 3)
		return NULL;
	return i->operands[1].write ? unpack : pack;
}
