/* What a launch's counter buffer says: the counts of all blocks, of the launch and of single work-items. */
#include "runtime/model/profile.h"

#include "models/util/divide.h"
#include "runtime/format/counters.h"

#include <string.h>

/* ---- the buffer ---- */

/* Where groups have sums: how many. */
size_t launch_columns(const struct launch_record *l)
{
	return l->artifact->counts_by_item ? l->facts->column_count : l->artifact->block_count;
}

static size_t at_most(uint64_t wanted, uint64_t room)
{
	uint64_t n = wanted > room ? room : wanted;
	return n ? (size_t)n : 1;
}

void launch_share_room(struct launch_record *l, uint64_t groups, uint64_t items, uint64_t room)
{
	size_t words = l->facts->words;
	if (!l->artifact->counts_by_item || l->facts->summed) {
		l->slots = at_most(groups, room / (launch_columns(l) + 1));
		return;
	}
	l->slots = at_most(groups, words ? room / 2 : room);
	l->places = words ? at_most(items, l->slots < room ? (room - l->slots) * 2 / words : 0) : 0;
}

/* Some group may have no place. */
static bool lacks_places(const struct launch_record *l)
{
	uint64_t items = 1;
	for (int d = 0; d < 3; d++)
		if (__builtin_mul_overflow(items, l->global[d], &items))
			return true;
	return items > l->places;
}

size_t launch_words(const struct launch_record *l)
{
	if (!l->artifact->counts_by_item)
		return COUNTER_HEADER_WORDS + l->slots * launch_columns(l);
	if (l->facts->summed)
		return COUNTER_HEADER_WORDS + l->slots + 1 + l->slots * launch_columns(l);
	return COUNTER_HEADER_WORDS + l->slots + 1 + (l->places * l->facts->words + 1) / 2 +
	       (l->facts->words && lacks_places(l) ? COUNTER_SPARE / 2 : 0);
}

/* Like launch_words, with one slot and no places. */
size_t scratch_words(const struct launch_record *l)
{
	struct launch_record one = {.artifact = l->artifact, .facts = l->facts, .slots = 1, .global = {l->global[0], l->global[1], l->global[2]}};
	return launch_words(&one);
}

/* ---- the launch ---- */

/* Group layout: the sums over the slots. */
static void sum_slots(const struct launch_record *l, uint64_t *counts)
{
	const uint64_t *slot = l->counters + COUNTER_HEADER_WORDS;
	size_t blocks = l->artifact->block_count;
	for (size_t s = 0; s < l->slots; s++)
		for (size_t b = 0; b < blocks; b++)
			counts[b] += slot[s * blocks + b];
}

/* Item layout: the local size that a group has left in its slot. */
static uint64_t local_size_of(const struct launch_record *l, size_t slot, int dimension)
{
	uint64_t word = l->counters[COUNTER_HEADER_WORDS + slot];
	return word >> dimension * COUNTER_SIZE_BITS & ((1u << COUNTER_SIZE_BITS) - 1);
}

/* Item layout: the work-items of all groups; most groups are as large as the one before them. */
static uint64_t sum_sizes(const struct launch_record *l)
{
	const uint64_t *words = l->counters + COUNTER_HEADER_WORDS;
	uint64_t sum = 0, size = 0;
	for (size_t s = 0; s < l->slots; s++) {
		if (!s || words[s] != words[s - 1])
			size = local_size_of(l, s, 0) * local_size_of(l, s, 1) * local_size_of(l, s, 2);
		sum += size;
	}
	return sum;
}

/* Item layout: the sums of the groups, or the words of the work-items. */
static const uint64_t *group_sums(const struct launch_record *l)
{
	return l->counters + COUNTER_HEADER_WORDS + l->slots + 1;
}

static const uint32_t *item_words(const struct launch_record *l)
{
	return (const uint32_t *)group_sums(l);
}

enum { FLAG_PLANES = 8 };

/* Adds the planes up, and clears them. */
static void flush_planes(uint64_t planes[FLAG_PLANES], uint64_t sums[COUNTER_FLAGS])
{
	for (int p = 0; p < FLAG_PLANES; p++) {
		for (int bit = 0; bit < COUNTER_FLAGS; bit++)
			sums[bit] += ((planes[p] >> bit & 1) + (planes[p] >> (bit + COUNTER_FLAGS) & 1)) << p;
		planes[p] = 0;
	}
}

/* How many words have each flag, in one pass: two words at a time, a counter for each bit, whose digits are the planes. */
static void sum_flags(const uint32_t *column, size_t count, uint64_t sums[COUNTER_FLAGS])
{
	uint64_t planes[FLAG_PLANES] = {0};
	memset(sums, 0, COUNTER_FLAGS * sizeof *sums);
	for (size_t i = 0, added = 0; i < count; i += 2) {
		uint64_t carry = column[i] | (i + 1 < count ? (uint64_t)column[i + 1] << COUNTER_FLAGS : 0);
		for (int p = 0; carry; p++) {
			uint64_t next = planes[p] & carry;
			planes[p] ^= carry;
			carry = next;
		}
		if (++added == (1u << FLAG_PLANES) - 1) {
			flush_planes(planes, sums);
			added = 0;
		}
	}
	flush_planes(planes, sums);
}

static void add_flags(const struct launch_record *l, uint64_t *counts)
{
	const struct artifact_kernel *k = l->facts;
	uint64_t sums[COUNTER_FLAGS];
	for (size_t i = 0; i < k->flag_count; i++) {
		if (i % COUNTER_FLAGS == 0)
			sum_flags(item_words(l) + i / COUNTER_FLAGS * l->places, l->places, sums);
		counts[k->columns[i]] += sums[i % COUNTER_FLAGS];
	}
}

static uint64_t sum_column(const uint32_t *column, size_t count, uint32_t *most)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < count; i++) {
		sum += column[i];
		*most = column[i] > *most ? column[i] : *most;
	}
	return sum;
}

/* The sum of counter_trips. The factor is how often a loop is unrolled, mostly a power of two. */
static uint64_t sum_trips(const struct computed_trips *t, const uint32_t *column, size_t count)
{
	uint64_t sum = 0, more = t->residue ? t->factor - t->residue : 0;
	for (size_t i = 0; i < count; i++)
		sum += t->every ? quotient(column[i] + more, t->factor) : column[i] >= t->factor;
	return sum;
}

static bool sum_group_sums(const struct launch_record *l, uint64_t *counts)
{
	const struct artifact_kernel *k = l->facts;
	const uint64_t *sums = group_sums(l);
	bool full = false;
	for (size_t s = 0; s < l->slots; s++)
		for (size_t i = 0; i < k->column_count; i++, sums++) {
			full |= *sums >= COUNTER_FULL_SUM;
			counts[k->columns[i]] += *sums & ~COUNTER_FULL_SUM;
		}
	return !full;
}

/* Item layout: the sums over the work-items; false when a counter was full. */
static bool sum_items(const struct launch_record *l, uint64_t *counts)
{
	const struct artifact_kernel *k = l->facts;
	const uint32_t *words = item_words(l), *column = words;
	uint32_t most = 0;
	if (k->entry_block >= 0)
		counts[k->entry_block] += sum_sizes(l);
	if (k->summed)
		return sum_group_sums(l, counts);
	add_flags(l, counts);
	column += (k->words - (k->column_count - k->flag_count)) * l->places;
	for (size_t i = k->flag_count; i < k->column_count; i++, column += l->places)
		counts[k->columns[i]] += sum_column(column, l->places, &most);
	for (size_t i = 0; i < k->computed_count; i++) {
		const struct computed_trips *t = &k->computed[i];
		counts[t->block] += sum_trips(t, words + t->word * l->places, l->places);
	}
	return most != COUNTER_FULL;
}

enum { RUN = 32, RUNS = 256 }; /* work-items in a row, and such runs at a time */

/* Adds the largest word of each run, or how many flags any of its words has. */
static void add_largest(const uint32_t *column, size_t count, bool flags, uint64_t sums[RUNS])
{
	for (size_t first = 0; first < count; first += RUN) {
		size_t end = count - first < RUN ? count : first + RUN;
		uint32_t most = 0, any = 0;
		for (size_t i = first; i < end; i++) {
			most = column[i] > most ? column[i] : most;
			any |= column[i];
		}
		sums[first / RUN] += flags ? (uint32_t)__builtin_popcount(any) : most;
	}
}

/* Item layout: what neighbours do together. */
static void measure_runs(const struct launch_record *l, struct launch_profile *p)
{
	const struct artifact_kernel *k = l->facts;
	size_t flag_words = k->words - (k->column_count - k->flag_count);
	for (size_t first = 0; first < l->places; first += RUN * RUNS) {
		size_t count = l->places - first < RUN * RUNS ? l->places - first : RUN * RUNS;
		uint64_t sums[RUNS] = {0};
		for (size_t w = 0; w < k->words; w++)
			add_largest(item_words(l) + w * l->places + first, count, w < flag_words, sums);
		for (size_t r = 0; r < (count + RUN - 1) / RUN; r++) {
			p->together += (double)sums[r];
			p->longest = (double)sums[r] > p->longest ? (double)sums[r] : p->longest;
		}
	}
	p->together *= p->scale;
}

/* The counts that flow determines from the others; false when one would be negative, so that others must be wrong. It is
 * 0 then: averages that are rounded can come to that. */
static bool derive_counts(const struct artifact *a, uint64_t *counts)
{
	bool sound = true;
	for (size_t i = 0; i < a->term_count; i++) {
		const struct count_term *t = &a->terms[i];
		counts[t->block] += (uint64_t)(int64_t)t->factor * counts[t->of];
		if ((i + 1 == a->term_count || a->terms[i + 1].block != t->block) && (int64_t)counts[t->block] < 0) {
			counts[t->block] = 0;
			sound = false;
		}
	}
	return sound;
}

/* Item layout: work-items of the groups that have places; groups are numbered one after the other. */
static uint64_t items_with_places(const struct launch_result *r, uint64_t items)
{
	const struct launch_record *l = r->launch;
	uint64_t size = r->profile.local[0] * r->profile.local[1] * r->profile.local[2];
	if (!l->artifact->counts_by_item || !l->facts->words || items <= l->places)
		return items;
	return l->places / size * size;
}

/* Item layout: groups without a slot do not store their size, but their work-items have places, and each entered once. */
static uint64_t add_groups_without_slot(const struct launch_record *l, uint64_t entries, uint64_t items)
{
	return entries >= l->slots && entries < items ? items : entries;
}

/* Work-items that began, as far as they have left a trace of it. */
static uint64_t entries_of(const struct launch_record *l, const uint64_t *counts)
{
	return l->facts->entry_block >= 0 ? counts[l->facts->entry_block] : l->artifact->counts_by_item ? sum_sizes(l) : 0;
}

static void fill_counts(struct launch_result *r, uint64_t items, uint64_t groups)
{
	const struct launch_record *l = r->launch;
	uint64_t *counts = r->counts;
	bool by_item = l->artifact->counts_by_item && !l->facts->summed;
	if (groups > l->slots && !by_item)
		flag_add(&r->flags, FLAG_groups_share_counters);
	if (!l->artifact->counts_by_item)
		sum_slots(l, counts);
	else if (!sum_items(l, counts))
		flag_add(&r->flags, FLAG_counters_full);
	uint64_t entries = entries_of(l, counts);
	if (groups > l->slots && by_item && entries)
		entries = add_groups_without_slot(l, entries, items);
	if (l->facts->entry_block >= 0)
		counts[l->facts->entry_block] = entries;
	uint64_t counted = items_with_places(r, items);
	r->profile.scale = 1;
	if (counted < items) { /* those that were counted stand for all */
		flag_add(&r->flags, FLAG_items_not_counted);
		r->profile.scale = counted ? (double)items / (double)counted : 1;
		if (l->facts->entry_block >= 0)
			counts[l->facts->entry_block] = counted;
	}
	if (!derive_counts(l->artifact, counts) || entries != items)
		flag_add(&r->flags, FLAG_counts_disagree);
}

/* ---- single work-items ---- */

/* Item layout: where the words of a group's first work-item are, as counters.h numbers them; its sizes in local. */
static uint64_t first_item(const struct lane_reader *p, uint64_t group, uint64_t local[3])
{
	uint64_t at[3];
	for (int d = 0; d < 3; d++) {
		at[d] = group % p->groups[d] * p->local[d];
		group /= p->groups[d];
		local[d] = p->global[d] - at[d] < p->local[d] ? p->global[d] - at[d] : p->local[d];
	}
	return (at[2] * p->global[1] + at[1] * local[2]) * p->global[0] + at[0] * local[1] * local[2];
}

static uint64_t group_items(const struct lane_reader *r)
{
	return r->local[0] * r->local[1] * r->local[2];
}

/* Of groups that have places, where these are spread. */
static uint64_t spread_room(const struct lane_reader *r)
{
	return r->launch->places / group_items(r);
}

static uint64_t group_count(const struct lane_reader *r)
{
	return r->groups[0] * r->groups[1] * r->groups[2];
}

/* Whether the group has places; where its first work-item's words are, and its sizes. */
static bool find_place(const struct lane_reader *r, uint64_t group, uint64_t *first, uint64_t local[3])
{
	*first = first_item(r, group, local);
	if (!r->launch->spread)
		return *first + local[0] * local[1] * local[2] <= r->launch->places;
	uint64_t room = spread_room(r), place = counter_place(group, group_count(r), room);
	*first = place * group_items(r);
	return place < room;
}

/* Which of the first planes or rows, of which `whole` have places, is like the one with this number: the first for the last, because both are
 * borders. */
static uint64_t alike(uint64_t number, uint64_t all, uint64_t whole)
{
	return number + 1 == all ? 0 : 1 + (number - 1) % (whole - 1);
}

/* At which borders of the grid a group is. */
static uint32_t borders_of(const struct lane_reader *r, uint64_t group)
{
	uint32_t all = 0;
	for (int d = 0; d < 3; d++) {
		uint64_t at = group % r->groups[d];
		group /= r->groups[d];
		all = all * 3 + (at == 0 ? 0 : at + 1 == r->groups[d] ? 2 : 1);
	}
	return all;
}

/* Spread places: the group of the same stretch that has one. If it is not at the same borders, the nearest group that is and has one, in the same
 * row, column or file; there may be none near. */
static uint64_t nearest_with_place(const struct lane_reader *r, uint64_t group)
{
	enum { FAR = 16 };
	uint64_t all = group_count(r), room = spread_room(r), best = counter_chosen(group * room / all, all, room);
	const uint64_t steps[] = {1, r->groups[0], r->groups[0] * r->groups[1]};
	uint32_t borders = borders_of(r, group);
	if (borders_of(r, best) == borders)
		return best;
	for (uint64_t i = 0; i < FAR * 2 * GS_ARRAY_LEN(steps); i++) {
		uint64_t apart = (i / 6 + 1) * steps[i % 3], other = i % 6 < 3 ? group + apart : group - apart; /* beyond all if it would be negative */
		if (other < all && counter_place(other, all, room) < room && borders_of(r, other) == borders)
			return other;
	}
	return best;
}

/* A group that has places, for one that has none: at the same place of such a plane, or row. */
static uint64_t group_with_places(const struct lane_reader *r, uint64_t group)
{
	if (r->launch->spread)
		return spread_room(r) ? nearest_with_place(r, group) : 0;
	const uint64_t units[] = {r->groups[0] * r->groups[1], r->groups[0]};
	uint64_t counted = r->launch->places / (r->local[0] * r->local[1] * r->local[2]);
	for (size_t u = 0; u < GS_ARRAY_LEN(units); u++) {
		uint64_t unit = units[u], whole = counted / unit;
		if (whole > 1 && group >= unit)
			return group % unit + unit * alike(group / unit, units[0] * r->groups[2] / unit, whole);
	}
	return counted ? group % counted : 0;
}

static const struct group_place *place_of(struct lane_reader *r, uint64_t group)
{
	struct group_place *p = &r->place;
	uint64_t other[3];
	if (!p->known || p->group != group) {
		p->counted = find_place(r, group, &p->first, p->local);
		if (!p->counted)
			find_place(r, group_with_places(r, group), &p->first, other);
		p->group = group;
		p->known = true;
	}
	return p;
}

double profile_longest(struct launch_result *r, const struct launch_trace *groups)
{
	const struct launch_record *l = r->launch;
	const struct artifact_kernel *k = l->facts;
	size_t flag_words = k->words - (k->column_count - k->flag_count);
	double longest = 0;
	for (size_t g = 0; g < groups->group_count && l->artifact->counts_by_item && !k->summed; g++) {
		const struct group_place *p = place_of(&r->reader, groups->groups[g].group);
		uint64_t size = p->local[0] * p->local[1] * p->local[2];
		uint64_t sums[RUNS] = {0};
		if (!p->counted || size > RUN * RUNS)
			continue;
		for (size_t w = 0; w < k->words; w++)
			add_largest(item_words(l) + w * l->places + p->first, size, w < flag_words, sums);
		for (size_t i = 0; i < (size + RUN - 1) / RUN; i++)
			longest = (double)sums[i] > longest ? (double)sums[i] : longest;
	}
	return longest;
}

/* Item layout: the words of one work-item and, after them, whether it exists: the last groups may be smaller. */
static void gather_item(void *ctx, uint64_t group, uint32_t item, uint32_t *row)
{
	struct lane_reader *r = ctx;
	const struct launch_record *l = r->launch;
	const uint32_t *words = item_words(l);
	const struct group_place *p = place_of(r, group);
	uint64_t size = p->local[0] * p->local[1] * p->local[2];
	bool exists = item < size;
	uint64_t index = exists && p->first + item < l->places ? p->first + item : 0;
	for (size_t w = 0; w < l->facts->words; w++)
		row[w] = exists ? words[w * l->places + index] : 0;
	row[l->facts->words] = exists;
}

static bool is_counted(void *ctx, uint64_t group)
{
	return place_of(ctx, group)->counted;
}

static void expand_item(void *ctx, const uint32_t *row, uint64_t *counts)
{
	const struct lane_reader *r = ctx;
	const struct launch_record *l = r->launch;
	const struct artifact_kernel *k = l->facts;
	size_t flag_words = k->words - (k->column_count - k->flag_count);
	memset(counts, 0, l->artifact->block_count * sizeof *counts);
	for (size_t i = 0; i < k->flag_count; i++)
		counts[k->columns[i]] += row[i / COUNTER_FLAGS] >> i % COUNTER_FLAGS & 1;
	for (size_t i = k->flag_count; i < k->column_count; i++)
		counts[k->columns[i]] += row[flag_words + i - k->flag_count];
	for (size_t i = 0; i < k->computed_count; i++) {
		const struct computed_trips *t = &k->computed[i];
		counts[t->block] += counter_trips(t->every, t->factor, t->residue, row[t->word]);
	}
	if (k->entry_block >= 0)
		counts[k->entry_block] = row[k->words];
	derive_counts(l->artifact, counts);
}

/* Sums of groups: the average of each column, and whether the work-item exists. */
static void gather_sums(void *ctx, uint64_t group, uint32_t item, uint32_t *row)
{
	struct lane_reader *r = ctx;
	const struct launch_record *l = r->launch;
	size_t columns = l->facts->column_count;
	const uint64_t *groups = r->groups, *sums = group_sums(l) + group % l->slots * columns;
	uint64_t all = groups[0] * groups[1] * groups[2];
	const struct group_place *p = place_of(r, group);
	uint64_t size = p->local[0] * p->local[1] * p->local[2], sharing = (all - group % l->slots + l->slots - 1) / l->slots;
	bool exists = item < size;
	for (size_t i = 0; i < columns; i++)
		row[i] = exists ? (uint32_t)(((sums[i] & ~COUNTER_FULL_SUM) + size * sharing / 2) / (size * sharing)) : 0;
	row[columns] = exists;
}

static void expand_sums(void *ctx, const uint32_t *row, uint64_t *counts)
{
	const struct lane_reader *r = ctx;
	const struct artifact_kernel *k = r->launch->facts;
	memset(counts, 0, r->launch->artifact->block_count * sizeof *counts);
	for (size_t i = 0; i < k->column_count; i++)
		counts[k->columns[i]] += row[i];
	if (k->entry_block >= 0)
		counts[k->entry_block] = row[k->column_count];
	derive_counts(r->launch->artifact, counts);
}

/* Group layout: nobody knows more of a work-item than its group's average, rounded. */
static void gather_group(void *ctx, uint64_t group, uint32_t item, uint32_t *row)
{
	const struct lane_reader *r = ctx;
	const struct launch_record *l = r->launch;
	size_t blocks = l->artifact->block_count;
	const uint64_t *slot = l->counters + COUNTER_HEADER_WORDS + group % l->slots * blocks;
	uint64_t items = l->facts->entry_block >= 0 ? slot[l->facts->entry_block] : 0;
	(void)item;
	for (size_t b = 0; b < blocks; b++)
		row[b] = items ? (uint32_t)((slot[b] + items / 2) / items) : 0;
}

static void expand_group(void *ctx, const uint32_t *row, uint64_t *counts)
{
	const struct lane_reader *r = ctx;
	for (size_t b = 0; b < r->launch->artifact->block_count; b++)
		counts[b] = row[b];
	derive_counts(r->launch->artifact, counts);
}

void profile_lanes(struct launch_profile *p, const struct launch_record *l, struct lane_reader *r)
{
	*r = (struct lane_reader){.launch = l};
	memcpy(r->global, p->global, sizeof r->global);
	memcpy(r->local, p->local, sizeof r->local);
	memcpy(r->groups, p->groups, sizeof r->groups);
	if (l->artifact->counts_by_item && l->facts->summed)
		p->lanes = (struct lane_counts){(uint32_t)l->facts->column_count + 1, gather_sums, expand_sums, r, NULL};
	else if (l->artifact->counts_by_item)
		p->lanes = (struct lane_counts){(uint32_t)l->facts->words + 1, gather_item, expand_item, r, is_counted};
	else
		p->lanes = (struct lane_counts){(uint32_t)l->artifact->block_count, gather_group, expand_group, r, NULL};
}

static uint64_t chosen_local_size(const struct launch_record *l, int dimension)
{
	uint64_t chosen =
		l->artifact->counts_by_item ? local_size_of(l, 0, dimension) : l->counters[COUNTER_LOCAL + dimension];
	uint64_t local = l->local[dimension] ? l->local[dimension] : chosen;
	return local ? local : 1;
}

bool launch_is_sound(const struct launch_record *l)
{
	enum { MOST_SLOTS = 1 << 30, MOST_LOCAL = 1 << 20 };
	bool by_item = l->artifact->counts_by_item && !l->facts->summed;
	uint64_t items = 1, local = 1;
	if (!l->slots || l->slots > MOST_SLOTS || l->places > l->counter_words * 2 ||
	    (by_item && l->facts->words && !l->places) || l->counter_words != launch_words(l))
		return false;
	for (int d = 0; d < 3; d++)
		if (!l->global[d] || __builtin_mul_overflow(items, l->global[d], &items) ||
		    __builtin_mul_overflow(local, chosen_local_size(l, d), &local) || local > MOST_LOCAL)
			return false;
	return items < UINT64_MAX / MOST_LOCAL;
}

static bool pages_are_known(const struct launch_record *l)
{
	bool known = false;
	for (size_t i = 0; i < l->argument_count && l->argument_pages; i++)
		known |= l->argument_pages[i].known;
	return known;
}

void profile_fill(struct launch_result *r)
{
	const struct launch_record *l = r->launch;
	uint64_t items = 1, groups = 1;
	for (int d = 0; d < 3; d++) {
		r->profile.global[d] = l->global[d];
		r->profile.local[d] = chosen_local_size(l, d);
		r->profile.groups[d] = (l->global[d] + r->profile.local[d] - 1) / r->profile.local[d];
		items *= l->global[d];
		groups *= r->profile.groups[d];
	}
	r->profile.local_bytes = l->local_bytes;
	r->profile.cuda = l->cuda;
	r->profile.counts = r->counts;
	r->profile.argument_values = l->argument_values;
	r->profile.arguments_known = l->arguments_known;
	r->profile.argument_bytes = l->argument_bytes;
	r->profile.argument_count = (uint32_t)l->argument_count;
	if (l->managed && !pages_are_known(l))
		flag_add(&r->flags, FLAG_managed_memory);
	fill_counts(r, items, groups);
	if (l->artifact->counts_by_item && !l->facts->summed)
		measure_runs(l, &r->profile);
	profile_lanes(&r->profile, l, &r->reader);
}

