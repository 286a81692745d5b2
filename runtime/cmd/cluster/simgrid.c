/*
 * Ranks on a platform of SimGrid's: an actor for each, which goes from MPI call to MPI call and makes it. SMPI is told that it replays, as it
 * does for time-independent traces: then it looks at no data, so that messages take memory of nobody.
 */
#include "runtime/cmd/cluster/cluster.h"
#include "runtime/cmd/cluster/perform.h"
#include "runtime/cmd/cluster/smpi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INSTANCE "rank"

static struct cluster *cluster; /* actors get words of text only */
static struct gs_error failure;
static bool failed;
static double start_s; /* of SimGrid's clock: time begins here */

static void sleep_until(double ns)
{
	double seconds = start_s + ns / 1e9 - smpi.simgrid_get_clock();
	if (seconds > 0)
		smpi.sg_actor_sleep_for(seconds);
}

static double now_ns(void)
{
	return (smpi.simgrid_get_clock() - start_s) * 1e9;
}

static void play_rank(struct rank *r, struct performer *p)
{
	struct schedule_command *call;
	double begin;
	for (size_t op = 0; (call = rank_next_call(r, &begin)) && !failed; op++) {
		sleep_until(begin);
		r->spans[op].begin = now_ns();
		if (perform(p, &r->ops[op], &failure)) {
			failed = true;
			break;
		}
		r->spans[op].end = now_ns();
		rank_call_ended(r, call, r->spans[op].end);
	}
	if (!failed)
		sleep_until(begin);
	r->end = now_ns();
}

static int rank_main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : 0;
	struct rank *r = &cluster->ranks[number];
	struct performer p = {0};
	if (start_s > 0)
		smpi.MPI_Init(NULL, NULL);
	else
		smpi.smpi_replay_init(INSTANCE, number, 0);
	if (!performer_start(&p, cluster, r)) {
		gs_fail(&failure, ENOMEM, "out of memory");
		failed = true;
	} else if (start_s > 0 && performer_make_comms(&p, &failure)) {
		failed = true;
	}
	if (start_s > 0 && !failed) {
		sleep_until(0);
		smpi.smpi_replay_init(INSTANCE, number, 0);
	}
	if (!failed)
		play_rank(r, &p);
	performer_free(&p);
	if (!failed)
		smpi.MPI_Finalize();
	return 0;
}

/* ---- the platform ---- */

struct host_place {
	const char *name;
	long gpus; /* the property of that name; without it 1 */
};

static int by_name(const void *a, const void *b)
{
	const struct host_place *x = a, *y = b;
	return strverscmp(x->name, y->name);
}

static struct host_place place_of(const void *host)
{
	const char *text = smpi.sg_host_get_property_value(host, "gpus");
	long gpus = text ? strtol(text, NULL, 10) : 1;
	return (struct host_place){smpi.sg_host_get_name(host), gpus > 0 ? gpus : 1};
}

/* Ranks fill one host after the other, as many as it has GPUs, in the order of names; numbers in names count as numbers. */
static int place_ranks(struct cluster *c, struct gs_error *err)
{
	void **hosts = smpi.sg_host_list();
	size_t placed = 0, room = 0;
	c->host_count = smpi.sg_host_count();
	struct host_place *places = calloc(c->host_count + 1, sizeof *places);
	if (!places)
		return gs_fail(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < c->host_count; i++) {
		places[i] = place_of(hosts[i]);
		room += (size_t)places[i].gpus;
	}
	qsort(places, c->host_count, sizeof *places, by_name);
	for (size_t i = 0; i < c->host_count && room >= c->count; i++)
		for (long g = 0; g < places[i].gpus && placed < c->count; g++)
			c->ranks[placed++].placed = places[i].name;
	free(places);
	return room >= c->count ? 0 : gs_fail(err, EINVAL, "%s has %zu hosts for %zu ranks, but the program has %zu", c->platform, c->host_count, room, c->count);
}

/* SMPI knows its actors by properties, which only a file can give them. */
static int deploy(const struct cluster *c, struct gs_error *err)
{
	struct gs_buf text = {0};
	char path[] = "/tmp/gpusim-deploy.XXXXXX";
	int fd = mkstemp(path);
	gs_buf_puts(&text, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n");
	for (size_t i = 0; i < c->count; i++)
		gs_buf_printf(&text, "<actor host=\"%s\" function=\"" INSTANCE "\"><argument value=\"%zu\"/><prop id=\"instance_id\" value=\"" INSTANCE "\"/>"
		              "<prop id=\"rank\" value=\"%zu\"/></actor>\n", c->ranks[i].placed, i, i);
	gs_buf_puts(&text, "</platform>\n");
	bool good = fd >= 0 && !text.failed && write(fd, text.data, text.len) == (ssize_t)text.len;
	if (good)
		smpi.simgrid_load_deployment(path);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	gs_buf_free(&text);
	return good ? 0 : gs_fail(err, EIO, "a file with the places of ranks could not be written to /tmp");
}

/* As smpirun sets them (3.32), but that nothing is measured here. */
static void start_engine(const struct cluster *c)
{
	static char *fixed[] = {"gpusim", "--cfg=surf/precision:1e-9", "--cfg=network/model:SMPI", "--cfg=smpi/simulate-computation:no",
	                        "--log=root.thres:error"};
	int count = GS_ARRAY_LEN(fixed);
	char **words = calloc(GS_ARRAY_LEN(fixed) + c->setting_count + 1, sizeof *words);
	if (!words)
		abort();
	memcpy(words, fixed, sizeof fixed);
	for (size_t i = 0; i < c->setting_count; i++)
		if (asprintf(&words[count], "--cfg=%s", c->settings[i]) >= 0)
			count++;
	smpi.simgrid_init(&count, words); /* it keeps them */
}

/* Communicators are made before the time begins. */
static bool has_comms(const struct cluster *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->ranks[i].comm_count > 2)
			return true;
	return false;
}

int cluster_simulate(struct cluster *c, struct gs_error *err)
{
	int result = smpi_open(err);
	if (result)
		return result;
	enum { TIME_FOR_COMMS_S = 10 };
	cluster = c;
	start_s = has_comms(c) ? TIME_FOR_COMMS_S : 0;
	start_engine(c);
	smpi.simgrid_load_platform(c->platform);
	result = place_ranks(c, err);
	if (result)
		return result;
	smpi.SMPI_app_instance_register(INSTANCE, rank_main, (int)c->count);
	smpi.SMPI_init();
	result = deploy(c, err);
	if (result)
		return result;
	smpi.simgrid_run();
	if (failed)
		*err = failure;
	return failed ? -EBADMSG : 0;
}
