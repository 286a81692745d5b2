/* modules: what a CUDA program registers, and what gpusim-cc made of it. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_MODULES_H
#define GPUSIM_RUNTIME_GUEST_CUDA_MODULES_H

#include "runtime/cuda.h"
#include "runtime/guest/driver/cl.h"
#include "runtime/model/artifact.h"
#include "runtime/model/lifted_facts.h"

#include <pthread.h>
#include <stdatomic.h>

/* A kernel of the driver, in one of the two forms of lifted text. */
struct lifted_form {
	enum { FORM_NEW, FORM_READY, FORM_FAILED } state;
	cl_kernel kernel;
	atomic_bool launched; /* the driver has compiled it for the device */
	uint64_t build_ns;    /* what building and compiling it took */
};

struct cuda_kernel {
	struct cuda_module *module;
	const struct lifted_kernel *lifted;
	struct artifact_kernel *facts; /* NULL: it is not lifted */
	char *title;                   /* its name for reports */
	bool wanted;                   /* one of its names matches GPUSIM_KERNELS */
	atomic_bool shortage_told;     /* a warning was given that its blocks do not share their queue as on the GPU */
	struct cuda_kernel_facts about;
	pthread_mutex_t lock;          /* for the forms, and while arguments are set */
	struct lifted_form counting, tracing;
	struct kernel_lending { /* programs.c */
		bool begun;
		uint64_t bound_ns, spent_ns, group_ns; /* what groups may take in text that traces, what they took, and one of the last ones */
	} lending;
};

struct cuda_module {
	atomic_int refs; /* of its creator, and of launches under way */
	void *image;
	size_t bytes;
	pthread_mutex_t lock; /* while it is prepared, and while programs are built */
	bool prepared;
	enum cuda_module_problem problem;
	struct gs_error why;
	struct artifact *artifact;
	struct lifted_facts *lifted;
	void *variables; /* the image of its variables, or NULL */
	struct counting_text {
		char *ptx, *kernels;
	} counted, traced; /* PTX that counts, and that traces as well, and the names of its kernels (counted.h); NULL: it was not wanted */
	struct cuda_kernel *kernels; /* in the order of `lifted` */
	struct lifted_program {
		bool built;
		cl_program program; /* NULL: it cannot be built */
		struct gs_error why;
	} counting, tracing;
};

struct cuda_module *module_retain(struct cuda_module *m);
void module_release(struct cuda_module *m);
/* The number of bytes of an image that begins at this address: a fat binary, a cubin, or text. 0: it is none of them. */
size_t image_bytes(const void *image);
/* false: so many bytes are machine code alone. Libraries may have hundreds of MiB of that. */
bool image_has_ptx(const void *image, size_t bytes);

/* With the kernel's lock held: the kernel of the driver, which is built now if it has not been. NULL: *err says why. */
struct lifted_form *kernel_form(struct cuda_kernel *k, bool traces, struct gs_error *err);

/* Whether the kernel should begin with the text that traces, though nothing of it is traced. */
bool lending_wants_text(struct cuda_kernel *k);
/* How many of `count` groups may now run in the text that traces, though they are not traced, after `last` did so; 0: none. `whole`: all or none. */
size_t lending_groups(struct cuda_kernel *k, size_t last, size_t count, bool whole);
void lending_took(struct cuda_kernel *k, size_t groups, uint64_t ns);
/* The text that counts is there. */
void lending_ends(struct cuda_kernel *k);

#endif
