/*
 * trace: what single work-items of a launch did, one event after the other, where some of its groups were traced.
 *
 * An event is the begin of a block of the source or an access to memory. The annotator numbers both: blocks as in the
 * block table, accesses as sites, places of the source that load or store. The runtime brings the events back
 * (models/trace/read.h turns the device's bytes into this form) and the models make warps of them (models/trace/warps.h).
 * Nothing here knows a GPU.
 */
#ifndef GPUSIM_MODELS_TRACE_TRACE_H
#define GPUSIM_MODELS_TRACE_TRACE_H

#include "models/code/code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_SITE_KINDS(X) X(load) X(store) X(atomic) X(image_read) X(image_write) X(copy_in) X(copy_out) X(image_filter) X(bulk)
#define TRACE_SITE_KIND(name) TRACE_##name,
enum trace_site_kind { TRACE_SITE_KINDS(TRACE_SITE_KIND) TRACE_SITE_KIND_COUNT };
#undef TRACE_SITE_KIND

/* A place of the source that accesses memory. */
struct trace_site {
	uint32_t block; /* of the source, in which it is */
	uint32_t line, column, file; /* of the access as .loc has it; file: index of the artifact's */
	uint8_t kind;   /* enum trace_site_kind */
	uint8_t space;  /* enum code_space: global, const, shared (OpenCL's local), local (private arrays), generic, texture */
	uint32_t bytes; /* per access */
};

/*
 * Addresses are the same from run to run: those in a buffer that the kernel got as argument a begin at (a + 1) << 40, those in
 * shared memory at the group's first byte, those in private memory at the work-item's, constants of the program at 1 << 39. What is none of these, such as SVM that
 * no argument points to, is the host's own address.
 */
enum { TRACE_ACCESS = 1u << 31 };
struct trace_event {
	uint32_t what;    /* a source block, or TRACE_ACCESS + a site */
	uint32_t bytes;   /* of an access: the site's, or what a copy moves */
	uint64_t address; /* of an access */
};

/*
 * Iterations of a loop that the work-item made and its trace leaves out: long loops are traced in windows. What is left is still a
 * way through the code, a shorter one: after the gap either the loop's body begins again or what follows the loop does.
 */
struct trace_gap {
	uint32_t before;     /* events of the lane that come before it */
	uint32_t body;       /* source block: the loop's body */
	uint32_t kept;       /* iterations in the window before it: the last so many begins of the body */
	uint64_t iterations; /* left out */
};

struct lane_trace {
	const struct trace_event *events;
	size_t count;
	const struct trace_gap *gaps; /* in order; an inner loop's before the outer's where they are at the same place */
	size_t gap_count;
	bool cut; /* its end is missing: there was no room */
};

struct traced_group {
	uint64_t group; /* linear id in the launch */
	uint32_t lane_count;
	struct lane_trace *lanes; /* by linear local id */
	struct trace_event *events; /* of all lanes, one after the other; NULL: there are none */
	struct trace_gap *gaps;     /* likewise */
};

/* Groups that a trace should have had: no traced one did about as much. The most important first. */
enum { MOST_NEEDED = 6 }; /* of the runs that a launch is traced in, 8 (runtime): the first and the last stay where they are */
struct needed_groups {
	uint64_t ids[MOST_NEEDED];
	uint32_t count;
};

struct launch_trace {
	const struct trace_site *sites;
	uint32_t site_count;
	struct traced_group *groups; /* ascending ids */
	size_t group_count;
	uint64_t size_bytes, accesses; /* as the device wrote it, for the report's bytes per access */
	uint64_t *argument_bytes; /* of the buffers that arguments are; 0: not known, or no buffer */
	size_t argument_count;
};

#endif
