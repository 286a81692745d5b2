/*
 * A CUDA runtime that does nothing: its functions return 77, and those that gpusim refuses, or that have parameters which it does not know, a sum of
 * their parameters. Programs are linked with it, as a shared library or as an object. No function of it may run unless gpusim is switched off.
 */
enum { NOTHING_DONE = 77 };

#define PARAMETERS long a, long b, long c, long d, long e, long f, long g, long h, double x, double y
#define SUM (int)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * (long)x + 10 * (long)y)

#define NOTHING(name) \
	int name(void); \
	int name(void) \
	{ \
		return NOTHING_DONE; \
	}
#define CALL(name, params, args) NOTHING(name)
#define STREAM_CALL(name, params, args) NOTHING(name) NOTHING(name##_ptsz)
#define DEFAULT_CALL(name, params, args) NOTHING(name) NOTHING(name##_ptds)
#define VERSION_CALL(name, params, args) NOTHING(name)
#define FREE_CALL(name, params, args) NOTHING(name)
#define PLAIN(name, type, otherwise, params, args) NOTHING(name)
#define REFUSED(name) \
	int name(PARAMETERS); \
	int name(PARAMETERS) \
	{ \
		return SUM; \
	}
#define LONG_CALL(name, params, args) \
	int name(long a, long b, long c, long d, long e, long f, long g, long h); \
	int name(long a, long b, long c, long d, long e, long f, long g, long h) \
	{ \
		return (int)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h); \
	}
#include "interposer/cuda/entries.def"

#ifdef INSIDE
/* What makes an executable one with kernels. */
__attribute__((section(".nv_fatbin"), used)) static const char fat_binary[64] = {1};
#endif
