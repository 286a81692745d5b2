/* The list of a unit's edits. */
#include "annotator/edits/edits.h"

#include "annotator/source/array.h"

#include <errno.h>
#include <stdlib.h>

struct edit *add_edit(struct edit_pass *pass, enum edit_kind kind, size_t at, size_t drop)
{
	struct parsed_unit *u = pass->unit;
	struct edit *e = array_grow(&u->edits, &u->edit_count, sizeof *e);
	if (!e) {
		pass->result = gs_fail(pass->err, ENOMEM, "out of memory");
		return NULL;
	}
	*e = (struct edit){.at = at, .drop = drop, .kind = kind, .function = pass->function, .order = u->edit_count};
	return e;
}

static int compare_edits(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Whether an edit was made already. libclang visits the type of several variables with each of them, and it may contain calls. */
static bool is_repeated(const struct edit *kept, size_t count, const struct edit *e)
{
	if (e->kind != EDIT_ARGUMENT && e->kind != EDIT_CALLEE && e->kind != EDIT_BOX && e->kind != EDIT_BOX_END &&
	    e->kind != EDIT_PRINT)
		return false;
	while (count-- && kept[count].at == e->at)
		if (kept[count].kind == e->kind)
			return true;
	return false;
}

void sort_edits(struct parsed_unit *u)
{
	size_t kept = 0;
	if (u->edit_count)
		qsort(u->edits, u->edit_count, sizeof *u->edits, compare_edits);
	for (size_t i = 0; i < u->edit_count; i++)
		if (!is_repeated(u->edits, kept, &u->edits[i]))
			u->edits[kept++] = u->edits[i];
	u->edit_count = kept;
}
