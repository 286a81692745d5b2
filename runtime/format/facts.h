/*
 * What is known of a kernel before it runs. From it the guest decides how the kernel's twin may run: on the application's own
 * memory, or on copies of it, beside the kernel itself (protocol.h: safety, arguments).
 */
#ifndef GPUSIM_RUNTIME_FORMAT_FACTS_H
#define GPUSIM_RUNTIME_FORMAT_FACTS_H

/* Each applies to a kernel or to anything that it calls: HAZARD_name, bit, word. */
#define KERNEL_HAZARDS(X) \
	X(BARRIERS, 1, "barriers") \
	X(PRINTS, 2, "prints") \
	X(ADDRESSES, 4, "addresses") \
	X(UNCONST, 8, "unconst") \
	X(VARIABLES, 16, "variables") \
	X(ROUNDING, 32, "rounds") \
	X(WAITS, 64, "waits") \
	X(EXPLODES, 128, "explodes") \
	X(NESTS, 256, "nests") /* no hazard: three loops or more in each other are traced in windows */ \
	X(PARTS, 4096, "parts") /* no hazard: it has loops, which are traced longer where lanes part */ \
	X(STRAIGHT, 512, "straight") /* no hazard: it has no loops */ \
	X(GROUPED, 1024, "grouped") /* results may depend on how work-items are grouped */ \
	X(NUMBERED, 2048, "numbered") /* it knows groups by number, or may: another number of groups may need other memory */

/* ARGUMENT_name, word. */
#define ARGUMENT_KINDS(X) \
	X(OTHER, "other")       /* a pipe, a queue, an event ... */ \
	X(VALUE, "value") \
	X(LOCAL, "local")       /* a pointer to __local */ \
	X(CONSTANT, "constant") /* a pointer to __constant */ \
	X(CONST, "const")       /* a pointer to const __global */ \
	X(UNWRITTEN, "unwritten") /* a pointer to __global; the compiler has found no write through it */ \
	X(GLOBAL, "global")     /* any other pointer to __global */ \
	X(READ, "read")         /* an image that is only read */ \
	X(WRITE, "write")       /* any other image */ \
	X(SAMPLER, "sampler")

/* Built with -D SILENT_MACRO, host text evaluates the arguments of printf and prints nothing. */
#define SILENT_MACRO "__GPUSIM_SILENT"

/* Built with -D ONLY_MACRO=INDEX, host text has only one kernel: line INDEX of the section "kernels" (protocol.h), counted from
 * 0. */
#define ONLY_MACRO "__GPUSIM_ONLY"

#define HAZARD(name, bit, word) HAZARD_##name = bit,
enum kernel_hazard { KERNEL_HAZARDS(HAZARD) };
#undef HAZARD

#define KIND(name, word) ARGUMENT_##name,
enum argument_kind { ARGUMENT_KINDS(KIND) ARGUMENT_KIND_COUNT };
#undef KIND

#endif
