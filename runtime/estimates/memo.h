/* memo: launches that are alike, and the estimates that they share. */
#ifndef GPUSIM_RUNTIME_ESTIMATES_MEMO_H
#define GPUSIM_RUNTIME_ESTIMATES_MEMO_H

#include "runtime/model/launch_record.h"

struct estimate_job;

enum { MEMO_ENTRIES = 64 };

/* Of one kernel on one target. Only the thread that takes launches in uses it. */
struct memo {
	struct known_accesses *accesses;
	struct memo_entry {
		char key[33];
		struct estimate_job *job; /* which may still be under way */
	} entries[MEMO_ENTRIES];
};

/* The accesses of the profile (launch_accesses), which stay the memo's until the next call; found anew only if the arguments or sizes
 * have changed. */
int memo_accesses(struct memo *m, struct launch_profile *p, const struct gpu *gpu);
/* Of a launch whose profile has the code and the accesses of one target. counters: a hash of those (memo_counters). */
void memo_key(const struct launch_result *r, const char counters[33], char key[33]);
void memo_counters(const struct launch_record *l, char hash[33]);
/* The job of a launch that is the same; it stays the memo's. NULL: there is none. */
struct estimate_job *memo_find(const struct memo *m, const char key[33]);
void memo_keep(struct memo *m, const char key[33], struct estimate_job *job); /* takes a reference */
void memo_clear(struct memo *m);

#endif
