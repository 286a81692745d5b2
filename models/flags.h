/* Flags of an estimate: what a reader must know beside its number. models/flags.def has them all, with their texts. */
#ifndef GPUSIM_MODELS_FLAGS_H
#define GPUSIM_MODELS_FLAGS_H

#include <stddef.h>
#include <stdint.h>

enum flag {
#define FLAG(name, meaning, remedy) FLAG_##name,
#include "models/flags.def"
#undef FLAG
	FLAG_COUNT,
};

typedef uint32_t flag_set; /* bit `flag` of each that is set */

struct flag_text {
	const char *name, *meaning, *remedy; /* sentences */
};

extern const struct flag_text flag_texts[FLAG_COUNT];

static inline void flag_add(flag_set *set, enum flag flag)
{
	*set |= (flag_set)1 << flag;
}

/* The name of the next flag of a set, and *set without it; NULL: it is empty. */
const char *flag_take(flag_set *set);

#endif
