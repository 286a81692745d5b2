/* The HTML report. When the JSON report is complete, `gpusim report` makes the page of it, in a process of its own. If the application's
 * process ends before that, the JSON report has everything. */
#include "runtime/report/formats.h"

#include "runtime/config/log.h"
#include "runtime/model/simulation.h"
#include "runtime/process/spawn.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOG_DOMAIN "report"

/* Beside the library, or where `make install` puts it. */
static bool find_command(const struct simulation *sim, char path[PATH_MAX])
{
	static const char *const places[] = {"%.*s/gpusim", "%.*s/../bin/gpusim"};
	const char *slash = strrchr(sim->library, '/');
	for (size_t i = 0; i < GS_ARRAY_LEN(places); i++) {
		snprintf(path, PATH_MAX, places[i], slash ? (int)(slash - sim->library) : 0, sim->library);
		if (!access(path, X_OK))
			return true;
	}
	return false;
}

void report_html(const struct simulation *sim, const char *json, const char *ending, bool keep_json)
{
	enum { TIMEOUT_S = 120 };
	char command[PATH_MAX], html[PATH_MAX];
	struct gs_buf said = {0};
	struct gs_error err = {""};
	size_t length = json ? strlen(json) - strlen(ending) : 0;
	if (!json || length + sizeof ".html" > sizeof html)
		return;
	snprintf(html, sizeof html, "%.*s.html", (int)length, json);
	unlink(html); /* so that an old one is not taken for ours */
	if (!find_command(sim, command))
		gs_fail(&err, 0, "the command gpusim was not found beside %s", sim->library);
	else
		run_apart(command, (char *const[]){command, "report", (char *)json, "-o", html, NULL}, sim->cc_environment,
		          TIMEOUT_S, &said, &err);
	bool made = !access(html, R_OK);
	if (!made)
		log_warning("no %s: %s%s; the report is in %s", html, err.text, said.data ? said.data : "", json);
	else if (!keep_json)
		unlink(json);
	gs_buf_free(&said);
}
