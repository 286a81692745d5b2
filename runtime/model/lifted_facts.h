/*
 * lifted_facts: what gpusim-cc says about kernels and variables of a CUDA module (protocol.h: lifted, image), read into structs. What
 * kernels count and what their code is are in the artifact, as for every program (artifact.h): a kernel that is not refused is there as
 * well, by the same name.
 */
#ifndef GPUSIM_RUNTIME_MODEL_LIFTED_FACTS_H
#define GPUSIM_RUNTIME_MODEL_LIFTED_FACTS_H

#include "runtime/base/base.h"
#include "runtime/format/lifted.h"

struct lifted_parameter {
	uint32_t offset, bytes, align; /* in the block of parameters that a launch passes */
};

struct lifted_kernel {
	char *name;
	char *refused; /* why it cannot be lifted; NULL: it is lifted, and what follows is valid */
	struct lifted_sizes sizes;
	struct lifted_parameter *parameters; /* by ascending offset; none overlap */
	uint32_t parameter_count;
	uint32_t maxntid[3], reqntid[3]; /* 0: not given */
	uint32_t cluster[3];             /* groups of its clusters, if it has any: all 0 or none */
	bool prints, barriers, waits;    /* waits: groups may need others that run at the same time */
	bool fetches;                    /* its groups fetch work from a queue that they share */
	bool meets_groups;               /* it has atomic operations on memory that groups share */
	bool large;                      /* its text that traces is compiled sooner than the one that counts */
	bool of_warps;                   /* and optimising that takes long, and gains little */
};

struct lifted_variable {
	char *name;
	uint64_t offset, bytes; /* in the image; within it */
	uint32_t align;
	bool constant; /* .const: kernels do not write it */
};

/* The 8 bytes at `offset` of the image are the image's address plus `addend`, or (function) `addend` alone. */
struct lifted_relocation {
	uint64_t offset, addend;
	bool function;
};

struct lifted_facts {
	int ptx_version;     /* 10 * major + minor */
	int ptx_arch;        /* the PTX was made for it: 90 of sm_90a */
	char ptx_target[32]; /* "sm_90a" */
	struct lifted_kernel *kernels;
	uint32_t kernel_count;
	struct lifted_variable *variables;
	uint32_t variable_count;
	uint8_t *image; /* of the variables, as they begin, without relocations */
	uint64_t image_bytes;
	uint32_t image_align; /* what its address must be a multiple of: at least 256 */
	struct lifted_relocation *relocations;
	uint32_t relocation_count;
};

/* -ENOENT: the result is not that of a CUDA module. -EINVAL: it is damaged. The caller frees *out. */
int lifted_facts_read(const struct gs_pack *result, struct lifted_facts **out, struct gs_error *err);
void lifted_facts_free(struct lifted_facts *f);
/* The first of that name, or NULL. */
const struct lifted_kernel *lifted_facts_kernel(const struct lifted_facts *f, const char *name);
const struct lifted_variable *lifted_facts_variable(const struct lifted_facts *f, const char *name);
/* Writes the image, with addresses as they are when it stands at `to`: image_bytes of them. */
void lifted_facts_place(const struct lifted_facts *f, void *to);

#endif
