/* artifact: what gpusim-cc made of a program (runtime/format/protocol.h), read into structs. */
#ifndef GPUSIM_RUNTIME_MODEL_ARTIFACT_H
#define GPUSIM_RUNTIME_MODEL_ARTIFACT_H

#include "runtime/base/base.h"
#include "runtime/format/facts.h"
#include "runtime/model/targets.h"

#include <stdatomic.h>

/* Trips of a loop that a work-item enters once at most (protocol.h, columns). */
struct computed_trips {
	unsigned block, factor, residue;
	bool every;
	size_t word; /* of the work-item's: the counter of what is numbered */
};

enum { LAUNCH_SIZES = 256 };
enum { ARGUMENTS_COUNTED = 16 };

struct artifact_kernel {
	char *name;
	unsigned arguments;
	int entry_block; /* counter of its entry, which slots count; -1: there is none, or it is counted or derived as others are */
	unsigned *columns; /* item layout: the blocks whose counters its work-items store */
	size_t column_count, flag_count; /* the first flag_count of them are bits */
	struct computed_trips *computed; /* counts that follow from a work-item's words */
	size_t computed_count;
	bool summed;       /* work-items add them to sums of their group */
	size_t words;      /* else: of 32 bits that a work-item stores */
	unsigned hazards;  /* enum kernel_hazard */
	unsigned char *argument_kinds; /* `arguments` of them: enum argument_kind */
	struct kernel_code *code[MAX_TARGETS]; /* by architecture; NULL when there is none: */
	char *failure[MAX_TARGETS];            /* why */
	struct kernel_estimates *estimates[MAX_TARGETS]; /* runtime/estimates, by target */
	char *library[MAX_TARGETS];            /* lines: functions that a table costs; NULL when there are none */
	char *selected[MAX_TARGETS];           /* why selected code stands for the machine's, which was wanted; NULL: it does not */
	struct proof *proofs;                    /* proof.h */
	struct launches_alike *shapes;           /* of its launches (trace_shapes.h), those in use first */
	uint64_t shape_count;                  /* that there ever were */
	atomic_bool dear_traces;               /* a traced launch takes long on its device (trace_shapes.c) */
	atomic_uint even_launches;             /* the latest ones without work-items that are much longer than others (trace_choice.h) */
	uint32_t trace_room;                   /* chunks for the trace of a work-item (trace_shapes.h); 0: not known yet */
	atomic_uint launches_by_size[LAUNCH_SIZES]; /* while memory for counters was short */
	atomic_uint_fast64_t arguments_counted[ARGUMENTS_COUNTED]; /* the same: hashes of arguments that launches had; 0: none yet */
	struct kept_trace *traces;               /* of its launches, those in use first */
};

/* One term of a count: `factor` times the count of `of`, which is a lower block. */
struct count_term {
	unsigned block, of;
	int factor;
};

struct artifact_block {
	char *function, *file, kind[16];
	unsigned unit, line, column;
};

struct artifact {
	atomic_int refs;
	void (*free_estimates)(struct kernel_estimates *k); /* of its kernels; set by whoever makes some */
	char key[33]; /* of the request that it answers; "": not known */
	struct artifact_kernel *kernels;
	size_t kernel_count;
	struct artifact_block *blocks;
	size_t block_count;
	bool counts_by_item;          /* the layout of the counters (runtime/format/counters.h) */
	struct count_term *terms;     /* of the blocks whose counts flow determines, by ascending block */
	size_t term_count;
	char *dependencies; /* lines of "HASH PATH": the files that the units included */
	uint64_t record_number; /* in the profile that is being recorded; 0: it is not in it */
	/* The texts to build the twin from, one per unit. */
	char **host_texts, **host_options;
	size_t host_count;
	char **traced_texts; /* likewise, for one that traces as well; NULL: there are none */
	char *renames;       /* names to rename in it where both are to be one program; NULL: they cannot be */
	struct trace_site *sites;
	size_t site_count;
	char **site_files;
	size_t site_file_count;
	char **sources; /* the application's own texts, host_count of them; NULL where no report wants them */
};

/* Keeps the code for the architectures of the simulation. On failure *err says why in one sentence. */
int artifact_read(const struct simulation *sim, struct artifact **out, const struct gs_pack *result, struct gs_error *err);
void artifact_release(struct artifact *a);
struct artifact_kernel *artifact_kernel(struct artifact *a, const char *name);
/* The text that counts, followed by the one that traces, with TRACED_PREFIX before its names. The artifact must have renames. */
void artifact_text_together(const struct artifact *a, struct gs_buf *out);

#endif
