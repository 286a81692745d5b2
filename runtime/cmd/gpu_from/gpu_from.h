/*
 * gpusim gpu-from: a description of a GPU from a configuration of GPGPU-Sim (gpgpusim.config) or Accel-Sim (trace.config beside it).
 *
 * The description is of what the simulator simulates, as gtx480 and qv100 are: rules take options that have a counterpart (core.c, classes.c,
 * memory.c), facts.def has what the simulator does whatever the options say, and what neither tells is a base's. Every value says where it
 * came from. Options that no rule took are listed.
 */
#ifndef GPUSIM_RUNTIME_CMD_GPU_FROM_GPU_FROM_H
#define GPUSIM_RUNTIME_CMD_GPU_FROM_GPU_FROM_H

#include "models/gpu/gpu.h"

#define OPTION(id, name, older, fallback) CONFIG_##id,
enum from_option {
#include "runtime/cmd/gpu_from/options.def"
	CONFIG_COUNT
};
#undef OPTION

/* An option as a file has it. */
struct from_entry {
	char *name, *value;
	const char *file; /* without its folder */
	unsigned line;
	size_t next; /* 1 + the entry that sets it again; 0: none */
	bool taken;
};

enum from_kind { FROM_BASE, FROM_FACT, FROM_OPTION };

/* The value of a key, and where it came from. */
struct from_value {
	enum from_kind kind;
	char text[64], source[320];
};

struct from {
	bool trace; /* there is a trace.config: machine code drives the simulator */
	struct from_entry *entries;
	size_t count, room;
	size_t at[CONFIG_COUNT]; /* 1 + the last entry of an option; 0: the files do not have it */
	struct from_value *values; /* of gpu_key_count() keys */
	struct gpu base;
	struct gpu_origin *origins;
	const char *base_name, *folder; /* folder: of gpgpusim.config */
	struct gs_error error;
	bool failed; /* error says why; rules go on with defaults */
};

/* read.c */
int from_read(struct from *f, const char *path, const char *file); /* file: what sources and errors call it; outlives f */
void from_free(struct from *f);

/* values.c: what options say. A value that cannot be read fails f once, with file and line. */
bool from_has(const struct from *f, enum from_option o);
const char *from_text(struct from *f, enum from_option o);
double from_number(struct from *f, enum from_option o);
/* Numbers between commas or colons: fills out, with 0 where there are fewer, and returns how many there are; at least `least`. */
size_t from_list(struct from *f, enum from_option o, double *out, size_t most, size_t least);
void from_bad(struct from *f, enum from_option o, const char *why);
/* Sets keys. note: what the rule did with the option; "" where it took it as it is. */
void from_put(struct from *f, const char *key, double value, enum from_option o, const char *note, ...) GS_PRINTF(5, 6);
void from_put_word(struct from *f, const char *key, const char *word, enum from_option o, const char *note);
void from_fact(struct from *f, const char *key, const char *value, const char *source);
/* What a rule has set, else the base's. */
double from_value(const struct from *f, const char *key);

/* A cache: S:sets:line:ways,replacement:write:allocate:write-allocate:index,type:entries:merges,queue:fifo,port. */
struct from_cache {
	bool none, sectored;
	double sets, line, ways, mshrs, merges, queue, port;
	char write, allocate, write_allocate, index;
};
struct from_cache from_cache(struct from *f, enum from_option o);

/* The rules, in the order in which they are called: later ones use what earlier ones have set. */
void from_core(struct from *f);
void from_classes(struct from *f);
void from_memory(struct from *f);

/* write.c */
int from_write(struct from *f, const char *name, const char *title, struct gs_buf *out);

#endif
