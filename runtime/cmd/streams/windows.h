/*
 * windows: which iterations of a lane's loops are written down, as annotator/blocks/windows.c has it for kernels of our own.
 *
 * The first iterations of a loop are; half as many from iteration 4, 16, 64 ... times that on. Inner loops are only while all loops around
 * them are. In place of others there is a gap, which says how many they were (struct trace_gap). What follows a loop may
 * depend on its last iteration, so that this one is written after the gap: it is held back until it is known to be the last.
 */
#ifndef GPUSIM_RUNTIME_CMD_STREAMS_WINDOWS_H
#define GPUSIM_RUNTIME_CMD_STREAMS_WINDOWS_H

#include "models/code/code.h"
#include "runtime/base/base.h"

enum {
	WINDOWS_MOST_DEEP = 8,    /* loops in loops that have windows */
	WINDOWS_MOST_HELD = 4096, /* events of an iteration that is held back */
};

/* What all lanes share. */
struct window_rules {
	const struct kernel_code *code;
	uint8_t *depths;  /* by loop: loops that it is in, itself included */
	uint8_t *nests;   /* by loop: depth of the deepest loop in the nest that it is part of */
};
int window_rules_make(const struct kernel_code *code, struct window_rules *out); /* Returns 0 or -ENOMEM. */
void window_rules_free(struct window_rules *r);

/* An event of a lane. */
enum window_event_kind { WINDOW_BLOCK, WINDOW_ACCESS, WINDOW_GAP };
struct window_event {
	enum window_event_kind kind;
	uint32_t what;              /* block, site, or body of the loop */
	uint64_t address;           /* of an access; of a gap: iterations that were kept before it */
	uint64_t iterations;        /* of a gap */
};
typedef void window_event_fn(void *ctx, const struct window_event *e);

struct lane_windows {
	struct loop_frame {
		uint32_t loop, kept;
		uint64_t iteration, missing;
		bool gap;
		size_t first_held; /* in a gap: its own event; the iteration's begin behind it */
	} frames[WINDOWS_MOST_DEEP];
	uint32_t depth;
	uint32_t holding; /* frames up to the outermost that is in a gap; 0: nothing is held back */
	struct gs_buf held;
	bool cut; /* there was no room to hold back */
};
void lane_windows_begin(struct lane_windows *w); /* keeps the memory of what is held back */
/* Each passes on what can be written. */
void lane_windows_block(const struct window_rules *r, struct lane_windows *w, uint32_t block, window_event_fn *put, void *ctx);
void lane_windows_access(struct lane_windows *w, uint32_t site, uint64_t address, window_event_fn *put, void *ctx);
void lane_windows_end(const struct window_rules *r, struct lane_windows *w, window_event_fn *put, void *ctx);

#endif
