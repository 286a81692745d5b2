/* The functions that programs call, made from calls.def; see mpi.h. */
#include "interposer/mpi/mpi.h"

#include <errno.h>
#include <stdatomic.h>

#define EXPORT __attribute__((visibility("default")))

enum { MPI_FAILURE = 15 }; /* MPI_ERR_OTHER: never 0; both libraries have it near that number */

#define WORDS_0 void
#define WORDS_1 mpi_word a
#define WORDS_2 WORDS_1, mpi_word b
#define WORDS_3 WORDS_2, mpi_word c
#define WORDS_4 WORDS_3, mpi_word d
#define WORDS_5 WORDS_4, mpi_word e
#define WORDS_6 WORDS_5, mpi_word f
#define WORDS_7 WORDS_6, mpi_word g
#define WORDS_8 WORDS_7, mpi_word h
#define WORDS_9 WORDS_8, mpi_word i
#define WORDS_10 WORDS_9, mpi_word j
#define WORDS_11 WORDS_10, mpi_word k
#define WORDS_12 WORDS_11, mpi_word l

#define NAMES_0
#define NAMES_1 a
#define NAMES_2 NAMES_1, b
#define NAMES_3 NAMES_2, c
#define NAMES_4 NAMES_3, d
#define NAMES_5 NAMES_4, e
#define NAMES_6 NAMES_5, f
#define NAMES_7 NAMES_6, g
#define NAMES_8 NAMES_7, h
#define NAMES_9 NAMES_8, i
#define NAMES_10 NAMES_9, j
#define NAMES_11 NAMES_10, k
#define NAMES_12 NAMES_11, l

#define KEPT_0
#define KEPT_1 w[0]
#define KEPT_2 KEPT_1, w[1]
#define KEPT_3 KEPT_2, w[2]
#define KEPT_4 KEPT_3, w[3]
#define KEPT_5 KEPT_4, w[4]
#define KEPT_6 KEPT_5, w[5]
#define KEPT_7 KEPT_6, w[6]
#define KEPT_8 KEPT_7, w[7]
#define KEPT_9 KEPT_8, w[8]
#define KEPT_10 KEPT_9, w[9]
#define KEPT_11 KEPT_10, w[10]
#define KEPT_12 KEPT_11, w[11]

/* A library may call MPI functions within others. Only the outermost is the program's. */
static __thread bool inside;

/* Both names: what Fortran programs call (mpi_send_ and so on) is in libraries of its own, which go on to PMPI_X of the C library. */
#define MPI_CALL(name, number) \
	EXPORT int MPI_##name(WORDS_##number); \
	EXPORT int MPI_##name(WORDS_##number) \
	{ \
		static _Atomic(void *) found; \
		void *function = atomic_load_explicit(&found, memory_order_acquire); \
		if (!function && (function = mpi_function("PMPI_" #name))) \
			atomic_store_explicit(&found, function, memory_order_release); \
		int (*real)(WORDS_##number) = (int (*)(WORDS_##number))(uintptr_t)function; \
		if (!real) \
			return MPI_FAILURE; \
		struct mpi_event event = {.call = MPI_CALL_##name, .arguments = {NAMES_##number}}; \
		const mpi_word *w = event.arguments; \
		(void)w; \
		if (inside || !mpi_before(&event)) \
			return real(NAMES_##number); \
		inside = true; \
		int result = real(KEPT_##number), saved = errno; \
		mpi_after(&event, result); \
		inside = false; \
		errno = saved; \
		return result; \
	} \
	EXPORT int PMPI_##name(WORDS_##number) __attribute__((alias("MPI_" #name)));
#include "interposer/mpi/calls.def"
#undef MPI_CALL
