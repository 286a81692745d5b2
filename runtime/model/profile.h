/* profile: what a launch's counter buffer says, as the models take it. */
#ifndef GPUSIM_RUNTIME_MODEL_PROFILE_H
#define GPUSIM_RUNTIME_MODEL_PROFILE_H

#include "runtime/model/launch_record.h"

size_t launch_columns(const struct launch_record *l); /* where groups have sums: how many */
/* Gives so many groups slots, and work-items places, in so many words of 64 bits: slots at most half of them, places what they leave. */
void launch_share_room(struct launch_record *l, uint64_t groups, uint64_t items, uint64_t room);
size_t launch_words(const struct launch_record *l);   /* of its counter buffer */
size_t scratch_words(const struct launch_record *l);  /* of a buffer for counts that nobody looks at */
/* Whether the numbers of a launch that was read from a file fit its counters, and one another. */
bool launch_is_sound(const struct launch_record *l);
/* Fills the profile, counts and flags from the counters, which must outlive the profile. */
void profile_fill(struct launch_result *r);
/* As profile.longest, over some groups of the launch alone; 0: not known. */
double profile_longest(struct launch_result *r, const struct launch_trace *groups);
/* Lets a copy of a profile, whose sizes are filled in, read the work-items' counters with a reader of its own. */
void profile_lanes(struct launch_profile *p, const struct launch_record *l, struct lane_reader *reader);

#endif
