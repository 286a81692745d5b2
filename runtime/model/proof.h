/* proof: which twins may stand for their kernels. */
#ifndef GPUSIM_RUNTIME_MODEL_PROOF_H
#define GPUSIM_RUNTIME_MODEL_PROOF_H

#include "runtime/config/options.h"
#include "runtime/model/launch_record.h"

/*
 * How a twin runs:
 *   direct   in place of the kernel, on the application's memory
 *   shadow   on copies of the memory that the kernel may write; then the kernel itself runs on the application's memory
 *   verify   shadow, and what both have written is compared bit by bit
 *   alone    not at all: only the kernel runs
 */
enum twin_way { WAY_DIRECT, WAY_SHADOW, WAY_VERIFY, WAY_ALONE };

/* What is known of a twin, for the launches that share a driver's compile of it. */
enum verdict {
	VERDICT_NONE,
	VERDICT_PENDING, /* a launch is being verified */
	VERDICT_SAME,    /* it wrote what the kernel wrote */
	VERDICT_DIFFERS, /* it did not, and the kernel agrees with itself */
	VERDICT_RACY,    /* the kernel did not agree with itself */
};

struct proof;

/* The proof of a launch with or without a global offset, made if need be; it lives as long as the artifact. traced: of the twin that traces.
 * NULL when out of memory. */
struct proof *proof_of(const struct launch_record *l, bool offset, bool traced);
/* Once: an earlier process saw this twin differ from its kernel. */
bool proof_is_news(struct proof *p);
/* The way of the next launch; WAY_VERIFY makes the proof pending until proof_end. Relaxed: the program's options let the driver round
 * as it likes. */
enum twin_way proof_way(const struct gs_options *options, struct proof *p, bool relaxed, const struct artifact_kernel *facts);
/* A launch that was the same took long, in this process or an earlier one. */
bool proof_is_long(const struct proof *p);
/* took_ns: the time of the kernel; 0: not known. */
void proof_end(struct proof *p, enum verdict verdict, uint64_t took_ns);
/* The launch that was verified executed so many instructions, of work-items: one that took long with much to do is remembered, too, for
 * later processes. */
void proof_worked(struct proof *p, double instructions);
void proofs_free(struct artifact_kernel *k);

#endif
