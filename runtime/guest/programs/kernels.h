/* kernels: the application's kernels with their arguments, and their twins. */
#ifndef GPUSIM_RUNTIME_GUEST_PROGRAMS_KERNELS_H
#define GPUSIM_RUNTIME_GUEST_PROGRAMS_KERNELS_H

#include "runtime/guest/programs/twin.h"

struct kernel_arg {
	enum { ARG_UNSET, ARG_VALUE, ARG_LOCAL, ARG_SVM } kind;
	uint64_t version; /* time on the kernel's clock when it was last set */
	size_t size;
	void *value;
};

struct exec_info {
	cl_kernel_exec_info what;
	size_t size;
	void *value;
	uint64_t version;
};

/* The twin kernel on one device. */
struct kernel_twin {
	struct kernel_twin *next;
	struct twin *twin;
	struct twin_program *program; /* NULL: there is none */
	cl_kernel kernel; /* NULL: it could not be made */
	struct artifact_kernel *facts;
	bool traces;      /* it belongs to the program that traces */
	uint64_t applied; /* arguments up to this version are set on it */
	const char *why;  /* why kernel is NULL; a static text */
	bool launched;    /* it was launched at least once */
	cl_int box_argument; /* index of the box (runtime/format/traces.h); -1: it takes none */
	bool whole;          /* the box that is set on it is the whole launch */
	cl_ulong sizes[2];   /* slots and places that are set on it; most launches have the same as the one before */
	bool sizes_set;
};

struct kernel {
	atomic_int refs;
	int app_refs; /* under the table's lock */
	cl_kernel handle;
	struct program *program; /* NULL: not known */
	char *name;
	struct build *build; /* NULL: the program cannot be modelled */
	const char *why;     /* why build is NULL; a static text */
	bool wanted;         /* its name matches GPUSIM_KERNELS */
	pthread_mutex_t lock;
	uint64_t clock;
	struct kernel_arg *args;
	size_t arg_count;
	struct exec_info *infos;
	size_t info_count;
	struct kernel_twin *twins;
};

/* How long this thread has waited for twins to be built. */
extern _Thread_local uint64_t thread_waited_ns;

struct kernel *kernel_find(cl_kernel handle); /* a reference, or NULL */
void kernel_unref(struct kernel *k);
/* With the kernel's lock held: its twin on the device with all arguments set, or NULL and *err. */
struct kernel_twin *kernel_prepare_twin(struct kernel *k, cl_device_id device, bool traces, struct gs_error *err);

#endif
