/*
 * Host text that counts trips. All counts of one block in one loop share a private variable, the trip number. It is set to 0 before
 * the loop. The counts follow from its last value, after the loop, where compilers often know it without running the loop.
 * Only a loop that return or goto may leave counts at each trip. With n the last number, u the factor and r the residue:
 *   #{i in 1..n : i mod u = r} = floor((n + u - r) / u) for r > 0, floor(n / u) for r = 0
 */
#include "annotator/text/trips.h"

/* Host text counts it. If not, the reader of the counters computes it. */
static bool is_counted(const struct annotation *a, const struct block *b)
{
	return b->trips.kind && !(b->computed && annotation_layout(a) == COUNTERS_BY_ITEM);
}

static bool same_number(const struct annotation *a, const struct block *x, const struct block *y)
{
	return is_counted(a, x) && x->trips.loop == y->trips.loop && x->trips.block == y->trips.block;
}

/* The trip number is named after the first counter that uses it. */
static unsigned number_of(const struct annotation *a, const struct block *b)
{
	const struct block *first = a->blocks;
	while (!same_number(a, first, b))
		first++;
	return first->id;
}

bool has_trip_numbers(const struct annotation *a, unsigned block)
{
	for (size_t i = 0; i < a->block_count; i++)
		if (is_counted(a, &a->blocks[i]) && a->blocks[i].trips.block == block)
			return true;
	return false;
}

static void count_at_once(const struct block *b, unsigned number, const char *separator, struct gs_buf *out)
{
	const struct trips *t = &b->trips;
	if (t->kind == TRIPS_COUNT_EVERY)
		gs_buf_printf(out, "(void)(__gpusim_t%u %% %uu == %uu && (__gpusim_block(%u), 1))%s", number, t->factor,
		              t->residue, b->id, separator);
	else
		gs_buf_printf(out, "(void)(__gpusim_t%u == %uu && (__gpusim_block(%u), 1))%s", number, t->factor, b->id,
		              separator);
}

/* Written at the marker of a block. */
void write_trip_numbers(const struct annotation *a, unsigned block, const char *separator, struct gs_buf *out)
{
	for (size_t i = 0; i < a->block_count; i++) {
		const struct block *b = &a->blocks[i];
		if (!is_counted(a, b) || b->trips.block != block)
			continue;
		unsigned number = number_of(a, b);
		if (number == b->id)
			gs_buf_printf(out, "++__gpusim_t%u%s", number, separator);
		if (a->loops[b->trips.loop].leaves)
			count_at_once(b, number, separator, out);
	}
}

static void count_at_end(const struct block *b, unsigned number, struct gs_buf *out)
{
	const struct trips *t = &b->trips;
	if (t->kind == TRIPS_COUNT_REACHED)
		gs_buf_printf(out, "__gpusim_trips(%u, __gpusim_t%u >= %uu);", b->id, number, t->factor);
	else
		gs_buf_printf(out, "__gpusim_trips(%u, (__gpusim_t%u + %uu) / %uu);", b->id, number,
		              t->residue ? t->factor - t->residue : 0, t->factor);
}

/* Written before and after a loop. Braces around both hold the trip numbers. */
void write_trips(const struct annotation *a, const struct edit *loop, struct gs_buf *out)
{
	bool any = false;
	for (size_t i = 0; i < a->block_count; i++) {
		const struct block *b = &a->blocks[i];
		if (!is_counted(a, b) || b->trips.loop != loop->block)
			continue;
		unsigned number = number_of(a, b);
		if (loop->kind == EDIT_LOOP && number == b->id)
			gs_buf_printf(out, "%sunsigned int __gpusim_t%u = 0;", any ? "" : "{", number);
		else if (loop->kind == EDIT_LOOP_END && !a->loops[b->trips.loop].leaves)
			count_at_end(b, number, out);
		any = true;
	}
	if (any && loop->kind == EDIT_LOOP_END)
		gs_buf_puts(out, "}");
}
