/*
 * doc: reading JSON documents, reports above all. The one reader of JSON in the command, on top of jansson.
 *
 * What is asked for and is not there, or is of another kind, is 0, "" or NULL: an older report lacks what was added
 * later. json_* functions are jansson's own; whoever reads a document frees it with json_decref.
 */
#ifndef GPUSIM_RUNTIME_CMD_DOC_H
#define GPUSIM_RUNTIME_CMD_DOC_H

#include "runtime/base/base.h"

#include <jansson.h>

/* NULL on failure, with file and line in *err. "-" is stdin. */
json_t *doc_read(const char *path, struct gs_error *err);
/* The same for a report of ours; another schema is an error. */
json_t *doc_read_report(const char *path, struct gs_error *err);

double doc_number(const json_t *object, const char *key);
const char *doc_text(const json_t *object, const char *key);
const json_t *doc_member(const json_t *object, const char *key); /* object or list, or NULL */
bool doc_has(const json_t *object, const char *key);             /* and it is not null */
/* The first object in a list whose `key` is the text `value`; NULL: none. */
const json_t *doc_find(const json_t *list, const char *key, const char *value);

#endif
