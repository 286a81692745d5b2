/*
 * results: estimates of launches that were simulated before, by this process or by an earlier one, in the cache on disk.
 *
 * What a simulation gives is a function of the kernel's code, the GPU, the model and its options, and what the launch did. The first
 * four, with the version of the tool, are the key of a file; the last is the key of an entry in it (memo.h). A file is read at the
 * first use of a kernel, and written when the program ends, so that no launch costs a disk access. Launches that were not
 * simulated, because they are like others, are not in it: a run gives the same estimates with the cache and without.
 */
#ifndef GPUSIM_RUNTIME_ESTIMATES_KEPT_RESULTS_H
#define GPUSIM_RUNTIME_ESTIMATES_KEPT_RESULTS_H

#include "runtime/model/launch_record.h"

struct results;

/* Those of the launch's kernel on a target; they live as long as the process. NULL: nothing is cached. */
struct results *results_of(const struct simulation *sim, const struct launch_record *l, size_t target);
/* False: it is not known. instructions: per instruction of `code`, or NULL. Any thread. */
bool results_find(struct results *r, const char key[33], const struct kernel_code *code, struct estimate *out,
                  struct instruction_count *instructions);
void results_keep(struct results *r, const char key[33], const struct kernel_code *code, const struct estimate *e,
                  const struct instruction_count *instructions);
void results_write(void); /* to disk: what is new */

#endif
