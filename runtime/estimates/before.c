#include "runtime/estimates/before.h"

#include "models/accesses/image.h"
#include "models/accesses/requests.h"
#include "models/most_bytes.h"
#include "models/stored.h"
#include "models/util/minmax.h"

#include <math.h>

/* Times as many bytes of sectors as are asked for; and the part of L2 that these are at least: who asks for less goes to the same places again, mostly. */
enum { SCATTERED = 2, LITTLE = 16 };

/* What so many bytes of the use are spread over: where the launch goes anywhere, as far as its trace goes. */
static uint64_t length_of(const struct memory_use *use, uint64_t bytes, const struct trace_glance *glance)
{
	return glance && use->argument < GLANCE_ARGUMENTS ? max_u64(bytes, min_u64(use->bytes, glance->extent[use->argument])) : bytes;
}

/* A launch that asks for few bytes does not use all of a large buffer: it uses the first ones or, where it goes anywhere, sectors of all of it. Where all
 * buffers fit into L2 together, it does not matter. */
static void bound_uses(const struct gpu *gpu, const struct launch_profile *p, const struct trace_glance *glance, struct memory_use *uses, size_t count)
{
	uint64_t all = 0;
	for (size_t i = 0; i < count; i++)
		all += uses[i].bytes;
	if (all <= gpu->l2_bytes / gpu->l2_partitions || !p->counts)
		return;
	double most = launch_most_bytes(p);
	bool scattered = glance && glance->spread >= SCATTERED && most * glance->spread >= (double)gpu->l2_bytes / LITTLE;
	most *= scattered ? glance->spread : 1;
	for (size_t i = 0; i < count && most < 1e18; i++) {
		uint64_t bytes = min_u64(uses[i].bytes, (uint64_t)most);
		uses[i].length = length_of(&uses[i], bytes, scattered ? glance : NULL);
		uses[i].bytes = bytes;
	}
}

/* Where an argument points to, in its own memory or another's. */
struct pointer {
	uint64_t at;
	bool stored; /* what it points to is stored to */
};

/* Those into an argument's memory, upwards. Where none is known, it is used from its begin on. */
static size_t find_pointers(const struct launch_record *l, size_t count, size_t argument, uint32_t stored, struct pointer *out)
{
	uint64_t all = argument_memory(l->argument_bytes[argument]);
	size_t found = 0;
	for (size_t i = 0; i < count && l->argument_values; i++) {
		struct pointer p = {l->argument_values[i] & ((1ull << ARGUMENT_BITS) - 1), stored >> i & 1};
		size_t n = found;
		if (argument_of_address(l->argument_values[i]) != argument || p.at >= all)
			continue;
		for (; n && out[n - 1].at > p.at; n--)
			out[n] = out[n - 1];
		out[n] = p;
		found++;
	}
	if (!found)
		out[found++] = (struct pointer){0, stored >> argument & 1};
	return found;
}

/* Whether work-items, all of which fit at once, store a result each and no more: results then come when all groups end. */
static bool store_last(const struct gpu *gpu, const struct launch_profile *p, uint64_t most_stored)
{
	enum { RESULT = 16 }; /* bytes: the largest store of a lane */
	uint64_t items = p->global[0] * p->global[1] * p->global[2];
	return items <= (uint64_t)gpu->sm_count * gpu->max_warps_per_sm * gpu->warp_size && most_stored <= RESULT * items;
}

enum { MOST_BYTES = 1 << 30 }; /* times as many arguments do not overflow; no L2 is as large */

/* The parts of an argument's memory: each pointer's goes to the next one. Returns how many there are. */
static size_t list_uses(const struct gpu *gpu, const struct launch_record *l, const struct launch_profile *p, size_t argument, uint64_t most,
                        struct pointer *pointers, size_t count, struct memory_use *out)
{
	const struct argument_memory *m = &l->argument_memory[argument];
	uint64_t all = argument_memory(l->argument_bytes[argument]);
	size_t made = 0;
	for (size_t n = 0; n < count; n++) {
		uint64_t end = n + 1 < count ? pointers[n + 1].at : all, bytes = min_u64(end - pointers[n].at, MOST_BYTES);
		uint64_t own = pointers[n].stored ? min_u64(bytes, most) : 0;
		if (!bytes && n + 1 < count)
			pointers[n + 1].stored |= pointers[n].stored;
		if (!m->buffer || !bytes)
			continue;
		out[made] = (struct memory_use){
			.argument = (uint32_t)argument,
			.buffer = m->buffer,
			.begin = pointers[n].at,
			.bytes = bytes,
			.length = bytes,
			.copied = made ? 0 : min_u64(m->copied, min_u64(all, MOST_BYTES)),
			.largest = m->largest,
			.written = made ? 0 : min_u64(m->written, min_u64(all, MOST_BYTES)),
			.stored = own,
			.last = own == bytes && store_last(gpu, p, most),
		};
		made++;
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

static void find_memory_before(struct gpu_state *s, const struct gpu *gpu, const struct launch_record *l, const struct trace_glance *glance,
                               struct launch_profile *p)
{
	struct memory_use uses[MEMORY_USES];
	struct pointer pointers[MEMORY_ARGUMENTS];
	size_t count = l->argument_memory && l->argument_bytes ? min_u64(l->argument_count, MEMORY_ARGUMENTS) : 0, made = 0;
	uint32_t stored = stored_arguments(p->code);
	uint64_t most = p->counts ? (uint64_t)fmin(launch_most_stored(p), MOST_BYTES) : MOST_BYTES;
	for (size_t i = 0; i < count; i++) { /* a pointer is in one argument's memory: there are no more than twice as many parts as arguments */
		size_t found = find_pointers(l, count, i, stored, pointers);
		made += list_uses(gpu, l, p, i, most, pointers, found, uses + made);
	}
	bound_uses(gpu, p, glance, uses, made);
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
