/* Writes the log of calls in the form of runtime/format/calls.h. */
#include "runtime/timeline/calls.h"

#include "runtime/format/calls.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void add_call(struct gs_buf *out, const struct schedule_command *c)
{
	unsigned flags = (c->waits ? CALL_WAITS : 0u) | (c->waits_all ? CALL_WAITS_ALL : 0u) | (c->barrier ? CALL_BARRIER : 0u) |
	                 (c->queue && !c->queue->in_order ? CALL_OUT_OF_ORDER : 0u) | (c->works ? CALL_WORKS : 0u) |
	                 (c->queue && c->queue->stream ? CALL_STREAM : 0u) | (c->records ? CALL_RECORDS : 0u) |
	                 (c->queue ? c->queue->device << CALL_GPU_SHIFT : 0u) |
	                 (unsigned)c->from << CALL_FROM_SHIFT | (unsigned)c->to << CALL_TO_SHIFT;
	gs_buf_printf(out, "%s %u %d %d %d %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ", c->what, c->thread->index,
	              c->queue ? (int)c->queue->index : -1, c->queue ? c->queue->priority : 0, (int)c->engine, flags, c->call_ns, c->return_ns,
	              c->size_bytes, c->launch);
	for (size_t i = 0; i < c->after_count; i++)
		gs_buf_printf(out, "%s%" PRIu64, i ? "," : "", c->after[i]->id);
	gs_buf_printf(out, "%s %s\n", c->after_count ? "" : "-", c->name ? c->name : "-");
}

/* So that ranks of one run are known to be of one program. A large program is known by its size and its beginning. */
static void add_program(struct gs_buf *out)
{
	enum { MOST_HASHED = 64 << 20 };
	char path[4096], hash[33] = "";
	struct gs_buf bytes = {0};
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	path[length > 0 ? length : 0] = 0;
	if (!gs_read_file("/proc/self/exe", &bytes, NULL))
		gs_hash_hex(bytes.data, bytes.len < MOST_HASHED ? bytes.len : MOST_HASHED, hash);
	gs_buf_printf(out, "program=%s\nprogram_hash=%s\nprogram_bytes=%zu\n", path, hash, bytes.len);
	gs_buf_free(&bytes);
}

bool pack_calls(struct timeline *timeline, const struct run_mpi *mpi, struct gs_pack *pack)
{
	struct gs_buf facts = {0}, calls = {0};
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	gs_buf_printf(&facts, "rank=%d\nranks=%d\nlibrary=%s\nhost=%s\n", mpi->rank, mpi->ranks, mpi->library, host);
	add_program(&facts);
	pthread_mutex_lock(&timeline->lock);
	gs_buf_printf(&facts, "omitted=%" PRIu64 "\nleft_out=%s\n", timeline->omitted, mpi->left_out);
	for (const struct schedule_command *c = timeline->schedule.first; c; c = c->next)
		add_call(&calls, c);
	pthread_mutex_unlock(&timeline->lock);
	bool good = !facts.failed && !calls.failed;
	if (good) {
		gs_pack_add(pack, "facts", facts.data, facts.len);
		gs_pack_add(pack, "calls", calls.data, calls.len);
	}
	gs_buf_free(&facts);
	gs_buf_free(&calls);
	return good;
}
