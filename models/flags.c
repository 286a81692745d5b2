#include "models/flags.h"

_Static_assert(FLAG_COUNT <= 8 * sizeof(flag_set), "a set has a bit for every flag");

const struct flag_text flag_texts[FLAG_COUNT] = {
#define FLAG(name, meaning, remedy) {#name, meaning, remedy},
#include "models/flags.def"
#undef FLAG
};

const char *flag_take(flag_set *set)
{
	for (int flag = 0; flag < FLAG_COUNT; flag++)
		if (*set >> flag & 1) {
			*set &= ~((flag_set)1 << flag);
			return flag_texts[flag].name;
		}
	return NULL;
}
