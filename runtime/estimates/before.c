#include "runtime/estimates/before.h"

#include "models/accesses/image.h"
#include "models/accesses/requests.h"
#include "models/most_bytes.h"
#include "models/stored.h"
#include "models/util/minmax.h"

#include <math.h>
#include <string.h>

/* Times as many bytes of sectors as are asked for; and the part of L2 that these are at least: who asks for less goes to the same places again, mostly. */
enum { SCATTERED = 2, LITTLE = 16 };

enum { MOST_BYTES = 1 << 30 }; /* times as many arguments do not overflow; no L2 is as large */

/* Where an argument points to, in its own memory or another's. */
struct pointer {
	uint64_t at;
	bool stored;              /* what it points to is stored to */
	double asked, stored_most; /* bytes that the launch asks for by it, and those that it stores, at most */
};

/* What a launch asks for, by the arguments that its addresses depend on. */
struct asked_bytes {
	uint32_t stored; /* bits of arguments */
	bool fits;       /* all of its memory is in L2 at once */
	struct most_bytes all, stores;
};

static struct pointer pointer_of(const struct asked_bytes *a, size_t argument, uint64_t at)
{
	bool known = argument < MOST_BYTES_ARGUMENTS;
	return (struct pointer){.at = at, .stored = known && a->stored >> argument & 1,
	                        .asked = a->all.elsewhere + (known ? a->all.of[argument] : 0),
	                        .stored_most = a->stores.elsewhere + (known ? a->stores.of[argument] : 0)};
}

/* Two of the same place are one. */
static void insert_pointer(struct pointer *list, size_t *count, struct pointer p)
{
	size_t n = *count;
	for (; n && list[n - 1].at > p.at; n--)
		list[n] = list[n - 1];
	if (!n || list[n - 1].at < p.at) {
		list[n] = p;
		++*count;
		return;
	}
	list[n - 1].stored |= p.stored;
	list[n - 1].asked += p.asked;
	list[n - 1].stored_most += p.stored_most;
	memmove(list + n, list + n + 1, (*count - n) * sizeof *list);
}

/* Those into an argument's memory, upwards. Where none is known, it is used from its begin on. */
static size_t find_pointers(const struct launch_record *l, size_t count, size_t argument, const struct asked_bytes *a, struct pointer *out)
{
	uint64_t all = argument_memory(l->argument_bytes[argument]);
	size_t found = 0;
	for (size_t i = 0; i < count && l->argument_values; i++) {
		uint64_t at = l->argument_values[i] & ((1ull << ARGUMENT_BITS) - 1);
		if (argument_of_address(l->argument_values[i]) == argument && at < all)
			insert_pointer(out, &found, pointer_of(a, i, at));
	}
	if (!found)
		out[found++] = pointer_of(a, argument, 0);
	return found;
}

/* Whether work-items, all of which fit at once, store a result each and no more: results then come when all groups end. */
static bool store_last(const struct gpu *gpu, const struct launch_profile *p, uint64_t most_stored)
{
	enum { RESULT = 16 }; /* bytes: the largest store of a lane */
	uint64_t items = p->global[0] * p->global[1] * p->global[2];
	return items <= (uint64_t)gpu->sm_count * gpu->max_warps_per_sm * gpu->warp_size && most_stored <= RESULT * items;
}


/* What the launch uses of what a pointer points to: where it goes anywhere, sectors of all of it, else the first bytes. It may go to the same places again and
 * again; of memory that fits into L2, it is taken to use all that its trace goes through. */
static struct memory_use use_of(const struct pointer *p, uint64_t bytes, size_t argument, bool fits, const struct trace_glance *scattered)
{
	double most = p->asked * (scattered ? scattered->spread : 1);
	if (scattered && fits && argument < GLANCE_ARGUMENTS)
		most = fmax(most, (double)scattered->extent[argument]);
	return (struct memory_use){.begin = p->at, .bytes = most < (double)bytes ? (uint64_t)most : bytes};
}

/* The parts of an argument's memory: each pointer's goes to the next one. Returns how many there are. */
static size_t list_uses(const struct gpu *gpu, const struct launch_record *l, const struct launch_profile *p, size_t argument, bool fits,
                        const struct trace_glance *scattered, const struct pointer *pointers, size_t count, struct memory_use *out)
{
	const struct argument_memory *m = &l->argument_memory[argument];
	uint64_t all = argument_memory(l->argument_bytes[argument]);
	size_t made = 0;
	for (size_t n = 0; n < count && m->buffer; n++) {
		uint64_t end = n + 1 < count ? pointers[n + 1].at : all, bytes = min_u64(end - pointers[n].at, MOST_BYTES);
		struct memory_use use = use_of(&pointers[n], bytes, argument, fits, scattered);
		if (!use.bytes)
			continue;
		use.argument = (uint32_t)argument;
		use.buffer = m->buffer;
		use.stored = pointers[n].stored ? min_u64(use.bytes, (uint64_t)fmin(pointers[n].stored_most, MOST_BYTES)) : 0;
		use.length = scattered && argument < GLANCE_ARGUMENTS ? max_u64(use.bytes, min_u64(bytes, scattered->extent[argument])) : use.bytes;
		use.copied = made ? 0 : min_u64(m->copied, min_u64(all, MOST_BYTES));
		use.largest = m->largest;
		use.written = made ? 0 : min_u64(m->written, min_u64(all, MOST_BYTES));
		use.last = use.stored == use.bytes && store_last(gpu, p, use.stored);
		out[made++] = use;
	}
	return made;
}

/* Managed memory among what a launch uses. */
static double wait_for_pages(struct page_history *h, const struct gpu *gpu, const struct launch_record *l, uint64_t groups, const struct memory_use *uses,
                             size_t count)
{
	struct page_use managed[MEMORY_ARGUMENTS];
	size_t made = 0;
	for (size_t i = 0; i < min_u64(l->argument_count, MEMORY_ARGUMENTS) && l->managed && l->argument_pages; i++) {
		const struct argument_pages *pages = &l->argument_pages[i];
		struct page_use use = {l->argument_memory[i].buffer, argument_memory(l->argument_bytes[i]), 0, pages->touched, pages->untouched};
		for (size_t n = 0; n < count; n++)
			use.asked += uses[n].argument == i ? uses[n].length : 0;
		if (pages->known && use.buffer)
			managed[made++] = use;
	}
	return page_history_launch(h, gpu, groups, managed, made);
}

/* Arguments that point to memory, their own or another's. */
static uint32_t pointers_of(const struct launch_record *l, size_t count)
{
	uint32_t pointers = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t own = l->argument_bytes[i], to = l->argument_values ? (uint64_t)argument_of_address(l->argument_values[i]) : i;
		pointers |= own || (to < count && l->argument_bytes[to]) ? 1u << i : 0;
	}
	return pointers;
}

static bool fits_l2(const struct gpu *gpu, const struct launch_record *l, size_t count)
{
	double all = 0;
	for (size_t i = 0; i < count; i++)
		all += (double)argument_memory(l->argument_bytes[i]);
	return all <= (double)gpu->l2_bytes / gpu->l2_partitions;
}

static struct asked_bytes what_is_asked(const struct gpu *gpu, const struct launch_record *l, size_t count, const struct launch_profile *p)
{
	struct asked_bytes a = {.stored = stored_arguments(p->code), .fits = fits_l2(gpu, l, count), .all.elsewhere = INFINITY, .stores.elsewhere = INFINITY};
	if (!p->counts)
		return a;
	uint32_t pointers = pointers_of(l, count);
	a.all = launch_most_bytes(p, pointers, false);
	a.stores = launch_most_bytes(p, pointers, true);
	return a;
}

/* The glance of a launch that goes anywhere, else NULL. Who asks for little of much goes to the same places again, mostly. */
static const struct trace_glance *glance_if_scattered(const struct gpu *gpu, const struct asked_bytes *a, const struct trace_glance *glance)
{
	double most = a->all.elsewhere;
	for (size_t i = 0; i < MOST_BYTES_ARGUMENTS; i++)
		most = fmax(most, a->all.elsewhere + a->all.of[i]);
	bool little = !a->fits && most * (glance ? glance->spread : 1) < (double)gpu->l2_bytes / LITTLE;
	return glance && glance->spread >= SCATTERED && !little ? glance : NULL;
}

static void find_memory_before(struct gpu_state *s, const struct gpu *gpu, const struct launch_record *l, const struct trace_glance *glance,
                               struct launch_profile *p)
{
	struct memory_use uses[MEMORY_USES];
	struct pointer pointers[MEMORY_ARGUMENTS + 1];
	size_t count = l->argument_memory && l->argument_bytes ? min_u64(l->argument_count, MEMORY_ARGUMENTS) : 0, made = 0;
	const struct asked_bytes asked = what_is_asked(gpu, l, count, p);
	const struct trace_glance *scattered = glance_if_scattered(gpu, &asked, glance);
	for (size_t i = 0; i < count; i++) { /* a pointer is in one argument's memory: there are no more than twice as many parts as arguments */
		size_t found = find_pointers(l, count, i, &asked, pointers);
		made += list_uses(gpu, l, p, i, asked.fits, scattered, pointers, found, uses + made);
	}
	s->pages_ns = wait_for_pages(&s->pages, gpu, l, p->groups[0] * p->groups[1] * p->groups[2], uses, made);
	memory_history_launch(&s->memory, gpu, uses, made, &p->memory_before);
}

void find_state_before(struct gpu_state *s, const struct gpu *gpu, const struct launch_record *l, uint64_t number, const struct trace_glance *glance,
                       struct launch_profile *p)
{
	uint64_t groups = p->groups[0] * p->groups[1] * p->groups[2];
	p->code_before = code_history_launch(&s->code, gpu, number, p->code->code_count, groups);
	p->parameters_before = constant_history_launch(&s->constants, gpu, groups);
	find_memory_before(s, gpu, l, glance, p);
}
