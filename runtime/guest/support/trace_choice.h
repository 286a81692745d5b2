/*
 * trace_choice: which groups of a launch are traced, where its counters say so.
 *
 * A launch may hang on a few work-items, and data decides which these are. Nobody knows them before it runs, and the application does not wait for
 * what we find out. So the twin that counts runs first, on copies, and the traced twin runs all groups after it. When the first of its
 * work-items begins, the counters of the launch are there, and trace_native.c asks here which groups it records: those with the longest
 * runs of 32 work-items, and a sample of all. If the longest are not much longer than others, it records none that would not have been.
 */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_TRACE_CHOICE_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_TRACE_CHOICE_H

#include "runtime/guest/support/boxes.h"

#include <stdatomic.h>

/* Counters of work-items (runtime/format/counters.h, item layout), of groups that are all as large. */
struct choice_counters {
	const uint32_t *words;
	size_t places, word_count, flag_words; /* the first flag_words of word_count are flags */
	uint64_t groups, group_items;
};

struct trace_choice;

/* most: groups beside those of the sample. always: the sample is recorded in any case. none: how many launches in a row had nothing to
 * choose; the caller's. NULL: out of memory. */
struct trace_choice *trace_choice_new(const struct choice_counters *counters, const struct boxes *sample, const uint64_t groups[3], uint64_t most,
                                      bool always, atomic_uint *none);
/* Whether a group is recorded. The first call looks at the counters. Any thread. */
bool trace_choice_has(struct trace_choice *c, uint64_t group);
void trace_choice_free(struct trace_choice *c); /* NULL: nothing */

#endif
