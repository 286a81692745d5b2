/* Making units, and reading them back; what others need of them is in state.h. */
#ifndef GPUSIM_RUNTIME_GUEST_UNITS_H
#define GPUSIM_RUNTIME_GUEST_UNITS_H

#include "runtime/guest/state.h"

/* NULL when out of memory; one reference is the caller's. */
struct unit *unit_new(const char *source, size_t length, const char *options);
void unit_release(struct unit *u); /* NULL is fine */
int unit_add_header(struct unit *u, const char *name, const char *text);

/* Takes the reference over, also on failure. */
int unit_list_append(struct unit_list *list, struct unit *u);
int unit_list_join(struct unit_list *list, const struct unit_list *more);
/* Remembers the working directory if the units need it. */
void unit_list_set_cwd(struct unit_list *list);
/* What unit_list_encode made of a list; on failure *list still has to be freed. */
int unit_list_decode(struct unit_list *list, const struct gs_pack *pack);

#endif
