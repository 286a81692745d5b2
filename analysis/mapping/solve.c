/* Finds what the counters leave open and which trip counts would determine it, and writes the sums of all edges. */
#include "analysis/mapping/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- equations of trips ---- */

static bool has_open_variable(const struct mapping *m, const struct linear *l)
{
	for (uint32_t i = 0; i < m->variable_count; i++)
		if (linear_is_free(l, i))
			return true;
	return false;
}

/* Makes the equations of all loops, first for their bodies, then for the other blocks in them. The other blocks distinguish the
 * copies of a loop that the compiler unswitched (made once per outcome of a condition). */
static int all_trip_equations(const struct mapping *m, const struct mapping_source *source, struct trip_equations *out,
                              struct gs_error *err)
{
	for (uint32_t i = 0; i < source->loop_count; i++)
		if (source->loops[i].has_trips)
			find_trip_equations(m, source, i, source->loops[i].body, out);
	for (uint32_t id = 0; source->loop_of && id < m->id_count && id < source->counter_count; id++) {
		int32_t loop = source->loop_of[id];
		if (loop >= 0 && (uint32_t)loop < source->loop_count && source->loops[loop].has_trips &&
		    source->loops[loop].body != id)
			find_trip_equations(m, source, (uint32_t)loop, id, out);
	}
	return out->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

static bool counts_the_same(const struct trip_count *a, const struct trip_count *b)
{
	return a->loop == b->loop && a->block == b->block && a->factor == b->factor && a->residue == b->residue &&
	       a->kind == b->kind;
}

static const struct trip_count *find_trips(const struct trip_count *list, uint32_t count, const struct trip_count *wanted)
{
	for (uint32_t i = 0; i < count; i++)
		if (counts_the_same(&list[i], wanted))
			return &list[i];
	return NULL;
}

static int is_useful(const struct trip_equation *e, struct linear *l, bool *useful, struct gs_error *err)
{
	return linear_is_open(l, e->left, e->left_count, useful, err);
}

/* Adds left - counts of trips = 0. Trips without a counter are symbols after the counters. */
static int add_equation(const struct mapping *m, const struct trip_equation *e, const struct trip_count *trips,
                        uint32_t trip_count, uint32_t counter_count, struct linear *l, struct gs_error *err)
{
	struct linear_term *terms = calloc(e->left_count + e->right_count + 1u, sizeof *terms);
	uint32_t count = e->left_count;
	if (!terms)
		return gs_fail(err, ENOMEM, "out of memory");
	memcpy(terms, e->left, e->left_count * sizeof *terms);
	for (uint32_t i = 0; i < e->right_count; i++) {
		const struct trip_count *t = find_trips(trips, trip_count, &e->right[i].count);
		uint32_t counter = t->counter < counter_count ? t->counter : counter_count + (uint32_t)(t - trips);
		terms[count++] = (struct linear_term){m->variable_count + counter, -e->right[i].factor};
	}
	int result = linear_add(l, terms, count, err);
	free(terms);
	return result ? result : linear_solve(l, err);
}

static int want_trips_of(const struct trip_equation *e, struct trip_count **trips, uint32_t *count, struct gs_error *err)
{
	struct trip_count *grown = reallocarray(*trips, *count + e->right_count + 1u, sizeof *grown);
	if (!grown)
		return gs_fail(err, ENOMEM, "out of memory");
	*trips = grown;
	for (uint32_t i = 0; i < e->right_count; i++)
		if (!find_trips(grown, *count, &e->right[i].count)) {
			grown[*count] = e->right[i].count;
			grown[(*count)++].counter = UINT32_MAX;
		}
	return 0;
}

int mapping_wants(const struct mapping *m, const struct mapping_source *source, struct trip_count **out, uint32_t *count,
                  struct gs_error *err)
{
	struct trip_equations equations = {0};
	struct linear *l = NULL;
	struct trip_count *trips = NULL;
	uint32_t trip_count = 0;
	int result = mapping_system(m, source, &l, err);
	if (!result && has_open_variable(m, l))
		result = all_trip_equations(m, source, &equations, err);
	for (uint32_t i = 0; i < equations.count && !result; i++) {
		bool useful = false;
		result = is_useful(&equations.items[i], l, &useful, err);
		if (!useful)
			continue;
		if (!result)
			result = want_trips_of(&equations.items[i], &trips, &trip_count, err);
		if (!result)
			result = add_equation(m, &equations.items[i], trips, trip_count, source->counter_count, l, err);
	}
	trip_equations_free(&equations);
	linear_free(l);
	if (result) {
		free(trips);
		return result;
	}
	*out = trips;
	*count = trip_count;
	return 0;
}

/* Adds the equations whose trips are counted. */
static int close_with_trips(const struct mapping *m, const struct mapping_source *source, struct linear *l,
                            struct gs_error *err)
{
	struct trip_equations equations = {0};
	int result = source->trip_count ? all_trip_equations(m, source, &equations, err) : 0;
	for (uint32_t i = 0; i < equations.count && !result; i++) {
		const struct trip_equation *e = &equations.items[i];
		bool useful = false, counted = true;
		for (uint32_t j = 0; j < e->right_count; j++)
			counted &= find_trips(source->trips, source->trip_count, &e->right[j].count) != NULL;
		if (counted)
			result = is_useful(e, l, &useful, err);
		if (useful && !result)
			result = add_equation(m, e, source->trips, source->trip_count, source->counter_count, l, err);
	}
	trip_equations_free(&equations);
	return result;
}

/* ---- sums ---- */

struct sum_writer {
	const struct mapping *m;
	const struct linear *l;
	struct kernel_code *code;
	uint32_t *unknown_of; /* per free variable: its index in code->unknowns */
	uint32_t term_room;
};

static int add_term(struct sum_writer *s, uint32_t of, int64_t factor, struct gs_error *err)
{
	struct kernel_code *c = s->code;
	if (factor < INT32_MIN || factor > INT32_MAX)
		return gs_fail(err, ERANGE, "the target's loops need counts with a factor of %lld", (long long)factor);
	if (c->term_count == s->term_room) {
		uint32_t room = s->term_room ? s->term_room * 2 : 256;
		struct code_term *grown = reallocarray(c->terms, room, sizeof *grown);
		if (!grown)
			return gs_fail(err, ENOMEM, "out of memory");
		c->terms = grown;
		s->term_room = room;
	}
	c->terms[c->term_count++] = (struct code_term){of, (int32_t)factor};
	return 0;
}

/* Every free variable has an edge. Blocks are never left free (see slow_paths.c). */
static int add_unknowns(struct sum_writer *s, struct gs_error *err)
{
	struct kernel_code *c = s->code;
	s->unknown_of = calloc(s->m->variable_count + 1u, sizeof *s->unknown_of);
	c->unknowns = calloc(s->m->edge_count + 1u, sizeof *c->unknowns);
	if (!s->unknown_of || !c->unknowns)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < s->m->variable_count; i++)
		s->unknown_of[i] = UINT32_MAX;
	for (uint32_t e = 0; e < s->m->edge_count; e++) {
		uint32_t variable = s->m->variable_of[s->m->block_count + e];
		if (!linear_is_free(s->l, variable))
			continue;
		if (s->unknown_of[variable] == UINT32_MAX) {
			s->unknown_of[variable] = c->unknown_count;
			c->unknowns[c->unknown_count++] = (struct code_unknown){.edge = e};
		}
		c->unknowns[s->unknown_of[variable]].least |= s->m->library[e];
	}
	return 0;
}

static int add_sum(struct sum_writer *s, const struct linear_sum *sum, struct gs_error *err)
{
	struct kernel_code *c = s->code;
	int result = 0;
	for (uint32_t i = 0; i < sum->count && !result; i++) {
		uint32_t of = sum->terms[i].of;
		if (of >= s->m->variable_count)
			of -= s->m->variable_count;
		else if (s->unknown_of[of] == UINT32_MAX)
			return gs_fail(err, EINVAL, "an open count without an edge");
		else
			of = c->counter_count + s->unknown_of[of];
		result = add_term(s, of, sum->terms[i].factor, err);
	}
	return result;
}

static int add_edge_sum(struct sum_writer *s, uint32_t edge, struct gs_error *err)
{
	struct code_edge *e = &s->code->edges[edge];
	uint32_t variable = s->m->variable_of[s->m->block_count + edge];
	const struct linear_sum *value = linear_value(s->l, variable);
	int result;
	e->first_term = s->code->term_count;
	e->denominator = 1;
	if (linear_is_free(s->l, variable)) {
		result = add_term(s, s->code->counter_count + s->unknown_of[variable], 1, err);
	} else if (value->denominator > UINT32_MAX) {
		result = gs_fail(err, ERANGE, "the target's loops need counts divided by %lld", (long long)value->denominator);
	} else {
		e->denominator = (uint32_t)value->denominator;
		result = add_sum(s, value, err);
	}
	e->term_count = s->code->term_count - e->first_term;
	return result;
}

static int add_checks(struct sum_writer *s, struct gs_error *err)
{
	const struct linear_sum *checks;
	uint32_t count = linear_checks(s->l, &checks);
	int result = 0;
	s->code->checks = calloc(count + 1u, sizeof *s->code->checks);
	if (!s->code->checks)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < count && !result; i++) {
		struct code_check *check = &s->code->checks[s->code->check_count++];
		check->first_term = s->code->term_count;
		result = add_sum(s, &checks[i], err);
		check->term_count = s->code->term_count - check->first_term;
	}
	return result;
}

/* Only estimated edges need to know which edges are like them. */
static int add_likes(const struct mapping *m, const struct mapping_source *source, struct kernel_code *code,
                     struct gs_error *err)
{
	uint32_t *alike = code->unknown_count ? calloc(m->edge_count + 1u, sizeof *alike) : NULL;
	if (!code->unknown_count)
		return 0;
	int result = alike ? find_alike(m, source, alike, err) : gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t e = 0; e < m->edge_count && !result; e++)
		code->edges[e].alike = alike[e];
	free(alike);
	return result;
}

static int add_sums(const struct mapping *m, const struct linear *l, struct kernel_code *code, struct gs_error *err)
{
	struct sum_writer s = {.m = m, .l = l, .code = code};
	int result = add_unknowns(&s, err);
	for (uint32_t e = 0; e < m->edge_count && !result; e++)
		result = add_edge_sum(&s, e, err);
	if (!result)
		result = add_checks(&s, err);
	free(s.unknown_of);
	return result;
}

int mapping_solve(const struct mapping *m, const struct mapping_source *source, const char *arch,
                  struct kernel_code **out, struct gs_error *err)
{
	struct linear *l = NULL;
	struct kernel_code *code = NULL;
	int result = mapping_system(m, source, &l, err);
	if (!result)
		result = close_with_trips(m, source, l, err);
	if (!result)
		result = mapping_code(m, source, NULL, arch, &code, err);
	if (!result) {
		code->counter_count = source->counter_count;
		result = add_sums(m, l, code, err);
	}
	if (!result)
		result = add_likes(m, source, code, err);
	linear_free(l);
	if (result)
		code_free(code);
	else
		*out = code;
	return result;
}
