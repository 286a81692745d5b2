/* The calls of a program that a list describes. */
#include "runtime/cmd/streams/job.h"

#include "runtime/format/calls.h"
#include "runtime/timeline/schedule.h"

#include <inttypes.h>

static enum command_engine engine_of(enum transfer_kind kind)
{
	return kind == TRANSFER_READ || kind == TRANSFER_MAP ? ENGINE_FROM_GPU : kind == TRANSFER_WRITE || kind == TRANSFER_UNMAP ? ENGINE_TO_GPU : ENGINE_COMPUTE;
}

void import_calls(const struct import_job *job, const struct import_list *list, struct gs_pack *out)
{
	struct gs_buf text = {0};
	uint64_t now = 0, seq = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct import_entry *e = &list->entries[i];
		uint64_t begin = now;
		if (e->host) {
			now += (uint64_t)(e->seconds * 1e9);
			gs_buf_printf(&text, "host 0 -1 0 0 %d %" PRIu64 " %" PRIu64 " 0 0 - host\n", CALL_WORKS, begin, now);
		} else if (e->copies) {
			gs_buf_printf(&text, "%s 0 0 0 %d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 - -\n", transfer_name(e->how), (int)engine_of(e->how), CALL_WAITS, begin, now, e->bytes);
		} else {
			gs_buf_printf(&text, "launch 0 0 0 %d 0 %" PRIu64 " %" PRIu64 " 0 %" PRIu64 " - %s\n", (int)ENGINE_COMPUTE, begin, now, ++seq, job->launches[e->launch].header.name);
		}
	}
	gs_pack_puts(out, "facts", "rank=0\nranks=0\nomitted=0\n");
	gs_pack_add(out, "calls", text.data ? text.data : "", text.len);
	gs_buf_free(&text);
}
