/* Rules about what warps ask of memory. */
#include "runtime/advice/rules.h"

#include <stdio.h>
#include <string.h>
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

/* Whether a line has the fault; if so, writes the evidence. */
typedef bool evidence_fn(const struct instruction_survey *s, char *text, size_t size);

/* A trial without the fault for each of the worst lines that have it. */
static void try_lines(const struct advice_rule *rule, const struct advice_case *c, double (*excess)(const struct advice_line *),
                      evidence_fn *evidence, enum warps_change_kind kind, struct advice_trials *out)
{
	const struct advice_line *worst[MOST_LINES];
	char text[sizeof ((struct advice *)0)->evidence];
	for (size_t i = 0, n = worst_lines(c, excess, worst); i < n; i++) {
		struct advice_trial *t = evidence(&worst[i]->sum, text, sizeof text) ? advice_try(rule, c, worst[i], kind, out) : NULL;
		if (t)
			memcpy(t->advice.evidence, text, sizeof text);
	}
}

static double wasted_sectors(const struct advice_line *l)
{
	return l->sum.sectors - l->sum.sectors_needed;
}

static bool sectors_evidence(const struct instruction_survey *s, char *text, size_t size)
{
	snprintf(text, size, "%.1f sectors of 32 bytes per request, %.1f would do", s->sectors / s->requests, s->sectors_needed / s->requests);
	return s->sectors > 1.1 * s->sectors_needed;
}

RULE(coalescing)
{
	try_lines(rule, c, wasted_sectors, sectors_evidence, CHANGE_coalesced, out);
}

static double wasted_turns(const struct advice_line *l)
{
	return l->sum.turns - l->sum.turns_needed;
}

static bool turns_evidence(const struct instruction_survey *s, char *text, size_t size)
{
	snprintf(text, size, "an access to local memory takes %.1f times as long as without bank conflicts", s->turns / s->turns_needed);
	return s->turns > 1.1 * s->turns_needed;
}

RULE(conflicts)
{
	try_lines(rule, c, wasted_turns, turns_evidence, CHANGE_conflicts, out);
}

static double repeated_operations(const struct advice_line *l)
{
	return l->sum.operations > l->sum.requests ? l->sum.operations - l->sum.requests : 0;
}

static bool operations_evidence(const struct instruction_survey *s, char *text, size_t size)
{
	snprintf(text, size, "%.1f atomic operations of a warp, one after the other", s->operations / s->requests);
	return s->operations > 2 * s->requests;
}

RULE(atomics)
{
	try_lines(rule, c, repeated_operations, operations_evidence, CHANGE_atomics, out);
}

static double repeated_requests(const struct advice_line *l)
{
	return l->sum.repeated;
}

static bool repeated_evidence(const struct instruction_survey *s, char *text, size_t size)
{
	snprintf(text, size, "%.0f%% of its loads ask for sectors that the load before asked for", 100 * s->repeated / s->requests);
	return s->repeated >= 0.4 * s->requests;
}

RULE(vectors)
{
	try_lines(rule, c, repeated_requests, repeated_evidence, CHANGE_vectors, out);
}
