/* The targets of a request: their PTX, the trips that their loops need, and the code of every kernel on each of them. */
#ifndef GPUSIM_RUNTIME_CC_TARGETS_H
#define GPUSIM_RUNTIME_CC_TARGETS_H

#include "analysis/target/target.h"
#include "analysis/mapping/mapping.h"
#include "annotator/annotator.h"

struct compile_target {
	const char *arch; /* belongs to the caller */
	struct gs_buf ptx; /* with probes */
	struct ptx_module *module;
	bool failed;
	struct gs_error err; /* why it failed */
};

struct targets {
	struct compile_target *items;
	size_t count;
};

/* Compiles the units for every architecture. If one fails, its err says why, and the others go on. */
int targets_compile(struct targets *t, char *const *archs, size_t count, const struct target_unit *units,
                    size_t unit_count, struct gs_error *err);
/* Asks the annotation for the trips that the targets' loops need, as far as there is room. Adds remarks to `notes`. */
int targets_want_trips(const struct targets *t, struct annotation *a, struct gs_pack *notes, struct gs_error *err);
/* Whether the code of some target shows that a kernel never writes through this parameter, a pointer. */
bool targets_only_read(const struct targets *t, const char *kernel, unsigned parameter);
/* Writes the sections target, code and ptx of protocol.h. */
void targets_write(const struct targets *t, const struct annotation *a, struct gs_pack *result);
void targets_free(struct targets *t);

#endif
