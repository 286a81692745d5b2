/*
 * Chooses the columns of each kernel: the counters that its work-items store. These are the counters of the blocks of the kernel and
 * of all functions that it calls. Left out are blocks with a formula, trips that the reader of the columns can compute, and the
 * kernel's own entry, because every work-item enters once. Blocks of the kernel itself that run at most once come first: they are
 * bits of shared words.
 */
#include "annotator/text/columns.h"

#include "annotator/edits/functions.h"
#include "annotator/source/array.h"
#include "runtime/format/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_WORDS = 64,            /* 4 bytes each per work-item */
	MOST_VARIABLES = 1024,      /* with more, compilers become slow */
	MOST_INLINED = 4000,        /* blocks of all kernels together: compilers take time for each */
	MOST_ACROSS_BARRIERS = 128, /* POCL has up to 4096 of each on a thread's stack */
};

static struct function *function_of_block(const struct annotation *a, const struct block *b)
{
	for (size_t i = 0; i < a->function_count; i++)
		if (a->functions[i]->name == b->function)
			return a->functions[i];
	return NULL;
}

/* Marks the functions that the kernel reaches. Returns whether it reaches itself: then its clone is entered, too. */
static bool mark_reached_from(struct annotation *a, struct kernel_entry *k, struct function *self)
{
	bool called = false;
	unmark_reached(a);
	mark_reached(self);
	k->has_barrier = false;
	for (size_t i = 0; i < a->function_count; i++) {
		const struct function *f = a->functions[i];
		k->has_barrier |= f->reached && f->has_barrier;
		for (size_t j = 0; f->reached && j < f->callee_count; j++)
			called |= f->callees[j] == self;
	}
	return called;
}

/* The loop is entered at most once: its last trip number is the count of the block, which the work-item stores. */
static bool is_computable(const struct annotation *a, const struct kernel_entry *k, const struct block *b)
{
	if (!b->trips.kind)
		return false;
	const struct block *around = &a->blocks[a->loops[b->trips.loop].parent], *of = &a->blocks[b->trips.block];
	return (around->id == k->entry || around->bound == BOUND_ONCE) && !of->term_count && of->bound != BOUND_ONCE;
}

static int add_column(unsigned **list, size_t *count, size_t block)
{
	unsigned *slot = array_grow(list, count, sizeof *slot);
	if (slot)
		*slot = (unsigned)block;
	return slot ? 0 : -ENOMEM;
}

static int choose_columns_of(struct annotation *a, struct kernel_entry *k, struct function *const *owners, bool compute)
{
	const struct function *self = owners[k->entry];
	free(k->columns);
	free(k->computed);
	k->columns = k->computed = NULL;
	k->column_count = k->flag_count = k->computed_count = 0;
	bool called = mark_reached_from(a, k, owners[k->entry]);
	for (int flags = 1; flags >= 0; flags--) {
		for (size_t i = 0; i < a->block_count; i++) {
			if (!owners[i] || !owners[i]->reached || a->blocks[i].term_count || (i == k->entry && !called))
				continue;
			if (flags != (owners[i] == self && !called && a->blocks[i].bound == BOUND_ONCE))
				continue;
			struct block *b = &a->blocks[i];
			b->computed = compute && owners[i] == self && !self->called && is_computable(a, k, b);
			if (b->computed ? add_column(&k->computed, &k->computed_count, i)
			                : add_column(&k->columns, &k->column_count, i))
				return -ENOMEM;
		}
		k->flag_count = flags ? k->column_count : k->flag_count;
	}
	size_t flag_words = (k->flag_count + COUNTER_FLAGS - 1) / COUNTER_FLAGS;
	k->summed = flag_words + k->column_count - k->flag_count > MOST_WORDS;
	k->flag_count = k->summed ? 0 : k->flag_count;
	/* Nothing can be computed from sums. */
	return k->summed && k->computed_count ? choose_columns_of(a, k, owners, false) : 0;
}

/* The number of blocks of a function and of all that it calls; `most` if there are more or it calls itself. */
static size_t inlined_blocks(const struct annotation *a, struct function *f, size_t most)
{
	size_t count = 0;
	if (f->reached)
		return most;
	f->reached = true;
	for (size_t i = 0; i < a->block_count; i++)
		count += a->blocks[i].function == f->name;
	for (size_t i = 0; i < f->callee_count && count < most; i++)
		count += inlined_blocks(a, f->callees[i], most - count);
	f->reached = false;
	return count < most ? count : most;
}

bool inlines_all(const struct annotation *a)
{
	size_t left = MOST_INLINED;
	unmark_reached(a);
	for (size_t i = 0; i < a->function_count && left; i++)
		if (a->functions[i]->kernel)
			left -= inlined_blocks(a, a->functions[i], left);
	return left > 0;
}

/* Puts two counters that live across barriers into one word: such values cost by their number. */
static void choose_halves(struct annotation *a)
{
	a->half_count = 0;
	for (size_t i = 0; i < a->block_count; i++) {
		struct block *b = &a->blocks[i];
		bool shares = b->between_barriers && b->bound == BOUND_ROUND && !b->term_count;
		if (a->half_count & 1 && b->function != b[-1].function)
			a->half_count++;
		b->half = shares ? a->half_count++ : -1;
	}
}

int choose_columns(struct annotation *a, struct gs_error *err)
{
	struct function **owners = calloc(a->block_count + 1, sizeof *owners);
	int result = owners ? 0 : -ENOMEM;
	choose_halves(a);
	for (size_t i = 0; i < a->block_count && !result; i++)
		owners[i] = i && a->blocks[i].function == a->blocks[i - 1].function ? owners[i - 1]
		                                                                    : function_of_block(a, &a->blocks[i]);
	for (size_t i = 0; i < a->kernel_count && !result; i++)
		result = choose_columns_of(a, &a->kernels[i], owners, true);
	free(owners);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

void annotation_without_variables(struct annotation *a)
{
	a->without_variables = true;
}

enum counter_layout annotation_layout(const struct annotation *a)
{
	if (a->without_variables)
		return COUNTERS_BY_GROUP;
	for (size_t i = 0; i < a->kernel_count; i++)
		if (a->kernels[i].column_count > (a->kernels[i].has_barrier ? MOST_ACROSS_BARRIERS : MOST_VARIABLES))
			return COUNTERS_BY_GROUP;
	return COUNTERS_BY_ITEM;
}

/* The block is in the loop, or in one inside of it, of the same function. */
static bool is_in_loop(const struct annotation *a, unsigned block, unsigned loop)
{
	int l = a->blocks[block].loop;
	while (l >= 0 && l != (int)loop)
		l = a->loops[l].outer;
	return l >= 0;
}

static bool is_countable(const struct annotation *a, const struct trips *t)
{
	return t->loop < a->loop_count && a->loops[t->loop].has_trips && t->block < a->block_count &&
	       a->blocks[t->block].trips.kind == TRIPS_NONE && is_in_loop(a, t->block, t->loop) && t->factor &&
	       (t->kind == TRIPS_COUNT_EVERY ? t->residue < t->factor : t->kind == TRIPS_COUNT_REACHED && !t->residue);
}

static bool counts_the_same(const struct trips *x, const struct trips *y)
{
	return x->kind == y->kind && x->loop == y->loop && x->block == y->block && x->factor == y->factor &&
	       x->residue == y->residue;
}

static size_t summed_kernels(const struct annotation *a)
{
	size_t count = 0;
	for (size_t i = 0; i < a->kernel_count; i++)
		count += a->kernels[i].summed;
	return count;
}

int annotation_want_trips(struct annotation *a, const struct trips *want, unsigned *counter, struct gs_error *err)
{
	if (!is_countable(a, want))
		return gs_fail(err, EINVAL, "the trips of loop %u cannot be counted by %u", want->loop, want->factor);
	for (size_t i = 0; i < a->block_count; i++)
		if (counts_the_same(&a->blocks[i].trips, want)) {
			*counter = (unsigned)i;
			return 0;
		}
	enum counter_layout layout = annotation_layout(a);
	size_t summed = summed_kernels(a);
	struct block *b = array_grow(&a->blocks, &a->block_count, sizeof *b);
	if (!b)
		return gs_fail(err, ENOMEM, "out of memory");
	*b = a->blocks[want->block];
	b->id = (unsigned)a->block_count - 1;
	b->kind = "trips";
	b->loop = (int)want->loop;
	b->trips = *want;
	b->bound = BOUND_NONE;
	b->terms = NULL;
	b->term_count = 0;
	*counter = b->id;
	int result = choose_columns(a, err);
	if (!result && (annotation_layout(a) != layout || summed_kernels(a) != summed)) {
		a->block_count--;
		result = choose_columns(a, err);
		return result ? result : gs_fail(err, ENOSPC, "a kernel would have too many counters");
	}
	return result;
}
