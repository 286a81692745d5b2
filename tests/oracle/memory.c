/* Loads, stores and atomics. The lanes of an atomic instruction take turns, from lane 0 up. */
#include "tests/oracle/internal.h"

#include "tests/oracle/extended/extended.h"
#include "tests/oracle/values.h"

struct place {
	uint8_t *bytes;
	uint64_t size, base;
	uint8_t space;
};

/* The memory of a space as a lane sees it. A generic address belongs to the space whose window contains it. */
static struct place place_of(const struct warp *w, uint8_t space, uint64_t address, uint32_t lane)
{
	const struct run *r = w->run;
	uint64_t local_bytes = w->program->local_bytes, base = 0;
	if (space == SPACE_generic) {
		space = address - SHARED_BASE < WINDOW_BYTES  ? SPACE_shared
		        : address - LOCAL_BASE < WINDOW_BYTES ? SPACE_local
		                                              : SPACE_global;
		base = space == SPACE_shared ? SHARED_BASE : space == SPACE_local ? LOCAL_BASE : 0;
	}
	switch (space) {
	case SPACE_param: return (struct place){r->parameters, w->program->parameter_bytes, base, space};
	case SPACE_shared: return (struct place){r->shared, r->shared_bytes, base, space};
	case SPACE_local:
		return (struct place){r->local + (w->first_thread + lane) * local_bytes, local_bytes, base, space};
	default: return (struct place){r->global, r->global_bytes, GLOBAL_BASE, space};
	}
}

static uint8_t *locate(struct warp *w, const struct oracle_op *o, uint64_t address, uint32_t lane, uint8_t *space)
{
	struct place p = place_of(w, o->space, address, lane);
	uint64_t at = address - p.base, bytes = (uint64_t)o->element_bytes * o->elements;
	*space = p.space;
	if (at <= p.size && bytes <= p.size - at)
		return p.bytes + at;
	oracle_fail(w->run, "an access outside of its memory", w->at);
	return NULL;
}

static void tell(struct warp *w, const struct oracle_op *o, const uint64_t *addresses, uint32_t mask, uint8_t space)
{
	const struct oracle_events *events = &w->run->launch->events;
	if (!events->memory)
		return;
	struct oracle_access access = {.group = w->run->group,
	                               .warp = w->number,
	                               .instruction = w->at,
	                               .mask = mask,
	                               .bytes = (uint32_t)o->element_bytes * o->elements,
	                               .addresses = addresses,
	                               .space = space,
	                               .class = w->program->function->instructions[w->at].class};
	events->memory(events->user, &access);
}

static uint64_t load_value(const uint8_t *from, const struct oracle_op *o)
{
	uint64_t value = 0;
	memcpy(&value, from, o->element_bytes);
	if (o->type == TYPE_s8 || o->type == TYPE_s16 || o->type == TYPE_s32) {
		uint32_t unused = 64 - 8u * o->element_bytes;
		value = (uint64_t)((int64_t)(value << unused) >> unused);
	}
	return o->register_bits < 64 ? value & ((UINT64_C(1) << o->register_bits) - 1) : value;
}

static void load(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t addresses[ORACLE_WARP] = {0};
	const uint64_t *a = oracle_row(w, o->a);
	uint8_t space = o->space;
	LANES(mask, addresses[l] = a[l] + (uint64_t)o->offset;);
	for (uint32_t rest = mask; rest && !w->run->failed; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		const uint8_t *from = locate(w, o, addresses[l], l, &space);
		for (uint32_t e = 0; e < o->elements && from; e++)
			if (o->rows[e] != NO_ROW)
				oracle_row(w, o->rows[e])[l] = load_value(from + e * o->element_bytes, o);
	}
	tell(w, o, addresses, mask, space);
}

static void store(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t addresses[ORACLE_WARP] = {0};
	const uint64_t *a = oracle_row(w, o->a);
	uint8_t space = o->space;
	LANES(mask, addresses[l] = a[l] + (uint64_t)o->offset;);
	for (uint32_t rest = mask; rest && !w->run->failed; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		uint8_t *to = locate(w, o, addresses[l], l, &space);
		for (uint32_t e = 0; e < o->elements && to; e++)
			memcpy(to + e * o->element_bytes, &oracle_row(w, o->rows[e])[l], o->element_bytes);
	}
	tell(w, o, addresses, mask, space);
}

enum atomic {
	ATOMIC_ADD,
	ATOMIC_EXCH,
	ATOMIC_CAS,
	ATOMIC_MIN,
	ATOMIC_MAX,
	ATOMIC_AND,
	ATOMIC_OR,
	ATOMIC_XOR,
	ATOMIC_INC,
	ATOMIC_DEC
};

static bool less(uint64_t a, uint64_t b, uint8_t type)
{
	return type == TYPE_s32 ? (int32_t)a < (int32_t)b : type == TYPE_s64 ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t sum(uint64_t a, uint64_t b, uint8_t type)
{
	if (type == TYPE_f16 || type == TYPE_bf16)
		return oracle_from_double(oracle_to_double(a, type) + oracle_to_double(b, type), type);
	if (type == TYPE_f16x2)
		return sum(a >> 16 & 0xffff, b >> 16 & 0xffff, TYPE_f16) << 16 | sum(a & 0xffff, b & 0xffff, TYPE_f16);
	if (type == TYPE_f32)
		return put_f32(get_f32(a) + get_f32(b));
	return type == TYPE_f64 ? put_f64(get_f64(a) + get_f64(b)) : a + b;
}

/* PTX: a sum of f32 in global memory flushes subnormal numbers. */
static uint64_t flushed(uint64_t bits, uint8_t type, uint8_t space)
{
	return type == TYPE_f32 && space == SPACE_global && !(bits & 0x7f800000) ? bits & 0x80000000 : bits;
}

static uint64_t updated(enum atomic what, uint64_t old, uint64_t b, uint64_t c, uint8_t type, uint8_t space)
{
	switch (what) {
	case ATOMIC_ADD: return flushed(sum(flushed(old, type, space), flushed(b, type, space), type), type, space);
	case ATOMIC_EXCH: return b;
	case ATOMIC_CAS: return old == b ? c : old;
	case ATOMIC_MIN: return less(b, old, type) ? b : old;
	case ATOMIC_MAX: return less(old, b, type) ? b : old;
	case ATOMIC_AND: return old & b;
	case ATOMIC_OR: return old | b;
	case ATOMIC_XOR: return old ^ b;
	case ATOMIC_INC: return old >= b ? 0 : old + 1;
	case ATOMIC_DEC: return old == 0 || old > b ? b : old - 1;
	}
	return old;
}

static void atomic(struct warp *w, const struct oracle_op *o, uint32_t mask, enum atomic what)
{
	uint64_t addresses[ORACLE_WARP] = {0};
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	uint8_t space = o->space;
	LANES(mask, addresses[l] = a[l] + (uint64_t)o->offset;);
	for (uint32_t rest = mask; rest && !w->run->failed; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		uint8_t *at = locate(w, o, addresses[l], l, &space);
		if (!at)
			break;
		uint64_t old = 0;
		memcpy(&old, at, o->element_bytes);
		uint64_t value = updated(what, old, b[l], c[l], o->type, space);
		memcpy(at, &value, o->element_bytes);
		if (o->d != NO_ROW)
			oracle_row(w, o->d)[l] = old;
	}
	tell(w, o, addresses, mask, space);
}

#define ATOMICS(X)                                                                                                     \
	X(add, ADD)                                                                                                    \
	X(exch, EXCH) X(cas, CAS) X(min, MIN) X(max, MAX) X(and, AND) X(or, OR) X(xor, XOR) X(inc, INC) X(dec, DEC)
#define ATOMIC_HANDLER(name, NAME)                                                                                     \
	static void atomic_##name(struct warp *w, const struct oracle_op *o, uint32_t mask)                            \
	{                                                                                                              \
		atomic(w, o, mask, ATOMIC_##NAME);                                                                     \
	}
ATOMICS(ATOMIC_HANDLER)

oracle_handler oracle_memory_handler(const char *opcode)
{
#define ATOMIC_ROW(name, NAME) {#name, atomic_##name},
	static const struct {
		const char *word;
		oracle_handler handler;
	} atomics[] = {ATOMICS(ATOMIC_ROW)};
	if (!strncmp(opcode, "ld.", 3) || !strncmp(opcode, "ldu.", 4))
		return load;
	if (!strncmp(opcode, "st.", 3))
		return store;
	if (strncmp(opcode, "atom.", 5) && strncmp(opcode, "red.", 4))
		return NULL;
	for (size_t i = 0; i < GS_ARRAY_LEN(atomics); i++)
		if (oracle_has(opcode, atomics[i].word))
			return atomics[i].handler;
	return NULL;
}
