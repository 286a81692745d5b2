/* Writes down what each MPI call was, in the form of runtime/format/mpi_calls.h. */
#include "interposer/mpi/mpi.h"

#include "runtime/format/mpi_calls.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct schedule_command *log_call(const struct mpi_event *e, const char *format, ...) GS_PRINTF(2, 3);
static struct schedule_command *log_call(const struct mpi_event *e, const char *format, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	return mpi_called(e->begin_ns, text);
}

static void log_long(const struct mpi_event *e, struct gs_buf *text)
{
	if (!text->failed)
		mpi_called(e->begin_ns, text->data);
	gs_buf_free(text);
}

static int peer_of(mpi_word rank)
{
	return (int)rank == mpi_library()->any_rank ? MPI_CALLS_ANY : (int)rank;
}

static int tag_of(mpi_word tag)
{
	return (int)tag == mpi_library()->any_tag ? MPI_CALLS_ANY : (int)tag;
}

static bool is_nobody(mpi_word rank)
{
	return (int)rank == mpi_library()->no_rank;
}

/* ---- messages ---- */

static int status_value(const void *status, int at)
{
	int value;
	memcpy(&value, (const char *)status + (size_t)at * sizeof value, sizeof value);
	return value;
}

static bool wants_no_status(mpi_word pointer)
{
	return pointer == mpi_library()->ignored_status;
}

static void log_send(const struct mpi_event *e, const char *word)
{
	const mpi_word *w = e->arguments;
	if (is_nobody(w[3]))
		log_call(e, "wait");
	else
		log_call(e, "%s %d %d %" PRIu64 " %d", word, (int)w[3], (int)w[4], mpi_bytes(w[1], w[2]), mpi_comm_number(w[5]));
}

static void log_recv(const struct mpi_event *e)
{
	const mpi_word *w = e->arguments;
	const struct mpi_library *library = mpi_library();
	const void *status = (const void *)w[6];
	if (is_nobody(w[3]))
		log_call(e, "wait");
	else
		log_call(e, "recv %d %d %" PRIu64 " %d", status_value(status, library->status_source), status_value(status, library->status_tag),
		         mpi_bytes(w[1], w[2]), mpi_comm_number(w[5]));
}

static void log_sendrecv(const struct mpi_event *e, bool replace)
{
	const mpi_word *w = e->arguments, *from = replace ? w + 5 : w + 8, *status = replace ? w + 8 : w + 11;
	const struct mpi_library *library = mpi_library();
	int comm = mpi_comm_number(replace ? w[7] : w[10]);
	uint64_t sent = mpi_bytes(w[1], w[2]), received = replace ? sent : mpi_bytes(w[6], w[7]);
	bool sends = !is_nobody(w[3]), receives = !is_nobody(from[0]);
	int source = receives ? status_value((const void *)*status, library->status_source) : 0;
	int tag = receives ? status_value((const void *)*status, library->status_tag) : 0;
	if (sends && receives)
		log_call(e, "sendrecv %d %d %" PRIu64 " %d %d %" PRIu64 " %d", (int)w[3], (int)w[4], sent, source, tag, received, comm);
	else if (sends)
		log_call(e, "send %d %d %" PRIu64 " %d", (int)w[3], (int)w[4], sent, comm);
	else if (receives)
		log_call(e, "recv %d %d %" PRIu64 " %d", source, tag, received, comm);
	else
		log_call(e, "wait");
}

/* ---- requests ---- */

static void request_text(const struct mpi_request *r, const char *word, char text[128])
{
	snprintf(text, 128, "%s %d %d %" PRIu64 " %d %" PRIu64, word, peer_of(r->peer), r->receives ? tag_of(r->tag) : r->tag, r->bytes, r->comm, r->number);
}

static struct mpi_request request_of(const struct mpi_event *e, bool receives)
{
	const mpi_word *w = e->arguments;
	return (struct mpi_request){.receives = receives, .peer = (int)w[3], .tag = (int)w[4], .comm = mpi_comm_number(w[5]), .bytes = mpi_bytes(w[1], w[2])};
}

static void log_request(const struct mpi_event *e, const char *word, bool receives)
{
	struct mpi_request r = request_of(e, receives);
	char text[128];
	if (is_nobody(r.peer)) {
		log_call(e, "wait");
		return;
	}
	r.number = mpi_request_number();
	r.active = true;
	request_text(&r, word, text);
	r.call = mpi_called(e->begin_ns, text);
	mpi_request_add(mpi_handle_at(e->arguments[6], 0), &r);
}

/* One that is started later, perhaps often. */
static void keep_persistent(const struct mpi_event *e, bool receives)
{
	struct mpi_request r = request_of(e, receives);
	r.persistent = true;
	mpi_request_add(mpi_handle_at(e->arguments[6], 0), &r);
	log_call(e, "wait");
}

static void log_start(const struct mpi_event *e, mpi_word handle)
{
	struct mpi_request *r = mpi_request_find(handle);
	char text[128];
	if (!r || !r->persistent || is_nobody(r->peer))
		return;
	r->number = mpi_request_number();
	r->active = true;
	request_text(r, r->receives ? "irecv" : "isend", text);
	r->call = mpi_called(e->begin_ns, text);
}

static void log_collective_request(const struct mpi_event *e, const char *start, mpi_word pointer)
{
	struct mpi_request r = {.number = mpi_request_number(), .active = true};
	log_call(e, "%s %" PRIu64, start, r.number);
	mpi_request_add(mpi_handle_at(pointer, 0), &r);
}

/* ---- what a call has completed ---- */

static void complete(struct mpi_request *r, const void *status, struct gs_buf *text)
{
	const struct mpi_library *library = mpi_library();
	gs_buf_printf(text, " %" PRIu64, r->number);
	if (status && r->call && mpi_request_is_open(r)) {
		struct mpi_request known = *r;
		char amended[128];
		known.peer = status_value(status, library->status_source);
		known.tag = status_value(status, library->status_tag);
		request_text(&known, "irecv", amended);
		mpi_amend(r->call, amended);
	}
	r->active = false;
	if (!r->persistent)
		mpi_request_gone(r);
}

static void complete_handle(mpi_word handle, const void *status, struct gs_buf *text)
{
	struct mpi_request *r = handle == mpi_library()->no_request ? NULL : mpi_request_find(handle);
	if (r && r->active)
		complete(r, status, text);
}

static const void *nth_status(mpi_word statuses, size_t n)
{
	return wants_no_status(statuses) ? NULL : (const char *)statuses + n * mpi_library()->status_size;
}

/* Of requests, those whose indices a call has returned. */
static void complete_some(const struct mpi_event *e, int count, const int *indices, mpi_word statuses, struct gs_buf *text)
{
	for (int i = 0; i < count; i++)
		if (indices[i] >= 0 && (size_t)indices[i] < e->request_count)
			complete_handle(e->requests[indices[i]], nth_status(statuses, (size_t)i), text);
}

static void log_completed(const struct mpi_event *e)
{
	const mpi_word *w = e->arguments;
	struct gs_buf text = {0};
	gs_buf_puts(&text, "wait");
	switch (e->call) {
	case MPI_CALL_Wait:
		complete_handle(e->requests[0], nth_status(w[1], 0), &text);
		break;
	case MPI_CALL_Test:
		if (*(const int *)w[1])
			complete_handle(e->requests[0], nth_status(w[2], 0), &text);
		break;
	case MPI_CALL_Waitall:
	case MPI_CALL_Testall:
		for (size_t i = 0; i < e->request_count && (e->call == MPI_CALL_Waitall || *(const int *)w[2]); i++)
			complete_handle(e->requests[i], nth_status(e->call == MPI_CALL_Waitall ? w[2] : w[3], i), &text);
		break;
	case MPI_CALL_Waitany:
		complete_some(e, 1, (const int *)w[2], w[3], &text);
		break;
	case MPI_CALL_Testany:
		if (*(const int *)w[3])
			complete_some(e, 1, (const int *)w[2], w[4], &text);
		break;
	default: /* Waitsome, Testsome */
		complete_some(e, *(const int *)w[2], (const int *)w[3], w[4], &text);
	}
	log_long(e, &text);
}

/* ---- collectives of several sizes ---- */

static void add_sizes(struct gs_buf *text, mpi_word counts, mpi_word type, int ranks)
{
	for (int i = 0; i < ranks; i++)
		gs_buf_printf(text, " %" PRIu64, mpi_bytes(((const int *)counts)[i], type));
}

static void log_sizes(const struct mpi_event *e)
{
	const mpi_word *w = e->arguments;
	struct gs_buf text = {0};
	switch (e->call) {
	case MPI_CALL_Allgatherv:
		gs_buf_printf(&text, "allgatherv %" PRIu64 " %d", mpi_bytes(w[1], w[2]), mpi_comm_number(w[7]));
		add_sizes(&text, w[4], w[6], mpi_size_of(w[7]));
		break;
	case MPI_CALL_Gatherv:
		gs_buf_printf(&text, "gatherv %" PRIu64 " %d %d", mpi_bytes(w[1], w[2]), (int)w[7], mpi_comm_number(w[8]));
		if (mpi_rank_in(w[8]) == (int)w[7])
			add_sizes(&text, w[4], w[6], mpi_size_of(w[8]));
		break;
	case MPI_CALL_Scatterv:
		gs_buf_printf(&text, "scatterv %" PRIu64 " %d %d", mpi_bytes(w[5], w[6]), (int)w[7], mpi_comm_number(w[8]));
		if (mpi_rank_in(w[8]) == (int)w[7])
			add_sizes(&text, w[1], w[3], mpi_size_of(w[8]));
		break;
	case MPI_CALL_Alltoallv:
		gs_buf_printf(&text, "alltoallv %d", mpi_comm_number(w[8]));
		add_sizes(&text, w[1], w[3], mpi_size_of(w[8]));
		add_sizes(&text, w[5], w[7], mpi_size_of(w[8]));
		break;
	case MPI_CALL_Reduce_scatter:
		gs_buf_printf(&text, "reducescatter %d", mpi_comm_number(w[5]));
		add_sizes(&text, w[2], w[3], mpi_size_of(w[5]));
		break;
	default: /* Reduce_scatter_block */
		gs_buf_printf(&text, "reducescatter %d", mpi_comm_number(w[5]));
		for (int i = 0; i < mpi_size_of(w[5]); i++)
			gs_buf_printf(&text, " %" PRIu64, mpi_bytes(w[2], w[3]));
	}
	log_long(e, &text);
}

/* ---- communicators ---- */

/* However it was made, a new communicator is what MPI_Comm_split would make of the ranks that it has. */
static void log_new_comm(const struct mpi_event *e, mpi_word parent, mpi_word pointer)
{
	mpi_word made = mpi_handle_at(pointer, 0);
	if (made == mpi_library()->no_comm)
		log_call(e, "comm %d -1 0 -1", mpi_comm_number(parent));
	else
		log_call(e, "comm %d %d %d %d", mpi_comm_number(parent), mpi_first_of(made, parent), mpi_rank_in(made), mpi_comm_add(made));
}

/* ---- all of them ---- */

static void log_begin(const struct mpi_event *e)
{
	const struct mpi_library *library = mpi_library();
	mpi_about(mpi_rank_in(library->world), mpi_size_of(library->world), library->name);
	log_call(e, "init");
}

static void log_collective(const struct mpi_event *e)
{
	const mpi_word *w = e->arguments;
	char start[96];
	switch (e->call) {
	case MPI_CALL_Barrier: log_call(e, "barrier %d", mpi_comm_number(w[0])); break;
	case MPI_CALL_Bcast: log_call(e, "bcast %" PRIu64 " %d %d", mpi_bytes(w[1], w[2]), (int)w[3], mpi_comm_number(w[4])); break;
	case MPI_CALL_Reduce: log_call(e, "reduce %" PRIu64 " %d %d", mpi_bytes(w[2], w[3]), (int)w[5], mpi_comm_number(w[6])); break;
	case MPI_CALL_Allreduce: log_call(e, "allreduce %" PRIu64 " %d", mpi_bytes(w[2], w[3]), mpi_comm_number(w[5])); break;
	case MPI_CALL_Scan: log_call(e, "scan %" PRIu64 " %d", mpi_bytes(w[2], w[3]), mpi_comm_number(w[5])); break;
	case MPI_CALL_Exscan: log_call(e, "exscan %" PRIu64 " %d", mpi_bytes(w[2], w[3]), mpi_comm_number(w[5])); break;
	/* What is sent does not count where MPI_IN_PLACE stands for the buffer; what is received is as much. */
	case MPI_CALL_Allgather: log_call(e, "allgather %" PRIu64 " %" PRIu64 " %d", mpi_bytes(w[4], w[5]), mpi_bytes(w[4], w[5]), mpi_comm_number(w[6])); break;
	case MPI_CALL_Alltoall: log_call(e, "alltoall %" PRIu64 " %" PRIu64 " %d", mpi_bytes(w[4], w[5]), mpi_bytes(w[4], w[5]), mpi_comm_number(w[6])); break;
	case MPI_CALL_Gather: {
		uint64_t bytes = mpi_rank_in(w[7]) == (int)w[6] ? mpi_bytes(w[4], w[5]) : mpi_bytes(w[1], w[2]);
		log_call(e, "gather %" PRIu64 " %" PRIu64 " %d %d", bytes, bytes, (int)w[6], mpi_comm_number(w[7]));
		break;
	}
	case MPI_CALL_Scatter: {
		uint64_t bytes = mpi_rank_in(w[7]) == (int)w[6] ? mpi_bytes(w[1], w[2]) : mpi_bytes(w[4], w[5]);
		log_call(e, "scatter %" PRIu64 " %" PRIu64 " %d %d", bytes, bytes, (int)w[6], mpi_comm_number(w[7]));
		break;
	}
	case MPI_CALL_Ibarrier:
		snprintf(start, sizeof start, "ibarrier %d", mpi_comm_number(w[0]));
		log_collective_request(e, start, w[1]);
		break;
	case MPI_CALL_Ibcast:
		snprintf(start, sizeof start, "ibcast %" PRIu64 " %d %d", mpi_bytes(w[1], w[2]), (int)w[3], mpi_comm_number(w[4]));
		log_collective_request(e, start, w[5]);
		break;
	default: /* Iallreduce */
		snprintf(start, sizeof start, "iallreduce %" PRIu64 " %d", mpi_bytes(w[2], w[3]), mpi_comm_number(w[5]));
		log_collective_request(e, start, w[6]);
	}
}

static void log_event(struct mpi_event *e)
{
	const mpi_word *w = e->arguments;
	switch (e->call) {
	case MPI_CALL_Init:
	case MPI_CALL_Init_thread: log_begin(e); break;
	case MPI_CALL_Send:
	case MPI_CALL_Rsend:
	case MPI_CALL_Bsend: log_send(e, "send"); break;
	case MPI_CALL_Ssend: log_send(e, "ssend"); break;
	case MPI_CALL_Recv: log_recv(e); break;
	case MPI_CALL_Isend:
	case MPI_CALL_Irsend:
	case MPI_CALL_Ibsend: log_request(e, "isend", false); break;
	case MPI_CALL_Issend: log_request(e, "issend", false); break;
	case MPI_CALL_Irecv: log_request(e, "irecv", true); break;
	case MPI_CALL_Send_init: keep_persistent(e, false); break;
	case MPI_CALL_Recv_init: keep_persistent(e, true); break;
	case MPI_CALL_Start:
	case MPI_CALL_Startall:
		for (size_t i = 0; i < e->request_count; i++)
			log_start(e, e->requests[i]);
		break;
	case MPI_CALL_Request_free: {
		struct mpi_request *r = mpi_request_find(e->requests[0]);
		if (r)
			mpi_request_gone(r);
		log_call(e, "wait");
		break;
	}
	case MPI_CALL_Sendrecv: log_sendrecv(e, false); break;
	case MPI_CALL_Sendrecv_replace: log_sendrecv(e, true); break;
	case MPI_CALL_Wait:
	case MPI_CALL_Waitall:
	case MPI_CALL_Waitany:
	case MPI_CALL_Waitsome:
	case MPI_CALL_Test:
	case MPI_CALL_Testall:
	case MPI_CALL_Testany:
	case MPI_CALL_Testsome: log_completed(e); break;
	case MPI_CALL_Probe:
	case MPI_CALL_Iprobe: log_call(e, "wait"); break; /* the receive comes after it */
	case MPI_CALL_Allgatherv:
	case MPI_CALL_Gatherv:
	case MPI_CALL_Scatterv:
	case MPI_CALL_Alltoallv:
	case MPI_CALL_Reduce_scatter:
	case MPI_CALL_Reduce_scatter_block: log_sizes(e); break;
	case MPI_CALL_Comm_dup: log_new_comm(e, w[0], w[1]); break;
	case MPI_CALL_Comm_split: log_new_comm(e, w[0], w[3]); break;
	case MPI_CALL_Comm_split_type: log_new_comm(e, w[0], w[4]); break;
	case MPI_CALL_Comm_create: log_new_comm(e, w[0], w[2]); break;
	case MPI_CALL_Cart_create: log_new_comm(e, w[0], w[5]); break;
	case MPI_CALL_Cart_sub: log_new_comm(e, w[0], w[2]); break;
	case MPI_CALL_Comm_free:
		log_call(e, "free %d", mpi_comm_number(e->gone));
		mpi_comm_gone(e->gone);
		break;
	case MPI_CALL_Finalize: break; /* before the call: the library answers no questions after it */
	case MPI_CALL_Win_create:
	case MPI_CALL_Win_allocate: mpi_not_recorded("one-sided communication (MPI_Win_...)"); break;
	case MPI_CALL_File_open: mpi_not_recorded("files of MPI (MPI_File_...)"); break;
	case MPI_CALL_Comm_spawn: mpi_not_recorded("processes of MPI_Comm_spawn"); break;
	default: log_collective(e);
	}
}

/* ---- before the call ---- */

/* Handles as they are now: the library sets those of completed requests to none. */
static void keep_requests(struct mpi_event *e, size_t count, mpi_word pointer)
{
	e->requests = calloc(count + 1, sizeof *e->requests);
	for (size_t i = 0; i < count && e->requests; i++)
		e->requests[i] = mpi_handle_at(pointer, i);
	e->request_count = e->requests ? count : 0;
}

/* Where the program wants no status, but we need to know whom a message came from. */
static void get_status(struct mpi_event *e, size_t argument)
{
	if (wants_no_status(e->arguments[argument]))
		e->arguments[argument] = (mpi_word)e->status;
}

static void get_statuses(struct mpi_event *e, size_t argument)
{
	if (!wants_no_status(e->arguments[argument]))
		return;
	for (size_t i = 0; i < e->request_count; i++) {
		const struct mpi_request *r = mpi_request_find(e->requests[i]);
		if (r && mpi_request_is_open(r)) {
			e->statuses = calloc(e->request_count, MPI_STATUS_BYTES);
			if (e->statuses)
				e->arguments[argument] = (mpi_word)e->statuses;
			return;
		}
	}
}

static void keep_before(struct mpi_event *e)
{
	const mpi_word *w = e->arguments;
	size_t count = (int)w[0] > 0 ? (size_t)(int)w[0] : 0;
	switch (e->call) {
	case MPI_CALL_Recv: get_status(e, 6); break;
	case MPI_CALL_Sendrecv: get_status(e, 11); break;
	case MPI_CALL_Sendrecv_replace: get_status(e, 8); break;
	case MPI_CALL_Start:
	case MPI_CALL_Request_free: keep_requests(e, 1, w[0]); break;
	case MPI_CALL_Wait:
	case MPI_CALL_Test:
		keep_requests(e, 1, w[0]);
		get_status(e, e->call == MPI_CALL_Wait ? 1 : 2);
		break;
	case MPI_CALL_Waitall:
	case MPI_CALL_Testall:
		keep_requests(e, count, w[1]);
		get_statuses(e, e->call == MPI_CALL_Waitall ? 2 : 3);
		break;
	case MPI_CALL_Waitany:
	case MPI_CALL_Testany:
		keep_requests(e, count, w[1]);
		get_status(e, e->call == MPI_CALL_Waitany ? 3 : 4);
		break;
	case MPI_CALL_Waitsome:
	case MPI_CALL_Testsome:
		keep_requests(e, count, w[1]);
		get_statuses(e, 4);
		break;
	case MPI_CALL_Startall: keep_requests(e, count, w[1]); break;
	case MPI_CALL_Comm_free: e->gone = mpi_handle_at(w[0], 0); break;
	case MPI_CALL_Finalize: log_call(e, "finalize"); break;
	default: break;
	}
}

bool mpi_before(struct mpi_event *e)
{
	if (!mpi_recorded())
		return false;
	e->begin_ns = mpi_call_begins();
	keep_before(e);
	return true;
}

void mpi_after(struct mpi_event *e, int result)
{
	bool waits = e->call >= MPI_CALL_Wait && e->call <= MPI_CALL_Testsome;
	if (!result && (!waits || e->requests))
		log_event(e);
	free(e->requests);
	free(e->statuses);
}
