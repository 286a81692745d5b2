/* Reads the profiles of ranks: their calls become a log to be replayed. Checks that they are those of one run. */
#include "runtime/cmd/cluster/cluster.h"

#include "runtime/format/calls.h"
#include "runtime/format/profile_file.h"
#include "runtime/timeline/transfers.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one line ---- */

struct call_line {
	char what[16], after[4096];
	unsigned thread, flags, engine;
	int queue, priority, name_at;
	uint64_t call, returned, bytes, launch;
};

static const char *static_name(const char *what)
{
	static const char *const names[] = {"launch", "read", "write", "copy", "fill", "map", "unmap", "peer", "marker", "barrier", "wait", "setup", "mpi"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (!strcmp(names[i], what))
			return names[i];
	return NULL;
}

static bool read_line(const char *line, struct call_line *l)
{
	return sscanf(line, "%15s %u %d %d %u %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %4095s %n", l->what, &l->thread, &l->queue, &l->priority, &l->engine,
	              &l->flags, &l->call, &l->returned, &l->bytes, &l->launch, l->after, &l->name_at) == 11 &&
	       static_name(l->what) && l->engine < ENGINE_COUNT && l->thread < 1 << 20 && l->queue < 1 << 20 && (l->queue >= 0 || !l->engine);
}

struct loading {
	const struct cluster *cluster;
	struct rank *rank;
	struct schedule_command **by_line;
	size_t count, room;
	uint64_t base; /* time begins when MPI_Init returns */
};

static uint64_t since(uint64_t ns, uint64_t base)
{
	return ns > base ? ns - base : 0;
}

static bool take_after(const struct loading *load, struct schedule_command *c, const char *list)
{
	size_t most = 1;
	for (const char *p = list; *p; p++)
		most += *p == ',';
	if (!strcmp(list, "-"))
		return true;
	c->after = calloc(most, sizeof *c->after);
	for (const char *p = list; c->after; p++) {
		char *end;
		unsigned long long line = strtoull(p, &end, 10);
		if (end == p || line >= load->count)
			return false;
		c->after[c->after_count++] = load->by_line[line];
		if (*end != ',')
			return !*end;
		p = end;
	}
	return false;
}

static void set_duration(const struct cluster *cluster, struct schedule_command *c)
{
	for (int k = 0; k < TRANSFER_KINDS; k++)
		if (!strcmp(c->what, transfer_name((enum transfer_kind)k))) {
			c->times[0].duration = transfer_time_ns(&cluster->gpu, (enum transfer_kind)k, &(struct transfer_stats){1, c->size_bytes});
			c->times[0].demand = demand_of_copy();
		}
}

static bool take_op(struct rank *r, const char *text)
{
	if (!gs_reserve(&r->ops, r->op_count, &r->op_room, sizeof *r->ops) || !mpi_op_parse(text, &r->ops[r->op_count]))
		return false;
	r->op_count++;
	return true;
}

static bool take_line(struct loading *load, const char *line)
{
	struct rank *r = load->rank;
	struct call_line l = {0};
	double scale = load->cluster->host_scale;
	if (!read_line(line, &l) || !gs_reserve(&load->by_line, load->count, &load->room, sizeof *load->by_line))
		return false;
	const char *name = line + l.name_at;
	bool mpi = !strcmp(l.what, "mpi");
	if (mpi && !take_op(r, name))
		return false;
	if (mpi && r->ops[r->op_count - 1].kind == MPI_OP_init)
		load->base = l.returned;
	struct schedule_thread *thread = schedule_thread(&r->schedule, l.thread);
	struct schedule_queue *queue = l.queue < 0 ? NULL : schedule_queue(&r->schedule, (void *)(uintptr_t)(l.queue + 1), !(l.flags & CALL_OUT_OF_ORDER));
	struct schedule_command *c = thread && (queue || l.queue < 0) ? schedule_add(&r->schedule, static_name(l.what), name) : NULL;
	if (!c)
		return false;
	load->by_line[load->count++] = c;
	c->thread = thread;
	c->queue = queue;
	if (queue)
		queue->priority = l.priority;
	c->engine = (enum command_engine)l.engine;
	c->size_bytes = l.bytes;
	c->launch = l.launch;
	r->launch_count += !strcmp(l.what, "launch");
	c->call_ns = (uint64_t)((double)since(l.call, load->base) * scale);
	c->return_ns = (uint64_t)((double)since(l.returned, load->base) * scale);
	c->waits = l.flags & CALL_WAITS;
	c->waits_all = l.flags & CALL_WAITS_ALL;
	c->barrier = l.flags & CALL_BARRIER;
	c->resolved = !mpi;
	set_duration(load->cluster, c);
	load->count--; /* a command waits for earlier ones only */
	bool good = take_after(load, c, l.after);
	load->count++;
	return good;
}

static int take_calls(const struct cluster *cluster, struct rank *r, char *text, struct gs_error *err)
{
	struct loading load = {.cluster = cluster, .rank = r};
	bool good = !schedule_start(&r->schedule, 1);
	schedule_limit(&r->schedule, 0, schedule_limits_of(&cluster->gpu));
	for (char *line = text, *end; *line && good; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			good = false;
		else
			*end = 0, good = take_line(&load, line);
		if (!good)
			break;
	}
	free(load.by_line);
	return good ? 0 : gs_fail(err, EBADMSG, "%s has a call that cannot be read, after %zu calls", r->path, r->schedule.count);
}

/* ---- one profile ---- */

static char *fact(const char *facts, const char *key)
{
	size_t length = strlen(key);
	for (const char *line = facts; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, key, length) && line[length] == '=')
			return strndup(line + length + 1, strcspn(line + length + 1, "\n"));
	return strdup("");
}

static uint64_t number(const char *facts, const char *key)
{
	char *text = fact(facts, key);
	uint64_t value = text ? strtoull(text, NULL, 10) : 0;
	free(text);
	return value;
}

static int take_record(struct cluster *c, struct rank *r, const struct gs_pack *pack, struct gs_error *err)
{
	const char *facts = gs_pack_text(pack, "facts");
	char *calls = strdup(gs_pack_text(pack, "calls"));
	r->number = (int)number(facts, "rank");
	r->ranks = (int)number(facts, "ranks");
	r->omitted = number(facts, "omitted");
	r->program = fact(facts, "program");
	r->hash = fact(facts, "program_hash");
	r->library = fact(facts, "library");
	r->left_out = fact(facts, "left_out");
	r->host = fact(facts, "host");
	r->calls = c->wanted ? strdup(gs_pack_text(pack, "calls")) : NULL;
	int result = calls && (r->calls || !c->wanted) && r->program && r->hash && r->library && r->left_out && r->host ? take_calls(c, r, calls, err) : gs_fail(err, ENOMEM, "out of memory");
	free(calls);
	return result;
}

static int load_rank(struct cluster *c, struct rank *r, char *path, struct gs_error *err)
{
	char kind[PROFILE_KIND_SIZE];
	struct profile_reader *in;
	int more = profile_open(path, &in, err), failed = 0;
	if (more)
		return more;
	r->path = path;
	do {
		struct gs_pack record = {0};
		more = profile_next(in, kind, &record, err);
		failed = more < 0 ? more : more && !strcmp(kind, "calls") && !r->program ? take_record(c, r, &record, err) : 0;
		if (more > 0)
			gs_pack_free(&record);
	} while (more > 0 && !failed);
	profile_reader_free(in);
	if (failed)
		return failed;
	return r->program && r->ranks ? 0 : gs_fail(err, EINVAL, "%s is not of an MPI program: it has no calls of MPI", path);
}

/* ---- all of them ---- */

static int by_number(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int check_set(const struct cluster *c, struct gs_error *err)
{
	const struct rank *first = &c->ranks[0];
	for (size_t i = 0; i < c->count; i++) {
		const struct rank *r = &c->ranks[i];
		if (r->ranks != first->ranks)
			return gs_fail(err, EINVAL, "%s is of a run with %d ranks, but %s of one with %d", r->path, r->ranks, first->path, first->ranks);
		if (i && r->number == c->ranks[i - 1].number)
			return gs_fail(err, EINVAL, "%s and %s are both of rank %d", c->ranks[i - 1].path, r->path, r->number);
		for (size_t j = 0; j < i; j++)
			if (!strcmp(c->ranks[j].program, r->program) && strcmp(c->ranks[j].hash, r->hash))
				return gs_fail(err, EINVAL, "%s and %s are of two versions of %.200s: record all ranks in one run", c->ranks[j].path, r->path, r->program);
	}
	for (size_t i = 0; i < (size_t)first->ranks; i++)
		if (i >= c->count || c->ranks[i].number != (int)i)
			return gs_fail(err, EINVAL, "the profile of rank %zu is missing: the program had %d ranks, and there are %zu profiles", i, first->ranks, c->count);
	return 0;
}

static int allocate_spans(struct rank *r, struct gs_error *err)
{
	r->spans = calloc(r->op_count + 1, sizeof *r->spans);
	for (size_t i = 0; i < r->op_count && r->spans; i++)
		r->spans[i].op = &r->ops[i];
	return r->spans ? 0 : gs_fail(err, ENOMEM, "out of memory");
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

int rank_copy(const struct cluster *c, const struct rank *from, struct rank *to, struct gs_error *err)
{
	char *calls = copy_of(from->calls);
	to->path = from->path;
	to->program = copy_of(from->program);
	to->hash = copy_of(from->hash);
	to->library = copy_of(from->library);
	to->left_out = copy_of(from->left_out);
	to->host = copy_of(from->host);
	to->omitted = from->omitted;
	to->launches = malloc(from->launches_known * sizeof *to->launches + 1);
	int result = calls && to->program && to->hash && to->library && to->left_out && to->host && to->launches ? take_calls(c, to, calls, err)
	                                                                                                        : gs_fail(err, ENOMEM, "out of memory");
	free(calls);
	if (result)
		return result;
	to->launches_known = from->launches_known;
	if (from->launches_known)
		memcpy(to->launches, from->launches, from->launches_known * sizeof *to->launches);
	rank_set_times(to);
	return allocate_spans(to, err);
}

int cluster_load(struct cluster *c, char **paths, size_t count, struct gs_error *err)
{
	int result = 0;
	c->ranks = calloc(count, sizeof *c->ranks);
	if (!c->ranks)
		return gs_fail(err, ENOMEM, "out of memory");
	for (c->count = 0; c->count < count && !result;)
		if (!(result = load_rank(c, &c->ranks[c->count], paths[c->count], err)))
			result = allocate_spans(&c->ranks[c->count++], err);
	if (result)
		return result;
	qsort(c->ranks, c->count, sizeof *c->ranks, by_number);
	result = check_set(c, err);
	return result ? result : cluster_name_comms(c, err);
}

void cluster_free(struct cluster *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct rank *r = &c->ranks[i];
		for (size_t o = 0; o < r->op_count; o++)
			free(r->ops[o].numbers);
		schedule_free(&r->schedule);
		free(r->program);
		free(r->hash);
		free(r->library);
		free(r->left_out);
		free(r->host);
		free(r->calls);
		free(r->ops);
		free(r->comms);
		free(r->launches);
		free(r->spans);
	}
	free(c->ranks);
	free(c->members);
}
