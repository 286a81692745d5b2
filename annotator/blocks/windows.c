/*
 * How many iterations of each loop traced text traces, before it leaves some out (annotator/text/windows.c).
 *
 * Rates of loops, such as cycles per iteration or hits in caches, converge within 16 to 64 iterations. A work-item's trace is bounded
 * only if the product over a nest of loops is, so the loops of a nest share about 512 iterations of its innermost loop; the innermost
 * gets the most of them, because it runs most. All sizes are multiples of 4, and further windows have half of them: compilers unroll
 * loops by powers of 2, and what is left has to be a way through the unrolled code.
 *
 * A loop with few iterations, whose number is a constant, has no windows, as compilers unroll it wholly.
 */
#include "annotator/blocks/blocks.h"

#include "annotator/edits/functions.h"
#include "runtime/format/facts.h"

#include <errno.h>
#include <stdlib.h>

enum {
	MOST_CONSTANT = 128,  /* iterations of loops without windows, inner ones included */
	SOME_CONSTANT = 16,   /* with more than this, such loops count as one more level of the nest */
	NESTED = 3,           /* levels that make a long trace */
	MOST_CALLS_DEEP = 32,
};

/* First windows of loops in a nest of that many: of the innermost, and of all others. */
static const struct {
	unsigned innermost, outer;
} sizes[] = {{64, 64}, {64, 64}, {32, 16}, {32, 8}, {16, 4}};

/* Adds what runs inside of something to what is known of it. Returns whether that is news. */
static bool contain(struct loop_nest *n, struct loop_nest inside)
{
	bool news = inside.levels > n->levels || inside.constant > n->constant;
	n->levels = inside.levels > n->levels ? inside.levels : n->levels;
	n->constant = inside.constant > n->constant ? inside.constant : n->constant;
	return news;
}

/* The nest that a loop is, of what it contains. */
static struct loop_nest with_loop(const struct loop *l, struct loop_nest inside)
{
	unsigned long constant = inside.constant ? inside.constant : 1;
	if (l->trips && !inside.levels && l->trips * constant <= MOST_CONSTANT)
		return (struct loop_nest){0, l->trips * constant};
	return (struct loop_nest){inside.levels + 1, inside.constant};
}

static struct function *function_of(const struct annotation *a, const struct loop *l)
{
	for (size_t i = 0; i < a->function_count; i++)
		if (a->blocks[l->body].function == a->functions[i]->name)
			return a->functions[i];
	return NULL;
}

/* One step from the inside to the outside. Inner loops have higher ids. */
static bool collect_inside(struct annotation *a, struct loop_nest *inside, struct function **functions)
{
	bool news = false;
	for (size_t i = a->loop_count; i-- > 0;) {
		const struct loop *l = &a->loops[i];
		struct loop_nest n = with_loop(l, inside[i]);
		news |= contain(l->outer >= 0 ? &inside[l->outer] : &functions[i]->inside, n);
	}
	for (size_t i = 0; i < a->call_count; i++) {
		struct loop_call *c = &a->calls[i];
		news |= contain(c->loop >= 0 ? &inside[c->loop] : &c->from->inside, c->to->inside);
	}
	return news;
}

/* One step from the outside to the inside. */
static bool collect_around(struct annotation *a, const struct loop_nest *inside, unsigned *around, struct function **functions)
{
	bool news = false;
	for (size_t i = 0; i < a->loop_count; i++) {
		const struct loop *l = &a->loops[i];
		around[i] = (l->outer >= 0 ? around[l->outer] : functions[i]->levels_around) + (with_loop(l, inside[i]).levels > 0);
	}
	for (size_t i = 0; i < a->call_count; i++) {
		const struct loop_call *c = &a->calls[i];
		unsigned levels = c->loop >= 0 ? around[c->loop] : c->from->levels_around;
		news |= levels > c->to->levels_around;
		c->to->levels_around = levels > c->to->levels_around ? levels : c->to->levels_around;
	}
	return news;
}

static unsigned window_of(const struct loop *l, struct loop_nest inside, unsigned around)
{
	struct loop_nest n = with_loop(l, inside);
	if (!n.levels || !l->has_trips)
		return 0;
	unsigned within = n.levels - 1 + (n.constant > SOME_CONSTANT);
	size_t levels = around + within, last = GS_ARRAY_LEN(sizes) - 1;
	levels = levels < last ? levels : last;
	return within ? sizes[levels].outer : sizes[levels].innermost;
}

/* What is known of the length of a work-item's trace. */
static unsigned length_of_trace(struct loop_nest inside)
{
	return inside.levels >= NESTED ? HAZARD_NESTS : !inside.levels && !inside.constant ? HAZARD_STRAIGHT : 0;
}

/* Functions that call each other in a circle are no OpenCL C, but they end here, too. */
int choose_windows(struct annotation *a, struct gs_error *err)
{
	struct loop_nest *inside = calloc(a->loop_count + 1, sizeof *inside);
	unsigned *around = calloc(a->loop_count + 1, sizeof *around);
	struct function **functions = calloc(a->loop_count + 1, sizeof *functions);
	bool failed = !inside || !around || !functions;
	for (size_t i = 0; i < a->loop_count && !failed; i++)
		failed = !(functions[i] = function_of(a, &a->loops[i]));
	for (int i = 0; i < MOST_CALLS_DEEP && !failed; i++)
		if (!collect_inside(a, inside, functions))
			break;
	for (int i = 0; i < MOST_CALLS_DEEP && !failed; i++)
		if (!collect_around(a, inside, around, functions))
			break;
	for (size_t i = 0; i < a->loop_count && !failed; i++) {
		a->loops[i].window = window_of(&a->loops[i], inside[i], around[i]);
		a->loops[i].parts.innermost = !inside[i].levels && !inside[i].constant;
	}
	for (size_t i = 0; i < a->kernel_count && !failed; i++)
		for (size_t j = 0; j < a->function_count; j++)
			if (a->functions[j]->name == a->kernels[i].name)
				a->kernels[i].hazards |= length_of_trace(a->functions[j]->inside);
	free(inside);
	free(around);
	free(functions);
	return failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
