/* units: a unit is a source with the options and headers that it was compiled with. A program is a list of them. */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_UNITS_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_UNITS_H

#include "runtime/base/base.h"

#include <stdatomic.h>

struct header {
	char *name, *text;
};

/* A unit never changes after it is made. */
struct unit {
	atomic_int refs;
	char *options, *source;
	size_t source_length;
	struct header *headers;
	size_t header_count;
};

struct unit_list {
	struct unit **units;
	size_t count;
	char *cwd; /* the directory for looking up includes; NULL: it has no includes */
};

/* NULL when out of memory. The caller gets one reference. */
struct unit *unit_new(const char *source, size_t length, const char *options);
void unit_release(struct unit *u); /* u may be NULL */
int unit_add_header(struct unit *u, const char *name, const char *text);

/* Takes over the reference, also on failure. */
int unit_list_append(struct unit_list *list, struct unit *u);
int unit_list_join(struct unit_list *list, const struct unit_list *more);
/* Remembers the working directory if the units need it. */
void unit_list_set_cwd(struct unit_list *list);
/* Whether the text of the units depends on files. */
bool unit_list_includes(const struct unit_list *list);
void unit_list_free(struct unit_list *list);
int unit_list_encode(const struct unit_list *list, struct gs_pack *pack);
/* Reads what unit_list_encode has written. After a failure *list still has to be freed. */
int unit_list_decode(struct unit_list *list, const struct gs_pack *pack);

#endif
