/* Finding gpusim-cc; see cc_path.h. */
#include "runtime/config/cc_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cc_path(const char *chosen, const char *own, char *path, struct gs_error *err)
{
	static const char *const places[] = {"%.*s/gpusim-cc", "%.*s/../libexec/gpusim/gpusim-cc",
					     "%.*s/../bin/gpusim-cc"};
	if (*chosen) {
		snprintf(path, PATH_MAX, "%s", chosen);
		return access(path, X_OK) ? gs_fail(err, ENOENT, "GPUSIM_CC: '%s' cannot be run", path) : 0;
	}
	const char *slash = strrchr(own, '/');
	int length = slash ? (int)(slash - own) : 0;
	for (size_t i = 0; i < GS_ARRAY_LEN(places); i++) {
		snprintf(path, PATH_MAX, places[i], length, own);
		if (!access(path, X_OK))
			return 0;
	}
	return gs_fail(err, ENOENT, "gpusim-cc was not found beside %s; set GPUSIM_CC", own);
}
