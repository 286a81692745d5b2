/*
 * What is known of a kernel before it runs, for whoever decides how its twin may run: on the application's own memory, or
 * on copies of it, beside the kernel itself (protocol.h: safety, arguments).
 */
#ifndef GPUSIM_RUNTIME_FORMAT_FACTS_H
#define GPUSIM_RUNTIME_FORMAT_FACTS_H

/* Of a kernel, or of anything that it calls: HAZARD_name, bit, word. */
#define KERNEL_HAZARDS(X) \
	X(BARRIERS, 1, "barriers") \
	X(PRINTS, 2, "prints") \
	X(ADDRESSES, 4, "addresses") \
	X(UNCONST, 8, "unconst") \
	X(VARIABLES, 16, "variables") \
	X(ROUNDING, 32, "rounds") \
	X(WAITS, 64, "waits") \
	X(EXPLODES, 128, "explodes")

/* ARGUMENT_name, word. */
#define ARGUMENT_KINDS(X) \
	X(OTHER, "other")       /* a pipe, a queue, an event ... */ \
	X(VALUE, "value") \
	X(LOCAL, "local")       /* a pointer to __local */ \
	X(CONSTANT, "constant") /* to __constant */ \
	X(CONST, "const")       /* to const __global */ \
	X(UNWRITTEN, "unwritten") /* to __global memory, through which the compiler has found that nothing is written */ \
	X(GLOBAL, "global")     /* to any other __global memory */ \
	X(READ, "read")         /* an image that is only read */ \
	X(WRITE, "write")       /* any other image */ \
	X(SAMPLER, "sampler")

/* With -D SILENT_MACRO, host texts evaluate the arguments of printf and print nothing. */
#define SILENT_MACRO "__GPUSIM_SILENT"

/* With -D ONLY_MACRO=INDEX, they have one kernel only: the one in that line of "kernels" (protocol.h), counted from 0. */
#define ONLY_MACRO "__GPUSIM_ONLY"

#define HAZARD(name, bit, word) HAZARD_##name = bit,
enum kernel_hazard { KERNEL_HAZARDS(HAZARD) };
#undef HAZARD

#define KIND(name, word) ARGUMENT_##name,
enum argument_kind { ARGUMENT_KINDS(KIND) ARGUMENT_KIND_COUNT };
#undef KIND

#endif
