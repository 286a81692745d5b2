/* Finds SimGrid, which is another project's and need not be installed. */
#include "runtime/cmd/cluster/smpi.h"

#include <dlfcn.h>
#include <errno.h>

struct smpi smpi;

static void *open_library(void)
{
	static const char *const names[] = {"libsimgrid.so", "libsimgrid.so.3.32", "libsimgrid.so.3.34", "libsimgrid.so.3.35", "libsimgrid.so.3.36"};
	void *library = NULL;
	for (size_t i = 0; i < GS_ARRAY_LEN(names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

int smpi_open(struct gs_error *err)
{
	void *library = open_library(), **world;
	const char *missing = NULL;
	if (!library)
		return gs_fail(err, ENOENT, "SimGrid is not installed: its library libsimgrid.so is needed (Debian: apt-get install libsimgrid-dev)");
#define X(type, name, parameters) \
	if (!(*(void **)&smpi.name = dlsym(library, #name))) \
		missing = #name;
	SMPI_FUNCTIONS(X)
#undef X
	world = dlsym(library, "MPI_COMM_WORLD");
	smpi.byte = dlsym(library, "smpi_MPI_UNSIGNED_CHAR");
	smpi.word = dlsym(library, "smpi_MPI_UNSIGNED_LONG");
	smpi.max = dlsym(library, "smpi_MPI_MAX");
	if (missing || !world || !smpi.byte || !smpi.word || !smpi.max)
		return gs_fail(err, ENOSYS, "this libsimgrid.so cannot be used: it has no %s (SimGrid 3.32 with SMPI is known to work)", missing ? missing : "MPI_COMM_WORLD");
	smpi.world = *world;
	return 0;
}
