/*
 * What the files that make a profile of streams share: `gpusim import` and `gpusim task` use them.
 *
 * Streams are read twice. The first time shows the code of the kernels (analysis/sass/observed.h) and the memory that launches touch. The
 * second time, executions are counted by work-item, and some groups are traced, as twins of our own do; what is written is a profile as others
 * (runtime/format/profile_file.h), whose code is the same for all targets.
 */
#ifndef GPUSIM_RUNTIME_CMD_STREAMS_JOB_H
#define GPUSIM_RUNTIME_CMD_STREAMS_JOB_H

#include "runtime/cmd/streams/stream.h"
#include "runtime/timeline/transfers.h"

/* ---- ranges.c: pieces of memory, which stand for the buffers that arguments point to ---- */

struct touched_piece {
	uint64_t begin, bytes;
	uint64_t copied, largest; /* by the host, since the last launch that used it */
};
struct touched_pieces {
	struct touched_piece *list; /* by address, apart from one another */
	size_t count, room;
	/* What is in none of them: by page, what was touched. */
	struct touched_page {
		uint64_t number, low, high;
	} *pages;
	size_t page_count, page_slots;
};
enum { PIECES_NONE = -1 };
/* The host copied to it: it is a buffer, or a part of one. Returns 0 or -ENOMEM. */
int pieces_copy(struct touched_pieces *m, uint64_t begin, uint64_t bytes);
long pieces_find(const struct touched_pieces *m, uint64_t address);
/* Bytes that no piece has were touched. False: there is no room to note it. */
bool pieces_touch(struct touched_pieces *m, uint64_t address, uint32_t bytes);
/* Makes pieces of what was touched. */
int pieces_settle(struct touched_pieces *m);
void pieces_free(struct touched_pieces *m);

/* ---- kernels and launches ---- */

struct imported_kernel {
	char *name;              /* as programs have it: without blanks */
	char *title;             /* as the trace has it */
	struct observed_code *observed;
	struct kernel_code *code; /* once it is finished */
	uint32_t registers;
	uint32_t step;           /* bytes from one instruction to the next; 0: this is no machine's code */
	uint64_t local_bytes;    /* per work-item, that were seen to be used */
	size_t arguments;        /* the most pieces that a launch of it touches */
};

enum { IMPORT_MOST_PIECES = 62 }; /* of a launch: what a trace has room for, less shared memory */

struct imported_launch {
	const struct sass_kind *kind; /* of its stream */
	const void *of;
	char *path;             /* what messages call it; owned */
	uint64_t counted;       /* groups that are in the stream, the first ones, and some others for their traces; those do as these in turn. 0: all */
	struct sass_header header;
	size_t repeats;         /* the number of a launch before it that did the same, from 1; 0: none is known */
	bool repeated;          /* others after it did the same */
	size_t kernel;
	uint64_t first_touch[IMPORT_MOST_PIECES]; /* an address in each piece, in the order in which they were touched */
	size_t touch_count;
	uint64_t file_bytes; /* that were read */
	uint64_t seq;        /* once it is written; what its counters have; and whether others after it have them and its trace, too */
	size_t slots, places;
	bool shared;
};

struct import_job {
	struct imported_kernel *kernels;
	size_t kernel_count, kernel_room;
	struct imported_launch *launches;
	size_t launch_count, launch_room;
	struct touched_pieces memory;
	bool all_groups;        /* trace all of them */
	uint64_t trace_items, trace_bytes, counter_bytes; /* bounds of a launch */
	uint64_t shared_bytes;  /* of traces that launches share */
	uint64_t lines;         /* instructions that were read */
	uint64_t read_bytes, shown_ns; /* for progress */
	size_t at_launch;
	int pass;
};

/* The space of an address of a generic access. */
enum code_space import_space(const struct sass_header *h, uint64_t address);
/* Shows how far it is, where it takes long. */
void import_progress(struct import_job *job, uint64_t bytes);
void import_progress_end(void);

/* ---- survey.c: the first time ---- */
int import_survey(struct import_job *job, struct imported_launch *launch, struct gs_error *err);
int import_finish_code(struct import_job *job, struct gs_error *err);

/* ---- lanes.c: the trace of a group, in the encoding of models/trace/read.c ---- */

struct lane_writer;
struct lane_layout {
	uint32_t block_count;      /* lines of the block table */
	const struct kernel_code *code;
	const uint32_t *site_bytes; /* by site */
	const uint8_t *site_spaces; /* enum code_space */
	uint64_t local[3], grid[3]; /* work-items of a group; groups */
	uint64_t shared_base, local_base;
	const struct touched_piece *pieces; /* arguments */
	size_t piece_count;
	const struct window_rules *windows; /* of loops; NULL: all iterations are written */
	uint64_t most_bytes; /* of a group, about: what is past it is cut; 0: no bound */
};
struct lane_writer *lane_writer_new(const struct lane_layout *layout); /* the layout must outlive it */
void lane_writer_free(struct lane_writer *w);
void lane_writer_begin(struct lane_writer *w, uint64_t group);
void lane_writer_block(struct lane_writer *w, uint32_t item, uint32_t block);
void lane_writer_access(struct lane_writer *w, uint32_t item, uint32_t site, uint64_t address);
/* Appends the chunks of the group. */
void lane_writer_end(struct lane_writer *w, struct gs_buf *out);

/* ---- counting.c: the second time ---- */

struct launch_counts {
	uint64_t *words; /* a counter buffer (runtime/format/counters.h) */
	size_t word_count, slots, places;
	struct gs_buf trace;
};
int import_count(struct import_job *job, const struct imported_launch *launch, struct launch_counts *out, struct gs_error *err);
void launch_counts_free(struct launch_counts *c);
/* Whether a group is among `wanted` of a launch's `groups` that are traced. */
bool import_traces(uint64_t wanted, uint64_t groups, uint64_t group);
/* How many groups are to be traced. */
uint64_t import_traced_groups(const struct import_job *job, const struct sass_header *h);
/* The pieces that a launch touches, by address, which is the order of its arguments: programs allocate these so more often than kernels touch
 * them so. `numbers`, their indices, has room for IMPORT_MOST_PIECES. */
size_t import_pieces(const struct import_job *job, const struct imported_launch *launch, size_t *numbers);

/* ---- records.c: the profile ---- */

/* What gpusim-cc would have answered for a kernel. */
void import_program(const struct imported_kernel *k, size_t number, struct gs_pack *out);
/* A launch; what was copied to its pieces before it counts for it. counts: NULL: it has those, and the trace, of the one that it repeats. */
void import_launch(struct import_job *job, const struct imported_launch *launch, const struct launch_counts *counts, struct gs_pack *out);

/* ---- profile.c: all of it ---- */

/* A copy, a step of the host, or a launch. */
struct import_entry {
	bool copies, host;
	double seconds;            /* of the host */
	enum transfer_kind how;    /* of a copy */
	uint64_t address, bytes;
	size_t launch;
};
struct import_list {
	struct import_entry *entries;
	size_t count, room;
};
/* Adds a launch to the job and to the list; takes the path over. Returns 0 or -ENOMEM. */
int import_add_launch(struct import_job *job, struct import_list *list, const struct sass_kind *kind, const void *of, char *path);
/* calls.c: the list as the calls of a program (runtime/format/calls.h): one thread and one queue. Copies wait, launches do not. */
void import_calls(const struct import_job *job, const struct import_list *list, struct gs_pack *out);
/* What the run is called: the words of its command, each with its NUL, and what it ran on. */
struct import_about {
	struct gs_buf command;
	const char *device;
	bool calls; /* the list is all that the program does, in order: the profile gets its calls */
};
/* Surveys all launches and writes the profile; the file has its name once it is complete. */
int import_write(struct import_job *job, const struct import_list *list, const struct import_about *about, const char *output, struct gs_error *err);
void import_free(struct import_job *job, struct import_list *list);

#endif
