/* launch_record: a launch as the models and the reports see it. It needs no driver: gpusim replay reads it from a file. */
#ifndef GPUSIM_RUNTIME_MODEL_LAUNCH_RECORD_H
#define GPUSIM_RUNTIME_MODEL_LAUNCH_RECORD_H

#include "runtime/model/artifact.h"

/* The buffer that an argument is. */
struct argument_memory {
	uint64_t buffer; /* its number in the run; 0: not known, or none */
	/* Bytes, since the last launch that used it: by the host, the largest copy of these; by copies and fills within the GPU. */
	uint64_t copied, largest, written;
};

/* The managed memory that an argument is, in bytes of whole pages. */
struct argument_pages {
	uint64_t known;     /* 0: nothing is, or it is no managed memory */
	uint64_t touched;   /* by the processor, since the GPU did anything last */
	uint64_t untouched; /* those that the launch uses, and nobody did before */
};

/* What was launched, and what was counted. */
struct launch_record {
	uint64_t seq; /* its number in the run */
	char *kernel_name;
	struct artifact *artifact;
	struct artifact_kernel *facts;
	uint64_t global[3], local[3]; /* local is 0 where the driver chooses */
	bool unsized;                 /* the program gave no local size, and local is what the target's driver would choose */
	uint64_t local_bytes;
	bool cuda;                    /* a CUDA program launched it */
	bool managed;                 /* with managed memory */
	uint64_t *argument_values; /* the first 8 bytes of each argument; an address for buffers */
	bool *arguments_known;
	uint64_t *argument_bytes; /* of the memory that each points to; 0: not known */
	struct argument_memory *argument_memory; /* NULL: not known */
	struct argument_pages *argument_pages;   /* NULL: none is managed memory */
	size_t argument_count;
	size_t slots, places;     /* of its counters; places: item layout only */
	bool spread;              /* groups that have places are spread over the launch (counter_place), else they are the first */
	const uint64_t *counters; /* the counter buffer (runtime/format/counters.h), once the launch has completed */
	size_t counter_words;
	uint64_t measured_ns;     /* 0: not known */
	bool in_shadow;           /* its twin ran on copies, and the kernel itself on the application's memory */
};

/* Reads the counters of single work-items. Each thread that does so needs its own. */
struct lane_reader {
	const struct launch_record *launch;
	uint64_t global[3], local[3], groups[3];
	struct group_place {  /* of the group that was looked at last: its work-items are asked for one after the other */
		bool known, counted; /* counted: it has places */
		uint64_t group, local[3]; /* its sizes */
		uint64_t first; /* where its first work-item's words are, or those of the group that stands for it */
	} place;
};

/* One launch with everything that the reports say of it. */
struct launch_result {
	struct simulation *sim;
	const struct launch_record *launch;
	struct launch_profile profile;
	struct estimate estimates[MAX_TARGETS];
	bool estimated[MAX_TARGETS];
	const char *failure[MAX_TARGETS];
	struct gs_error model_error[MAX_TARGETS]; /* what failure says, where a model failed */
	const struct instruction_count *instructions[MAX_TARGETS]; /* of the code; NULL where no report wants them */
	uint64_t *counts;     /* executions by block, over all work-items; the caller's */
	struct lane_reader reader; /* of the profile's lanes */
	struct kept_trace *brought; /* by the launch itself; NULL: it was not traced */
	struct kept_trace *trace; /* the launch's own or one of a launch alike, held (trace_shapes.h); NULL: none */
	uint64_t modelled_ns;     /* processor time of the jobs that modelled it, on all targets; 0: others' did */
	double traced_fraction;   /* of the groups, with such a trace */
	flag_set flags; /* about the measurement, for every target */
};

#endif
