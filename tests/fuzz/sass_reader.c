/*
 * Fuzz target of what reads traces of Accel-Sim's tracer. Any bytes must be read without a fault, as text or packed, both times that an import reads
 * them; and the code that is made of them is such that code_read takes it.
 */
#include "runtime/cmd/accelsim/import/trace.h"
#include "runtime/cmd/streams/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The command shows them. */
void import_progress(struct import_job *job, uint64_t bytes)
{
	(void)job;
	(void)bytes;
}

void import_progress_end(void)
{
}

static void check_code(const struct kernel_code *code)
{
	struct gs_buf bytes = {0};
	struct kernel_code *again = NULL;
	struct gs_error err;
	code_write(code, &bytes);
	if (!bytes.failed && code_read(bytes.data, bytes.len, &again, &err))
		abort();
	code_free(again);
	gs_buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct gs_error err;
	struct launch_counts counts = {0};
	struct imported_launch launch = {.kind = &sass_trace_kind, .of = path, .path = path};
	struct import_job job = {.launches = &launch, .launch_count = 1, .trace_items = 256, .trace_bytes = 1 << 20, .counter_bytes = 1 << 16};
	if (!size)
		return 0;
	snprintf(path, sizeof path, "/tmp/gpusim-fuzz-%d.%s", (int)getpid(), data[0] & 1 ? "tracez" : "traceg");
	if (gs_write_file(path, data + 1, size - 1, &err))
		return 0;
	pieces_copy(&job.memory, 0x500000000, 4096);
	if (!import_survey(&job, &launch, &err) && !pieces_settle(&job.memory) && !import_finish_code(&job, &err)) {
		check_code(job.kernels[launch.kernel].code);
		if (launch.header.grid[0] * launch.header.grid[1] * launch.header.grid[2] < 1 << 16 && !import_count(&job, &launch, &counts, &err))
			launch_counts_free(&counts);
	}
	for (size_t i = 0; i < job.kernel_count; i++) {
		free(job.kernels[i].name);
		free(job.kernels[i].title);
		observed_free(job.kernels[i].observed);
		code_free(job.kernels[i].code);
	}
	free(job.kernels);
	pieces_free(&job.memory);
	unlink(path);
	return 0;
}
