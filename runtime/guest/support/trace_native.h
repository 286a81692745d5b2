/* Functions of trace_native.c that other native code calls as well: the trace of one work-item. */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_TRACE_NATIVE_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_TRACE_NATIVE_H

#include "runtime/format/native.h"

#include <stdint.h>

struct native_trace;

/* Classes of spaces, as models/trace/read.c has them. An access without a base is predicted from others of its class. */
enum { GLOBAL_CLASS, SHARED_CLASS, PRIVATE_CLASS, CONSTANT_CLASS, IMAGE_CLASS, NO_BASE = 7 };

/* Declares a function that kernels find by the prefixed name, and begins its definition. */
#define NATIVE_DECLARED(type, name, ...) \
	__attribute__((visibility("default"))) type native_##name(__VA_ARGS__) __asm__(NATIVE_PREFIX #name)
#define NATIVE(type, name, ...) \
	NATIVE_DECLARED(type, name, __VA_ARGS__); \
	type native_##name(__VA_ARGS__)

NATIVE_DECLARED(void *, begin, uint64_t *buffer, uint64_t chunks, uint64_t of, uint64_t part, uint64_t group, uint32_t block, uint32_t site,
                uint64_t x, uint64_t y, uint64_t z, uint64_t size_x, uint64_t size_y, uint64_t lx, uint64_t ly, uint64_t lz,
                uint64_t local_x, uint64_t local_y, uint64_t local_z, uint64_t whole, uint32_t blocks, uint32_t sites, uint32_t loops);
NATIVE_DECLARED(void, end, struct native_trace *t);
NATIVE_DECLARED(void, b, uint32_t block, struct native_trace *t);
NATIVE_DECLARED(void, base_f, uint32_t base, uint32_t kind, uint64_t what, uint64_t address, struct native_trace *t);
NATIVE_DECLARED(void, loop, uint32_t loop, uint32_t size, uint32_t needs_last, struct native_trace *t);
NATIVE_DECLARED(void, body, uint32_t loop, uint32_t body, struct native_trace *t);
NATIVE_DECLARED(void, loop_end, uint32_t loop, uint32_t body, struct native_trace *t);
NATIVE_DECLARED(void *, a_g, int first, int second, uint32_t base, uint64_t bytes, void *p, struct native_trace *t);
NATIVE_DECLARED(void *, a_l, int first, int second, uint32_t base, uint64_t bytes, void *p, struct native_trace *t);
NATIVE_DECLARED(void *, a_c, int first, int second, uint32_t base, uint64_t bytes, void *p, struct native_trace *t);
NATIVE_DECLARED(void *, a_p, int first, int second, uint32_t base, uint64_t bytes, void *p, struct native_trace *t);

/*
 * Lanes of a warp end their windows together, and leave out further ones together, however much each of them writes: a path of the warp has one window
 * for all of them. What one lane wants of the loop's iteration that begins; and what all are told.
 */
enum window_wish { WINDOW_ENDS = 1, WINDOWS_PASS = 2, LANES_PARTED = 4 };
unsigned trace_wishes(uint32_t loop, const struct native_trace *t);
void trace_follow(uint32_t loop, unsigned wishes, struct native_trace *t);
/* The lanes that enter a loop together. Where some have left it, or go on by themselves, its windows become longer. */
void trace_entered(uint32_t loop, uint32_t lanes, struct native_trace *t);
uint32_t trace_entering(uint32_t loop, const struct native_trace *t);

/* The iteration of a loop that the lane is in between two windows of it, which has to be equal in lanes that are to begin a window together; 0: it is in none. */
uint64_t trace_between(const struct native_trace *t);
/* The next iteration of that loop begins a window, if there is room for one. */
void trace_begin_soon(struct native_trace *t);

/* The same for events that another device has written: an access without a base, a gap, and the end of a trace for which there was no room. */
void trace_access(struct native_trace *t, uint32_t site, int class, uint64_t address, uint64_t copied);
void trace_gap(struct native_trace *t, uint32_t body, uint64_t kept, uint64_t left_out);
void trace_cut(struct native_trace *t);

#endif
