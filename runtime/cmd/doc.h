/*
 * doc: reads JSON documents, mostly reports. All commands read JSON through it. It uses jansson.
 *
 * A value that is missing or has another type is read as 0, "" or NULL, because older reports lack members that were added
 * later. Functions json_* are jansson's own. The caller frees a document with json_decref.
 */
#ifndef GPUSIM_RUNTIME_CMD_DOC_H
#define GPUSIM_RUNTIME_CMD_DOC_H

#include "runtime/base/base.h"

#include <jansson.h>

/* NULL on failure, with file and line in *err. "-" means stdin. */
json_t *doc_read(const char *path, struct gs_error *err);
/* Reads one of our reports. Another schema is an error. */
json_t *doc_read_report(const char *path, struct gs_error *err);

double doc_number(const json_t *object, const char *key);
const char *doc_text(const json_t *object, const char *key);
const json_t *doc_member(const json_t *object, const char *key); /* an object or a list, or NULL */
bool doc_has(const json_t *object, const char *key);             /* whether it is there and not null */
/* The first object in a list whose `key` has the text `value`. NULL: there is none. */
const json_t *doc_find(const json_t *list, const char *key, const char *value);

#endif
