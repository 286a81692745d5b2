/* gpusim cite: how to name this version in a paper, and what was measured of its accuracy. */
#include "runtime/cmd/cmd.h"

#include "runtime/config/accuracy.h"
#include "runtime/config/gpus.h"
#include "runtime/format/protocol.h"

#include <stdio.h>
#include <stdlib.h>

static void say(const char *text, void *data)
{
	(void)data;
	printf("%% %s\n", text);
}

/* Without the GPUs that nothing was measured of: these are most. */
int cmd_cite(int argc, char **argv)
{
	if (argc > 1)
		return cmd_fail("cite: unexpected '%s'", argv[1]);
	puts("% Name the GPU descriptions that you used, and keep the JSON report: it has the version, the options and the command.");
	puts("@software{gpusim,\n  title   = {gpusim: estimates of how long OpenCL and CUDA kernels take on another GPU},\n  version = {" GPUSIM_VERSION "},\n"
	     "  note    = {gpusim-cc " GPUSIM_CC_VERSION "}\n}");
	puts("% What was measured of its estimates (docs/accuracy):");
	char **names = gpus_names();
	for (char **n = names; n && *n; n++) {
		if (accuracy_is_measured(*n))
			accuracy_tell(&(struct accuracy_target){*n, "hierarchy"}, 1, say, NULL);
		free(*n);
	}
	free(names);
	return 0;
}
