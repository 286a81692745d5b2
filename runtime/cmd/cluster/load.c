/* Reads the profiles of ranks: their calls become a log to be replayed. Checks that they are those of one run. */
#include "runtime/cmd/cluster/cluster.h"

#include "runtime/format/profile_file.h"
#include "runtime/timeline/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- one line ---- */

struct loading {
	const struct cluster *cluster;
	struct rank *rank;
	struct calls_log log; /* time begins when MPI_Init returns */
};

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
	if (!call_parse(line, &l))
		return false;
	const char *name = line + l.name_at;
	bool mpi = !strcmp(l.what, "mpi");
	if (mpi && !take_op(r, name))
		return false;
	if (mpi && r->ops[r->op_count - 1].kind == MPI_OP_init)
		load->log.base = l.returned;
	struct schedule_command *c = calls_add(&load->log, &l, name);
	if (!c)
		return false;
	c->resolved = !mpi;
	r->launch_count += !strcmp(l.what, "launch");
	calls_set_transfer(c, 0, &load->cluster->gpu, &load->cluster->topology);
	return true;
}

static int take_calls(const struct cluster *cluster, struct rank *r, char *text, struct gs_error *err)
{
	struct loading load = {.cluster = cluster, .rank = r, .log = {.schedule = &r->schedule, .scale = cluster->host_scale}};
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
	free(load.log.by_line);
	return good ? 0 : gs_fail(err, EBADMSG, "%s has a call that cannot be read, after %zu calls", r->path, r->schedule.count);
}

/* ---- one profile ---- */

/* Of the ranks with most GPUs. */
static int load_topology(struct cluster *c, const char *calls, struct gs_error *err)
{
	uint32_t gpus = *c->topology_path ? calls_gpus(calls) : 1;
	return gpus > 1 && gpus > c->topology.count ? topology_load(&c->topology, c->topology_path, gpus, err) : 0;
}

static int take_record(struct cluster *c, struct rank *r, const struct gs_pack *pack, struct gs_error *err)
{
	const char *facts = gs_pack_text(pack, "facts");
	char *calls = strdup(gs_pack_text(pack, "calls"));
	r->number = (int)record_number(facts, "rank");
	r->ranks = (int)record_number(facts, "ranks");
	r->omitted = record_number(facts, "omitted");
	r->program = record_text(facts, "program");
	r->hash = record_text(facts, "program_hash");
	r->library = record_text(facts, "library");
	r->left_out = record_text(facts, "left_out");
	r->host = record_text(facts, "host");
	r->calls = c->wanted ? strdup(gs_pack_text(pack, "calls")) : NULL;
	if (load_topology(c, gs_pack_text(pack, "calls"), err)) {
		free(calls);
		return -EINVAL;
	}
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
	if (*c->topology_path && !c->topology.count)
		return gs_fail(err, EINVAL, "%s: links between GPUs are for programs with several, and each rank of this one has one", c->topology_path);
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
