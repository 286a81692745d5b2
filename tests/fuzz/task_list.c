#include "tests/fuzz/task_list.h"

#include "runtime/cmd/task/task.h"

enum { MOST_LINES = 20000 };

static void carry_out(const struct task_launch *launch)
{
	const struct sass_header *header;
	struct sass_part part;
	struct gs_error err;
	void *stream = NULL;
	if (!task_stream_kind.open(launch, &stream, &header, &err))
		for (int i = 0; i < MOST_LINES && task_stream_kind.next(stream, &part, &err) > SASS_ITEM_END;)
			i++;
	task_stream_kind.close(stream);
}

void fuzz_task_list(const char *path, const char *text, size_t size)
{
	struct task_list list = {0};
	struct import_job job = {.trace_items = 256, .trace_bytes = 1 << 20, .counter_bytes = 1 << 16};
	struct gs_error err;
	if (!task_parse(path, text, size, &list, &err))
		for (size_t i = 0; i < list.kernel_count; i++) {
			struct task_launch launch;
			task_launch_begin(&launch, &list, &list.kernels[i], &job);
			carry_out(&launch);
		}
	task_free(&list);
}
