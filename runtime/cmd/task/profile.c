/* The profile of a task list. */
#include "runtime/cmd/task/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_entry(struct import_list *entries, struct import_entry entry)
{
	if (!gs_reserve(&entries->entries, entries->count, &entries->room, sizeof *entries->entries))
		return -ENOMEM;
	entries->entries[entries->count++] = entry;
	return 0;
}

static int add_copy(const struct task_list *list, struct import_list *entries, const struct task_step *s)
{
	return add_entry(entries, (struct import_entry){.copies = true, .how = s->how, .address = list->buffers[s->buffer].begin, .bytes = s->bytes});
}

static int add_steps(const struct task_list *list, struct import_job *job, struct import_list *entries, struct task_launch *launches)
{
	int result = 0;
	for (size_t i = 0; i < list->buffer_count && !result; i++)
		result = pieces_copy(&job->memory, list->buffers[i].begin, list->buffers[i].bytes);
	for (size_t i = 0; i < list->step_count && !result; i++) {
		const struct task_step *s = &list->steps[i];
		if (s->kind == STEP_COPY)
			result = add_copy(list, entries, s);
		if (s->kind == STEP_HOST)
			result = add_entry(entries, (struct import_entry){.host = true, .seconds = s->seconds});
		if (s->kind != STEP_LAUNCH)
			continue;
		result = import_add_launch(job, entries, &task_stream_kind, &launches[s->kernel], strdup(list->kernels[s->kernel].name));
		if (result)
			continue;
		struct imported_launch *l = &job->launches[job->launch_count - 1];
		l->counted = launches[s->kernel].counted;
		l->repeats = launches[s->kernel].first;
		if (l->repeats)
			job->launches[l->repeats - 1].repeated = true;
		else
			launches[s->kernel].first = job->launch_count;
	}
	return result;
}

int task_write(const struct task_list *list, struct import_job *job, const char *input, const char *output, struct gs_error *err)
{
	struct import_list entries = {0};
	struct import_about about = {.device = "a task list", .calls = true};
	struct task_launch *launches = calloc(list->kernel_count + 1, sizeof *launches);
	int result = launches ? 0 : -ENOMEM;
	for (size_t i = 0; i < list->kernel_count && !result; i++)
		task_launch_begin(&launches[i], list, &list->kernels[i], job);
	if (!result)
		result = add_steps(list, job, &entries, launches);
	gs_buf_add(&about.command, "gpusim\0task", 12);
	gs_buf_add(&about.command, input, strlen(input) + 1);
	if (result)
		gs_fail(err, ENOMEM, "out of memory");
	else
		result = import_write(job, &entries, &about, output, err);
	gs_buf_free(&about.command);
	import_free(job, &entries);
	free(launches);
	return result;
}
