/* Rules about what warps ask of memory. */
#include "runtime/advice/rules.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_LINES = 3 }; /* of a kernel, that a rule tries */

typedef double line_excess(const struct advice_line *line);

static bool is_among(const struct advice_line *const *list, size_t count, const struct advice_line *line)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == line)
			return true;
	return false;
}

/* The lines with the largest excess, most first; none with hardly any of it. */
static size_t worst_lines(const struct advice_case *c, line_excess *excess, const struct advice_line *worst[MOST_LINES])
{
	static const double least = 0.05; /* of the excess of all lines */
	double all = 0;
	size_t count = 0;
	for (size_t i = 0; i < c->line_count; i++)
		all += excess(&c->lines[i]);
	for (; count < MOST_LINES; count++) {
		const struct advice_line *next = NULL;
		for (size_t i = 0; i < c->line_count; i++) {
			const struct advice_line *l = &c->lines[i];
			if (l->line && !is_among(worst, count, l) && excess(l) > least * all && (!next || excess(l) > excess(next)))
				next = l;
		}
		if (!next)
			break;
		worst[count] = next;
	}
	return count;
}

static double wasted_sectors(const struct advice_line *l)
{
	return l->sum.sectors - l->sum.sectors_needed;
}

RULE(coalescing)
{
	const struct advice_line *worst[MOST_LINES];
	for (size_t i = 0, n = worst_lines(c, wasted_sectors, worst); i < n; i++) {
		const struct instruction_survey *s = &worst[i]->sum;
		struct advice_trial *t = s->sectors > 1.1 * s->sectors_needed ? advice_try(rule, c, worst[i], CHANGE_coalesced, out) : NULL;
		if (t)
			snprintf(t->advice.evidence, sizeof t->advice.evidence, "%.1f sectors of 32 bytes per request, %.1f would do",
			         s->sectors / s->requests, s->sectors_needed / s->requests);
	}
}

static double wasted_turns(const struct advice_line *l)
{
	return l->sum.turns - l->sum.turns_needed;
}

RULE(conflicts)
{
	const struct advice_line *worst[MOST_LINES];
	for (size_t i = 0, n = worst_lines(c, wasted_turns, worst); i < n; i++) {
		const struct instruction_survey *s = &worst[i]->sum;
		struct advice_trial *t = s->turns > 1.1 * s->turns_needed ? advice_try(rule, c, worst[i], CHANGE_conflicts, out) : NULL;
		if (t)
			snprintf(t->advice.evidence, sizeof t->advice.evidence, "an access to local memory takes %.1f times as long as without bank conflicts",
			         s->turns / s->turns_needed);
	}
}

static double repeated_operations(const struct advice_line *l)
{
	return l->sum.operations > l->sum.requests ? l->sum.operations - l->sum.requests : 0;
}

RULE(atomics)
{
	const struct advice_line *worst[MOST_LINES];
	for (size_t i = 0, n = worst_lines(c, repeated_operations, worst); i < n; i++) {
		const struct instruction_survey *s = &worst[i]->sum;
		struct advice_trial *t = s->operations > 2 * s->requests ? advice_try(rule, c, worst[i], CHANGE_atomics, out) : NULL;
		if (t)
			snprintf(t->advice.evidence, sizeof t->advice.evidence, "%.1f atomic operations of a warp, one after the other", s->operations / s->requests);
	}
}

static double repeated_requests(const struct advice_line *l)
{
	return l->sum.repeated;
}

RULE(vectors)
{
	const struct advice_line *worst[MOST_LINES];
	for (size_t i = 0, n = worst_lines(c, repeated_requests, worst); i < n; i++) {
		const struct instruction_survey *s = &worst[i]->sum;
		struct advice_trial *t = s->repeated >= 0.4 * s->requests ? advice_try(rule, c, worst[i], CHANGE_vectors, out) : NULL;
		if (t)
			snprintf(t->advice.evidence, sizeof t->advice.evidence, "%.0f%% of its loads ask for sectors that the load before asked for", 100 * s->repeated / s->requests);
	}
}
