/* progress: says how far the modelling is, and about how long it will take, where it lags. For the thread that takes launches in. */
#ifndef GPUSIM_RUNTIME_REPORT_PROGRESS_H
#define GPUSIM_RUNTIME_REPORT_PROGRESS_H

#include <stdint.h>

struct simulation;

enum { PROGRESS_MS = 1000 }; /* call progress_show about as often while launches are left */

/* Time of processors: what modelling has taken up to now, and about what it will take for what is left; 0: that is not known. */
struct progress_work {
	double spent_ns, left_ns;
};
/* left: launches. Called only where something is shown. */
typedef struct progress_work progress_work_fn(void *ctx, uint64_t left);

/* done: launches in the reports; left: others that have completed. Shows something where it is time for it. */
void progress_show(const struct simulation *sim, uint64_t done, uint64_t left, progress_work_fn *work, void *ctx);
void progress_clear(void); /* nothing is left, or something else is printed */

#endif
