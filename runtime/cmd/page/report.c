/* gpusim report: makes a page from a JSON report, in one file that needs no other. */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In JSON these characters occur only inside strings, where escapes may stand for them. */
static void embed(struct gs_buf *out, const char *data)
{
	for (size_t plain; *data; data += plain) {
		plain = strcspn(data, "<>&");
		gs_buf_add(out, data, plain);
		if (data[plain])
			gs_buf_printf(out, "\\u%04x", data[plain++]);
	}
}

int page_make(struct gs_buf *out, const char *js, const char *data)
{
	for (const char *p = page_html; *p;) {
		const char *at = strchr(p, '@');
		gs_buf_add(out, p, at ? (size_t)(at - p) : strlen(p));
		if (!at)
			break;
		if (!strncmp(at, "@CSS@", 5))
			gs_buf_puts(out, page_css);
		else if (!strncmp(at, "@JS@", 4))
			gs_buf_puts(out, js);
		else if (!strncmp(at, "@DATA@", 6))
			embed(out, data);
		else
			return -1;
		p = strchr(at + 1, '@') + 1;
	}
	return out->failed ? -1 : 0;
}

/* run.json becomes run.html. */
static char *default_name(const char *file)
{
	size_t length = strlen(file);
	char *name = malloc(length + 6);
	if (!name)
		return NULL;
	if (length > 5 && !strcmp(file + length - 5, ".json"))
		length -= 5;
	sprintf(name, "%.*s.html", (int)length, file);
	return name;
}

/* what_if: of gpusim what-if --json, for a panel of its own; NULL: none. */
static int write_page(const json_t *report, const json_t *what_if, const char *file)
{
	struct gs_buf page = {0};
	struct gs_error err = {""};
	json_t *data = page_data(report);
	int result = 0;
	if (data && what_if)
		json_object_set(data, "what_if", (json_t *)what_if);
	char *text = data ? json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
	if (!text || page_make(&page, page_js, text))
		result = cmd_fail("report: out of memory");
	else if (!strcmp(file, "-"))
		result = fwrite(page.data, 1, page.len, stdout) == page.len ? 0 : cmd_fail("report: cannot write");
	else if (gs_write_file(file, page.data, page.len, &err))
		result = cmd_fail("report: %s", err.text);
	gs_buf_free(&page);
	free(text);
	json_decref(data);
	return result;
}

int cmd_report(int argc, char **argv)
{
	const char *file = NULL, *output = NULL, *beside = NULL;
	struct gs_error err;
	for (int i = 1; i < argc; i++) {
		if (cmd_value("-o", argc, argv, &i, &output) || cmd_value("--output", argc, argv, &i, &output) ||
		    cmd_value("--what-if", argc, argv, &i, &beside))
			continue;
		if ((argv[i][0] == '-' && argv[i][1]) || file)
			return cmd_fail("report: unexpected '%s'", argv[i]);
		file = argv[i];
	}
	if (!file)
		return cmd_fail("report: name a report: gpusim report FILE.json [-o FILE.html]");
	json_t *report = doc_read_report(file, &err);
	if (!report)
		return cmd_fail("report: %s", err.text);
	json_t *what_if = beside ? json_load_file(beside, 0, NULL) : NULL;
	if (beside && strcmp(doc_text(what_if, "schema"), "gpusim.what-if/1")) {
		json_decref(report);
		json_decref(what_if);
		return cmd_fail("report: %s is not what gpusim what-if --json writes", beside);
	}
	char *name = output ? NULL : default_name(file);
	int result = output || name ? write_page(report, what_if, output ? output : name) : cmd_fail("report: out of memory");
	free(name);
	json_decref(report);
	json_decref(what_if);
	return result;
}
