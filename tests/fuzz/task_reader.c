/* Fuzz target of what reads task lists and carries them out. Any bytes must be read without a fault, and lists that are taken end. */
#include "runtime/cmd/task/task.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct task_list list;
	struct gs_error err;
	struct import_job job = {.trace_items = 256, .trace_bytes = 1 << 20, .counter_bytes = 1 << 16};
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	for (size_t i = 0; i < size; i++)
		text[i] = (char)data[i];
	text[size] = 0;
	if (!task_parse("fuzz.task", text, size, &list, &err))
		for (size_t i = 0; i < list.kernel_count; i++) {
			struct task_launch launch;
			task_launch_begin(&launch, &list, &list.kernels[i], &job);
			carry_out(&launch);
		}
	task_free(&list);
	free(text);
	return 0;
}
