/* Reading JSON; see doc.h. */
#include "runtime/cmd/doc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

json_t *doc_read(const char *path, struct gs_error *err)
{
	json_error_t why;
	bool from_stdin = !strcmp(path, "-");
	FILE *file = from_stdin ? stdin : fopen(path, "r");
	if (!file) {
		gs_fail(err, errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	json_t *doc = json_loadf(file, JSON_REJECT_DUPLICATES, &why);
	if (!doc)
		gs_fail(err, EINVAL, "%s:%d: %s", path, why.line, why.text);
	if (!from_stdin)
		fclose(file);
	return doc;
}

json_t *doc_read_report(const char *path, struct gs_error *err)
{
	static const char schema[] = "gpusim.report/1";
	json_t *doc = doc_read(path, err);
	if (doc && strcmp(doc_text(doc, "schema"), schema)) {
		gs_fail(err, EINVAL, "%s: not a report of gpusim (its schema is not %s)", path, schema);
		json_decref(doc);
		return NULL;
	}
	return doc;
}

double doc_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

const char *doc_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

const json_t *doc_member(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_is_object(value) || json_is_array(value) ? value : NULL;
}

bool doc_has(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return value && !json_is_null(value);
}

const json_t *doc_find(const json_t *list, const char *key, const char *value)
{
	size_t i;
	json_t *item;
	json_array_foreach((json_t *)list, i, item)
		if (!strcmp(doc_text(item, key), value))
			return item;
	return NULL;
}
