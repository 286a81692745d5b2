#include "runtime/process/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* UINT64_MAX: it has no limit ("max"), or there is no such file. */
static uint64_t limit_in(const char *path)
{
	uint64_t bytes = UINT64_MAX;
	FILE *f = fopen(path, "re");
	if (f && fscanf(f, "%" SCNu64, &bytes) != 1)
		bytes = UINT64_MAX;
	if (f)
		fclose(f);
	return bytes;
}

uint64_t memory_bytes(void)
{
	static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t least = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		uint64_t limit = limit_in(limits[i]);
		least = limit < least ? limit : least;
	}
	return least;
}
