/* Links between GPUs, and paths over them; see topology.h. */
#include "runtime/timeline/topology.h"

#include "runtime/timeline/transfers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

struct line_parser {
	struct topology *topology;
	uint32_t gpus;
	unsigned line;
	struct gs_error *err;
};

static const char spaces[] = " \t\r";

static int parse_gpu(const struct line_parser *p, const char *word, uint32_t *gpu)
{
	char *end;
	errno = 0;
	unsigned long number = word ? strtoul(word, &end, 10) : 0;
	if (!word || *word < '0' || *word > '9' || *end)
		return gs_fail(p->err, EINVAL, "%u: '%s' is not the number of a GPU", p->line, word ? word : "");
	if (errno || number >= p->gpus)
		return gs_fail(p->err, EINVAL, "%u: there is no GPU %s: the program has %u, from 0 on", p->line, word, p->gpus);
	*gpu = (uint32_t)number;
	return 0;
}

static int add_link(const struct line_parser *p, enum topology_kind kind, uint32_t a, uint32_t b, const struct topology_link *link)
{
	if (a == b)
		return gs_fail(p->err, EINVAL, "%u: a link from GPU %u to itself", p->line, a);
	if (p->topology->links[kind][a][b].there)
		return gs_fail(p->err, EINVAL, "%u: GPUs %u and %u have that link already", p->line, a, b);
	p->topology->links[kind][a][b] = p->topology->links[kind][b][a] = *link;
	return 0;
}

static int parse_group(const struct line_parser *p, enum topology_kind kind, char **rest)
{
	uint32_t members[TOPOLOGY_GPUS + 1], count = 0;
	int failed = 0;
	for (char *word; !failed && count <= TOPOLOGY_GPUS && (word = strtok_r(NULL, spaces, rest));) {
		failed = parse_gpu(p, word, &members[count]);
		for (uint32_t i = 0; i < count && !failed; i++)
			failed = add_link(p, kind, members[i], members[count], &(struct topology_link){.there = true});
		count++;
	}
	return failed || count > 1 ? failed : gs_fail(p->err, EINVAL, "%u: a group has at least two GPUs", p->line);
}

static int parse_pair(const struct line_parser *p, const char *first, char **rest)
{
	uint32_t a, b;
	const char *second = strtok_r(NULL, spaces, rest), *gbps = strtok_r(NULL, spaces, rest), *latency = strtok_r(NULL, spaces, rest);
	struct topology_link link = {.there = true};
	char *gbps_end = NULL, *latency_end = NULL;
	if (!latency || strtok_r(NULL, spaces, rest))
		return gs_fail(p->err, EINVAL, "%u: expected 'GPU GPU GBPS LATENCY_NS', 'nvlink GPU GPU ...' or 'pcie GPU GPU ...'", p->line);
	if (parse_gpu(p, first, &a) || parse_gpu(p, second, &b))
		return -EINVAL;
	link.gbps = strtod(gbps, &gbps_end);
	link.latency_ns = strtod(latency, &latency_end);
	if (*gbps_end || !isfinite(link.gbps) || link.gbps <= 0)
		return gs_fail(p->err, EINVAL, "%u: '%s' is no bandwidth in GB/s above 0", p->line, gbps);
	if (*latency_end || !isfinite(link.latency_ns) || link.latency_ns < 0)
		return gs_fail(p->err, EINVAL, "%u: '%s' is no latency in ns", p->line, latency);
	return add_link(p, TOPOLOGY_GIVEN, a, b, &link);
}

static int parse_line(const struct line_parser *p, char *text)
{
	char *rest = NULL, *first;
	text[strcspn(text, "#")] = 0;
	first = strtok_r(text, spaces, &rest);
	if (!first)
		return 0;
	if (!strcmp(first, "nvlink") || !strcmp(first, "pcie"))
		return parse_group(p, *first == 'n' ? TOPOLOGY_NVLINK : TOPOLOGY_PCIE, &rest);
	return parse_pair(p, first, &rest);
}

static int check_connected(const struct topology *t, unsigned line, struct gs_error *err)
{
	static const struct gpu any = {.link_gbps = 1};
	for (uint32_t to = 1; to < t->count; to++)
		if (!topology_path(t, &any, (struct peer_ends){0, to}).links)
			return gs_fail(err, EINVAL, "%u: the file ends, and no links lead from GPU 0 to GPU %u", line, to);
	return 0;
}

int topology_parse(struct topology *t, const char *text, uint32_t gpus, struct gs_error *err)
{
	struct line_parser p = {t, gpus < TOPOLOGY_GPUS ? gpus : TOPOLOGY_GPUS, 0, err};
	char *copy = strdup(text), *rest = copy, *line;
	int failed = copy ? 0 : gs_fail(err, ENOMEM, "out of memory");
	*t = (struct topology){.count = p.gpus};
	while (!failed && (line = strsep(&rest, "\n"))) {
		p.line++;
		failed = parse_line(&p, line);
	}
	if (!failed)
		failed = check_connected(t, p.line, err);
	if (failed)
		t->count = 0;
	free(copy);
	return failed;
}

int topology_load(struct topology *t, const char *path, uint32_t gpus, struct gs_error *err)
{
	struct gs_buf text = {0};
	struct gs_error line;
	t->count = 0;
	int failed = gs_read_file(path, &text, err);
	if (!failed && gpus < 2)
		failed = gs_fail(err, EINVAL, "%s: links between GPUs are for programs with several: say how many with GPUSIM_DEVICES", path);
	else if (!failed && topology_parse(t, text.data ? text.data : "", gpus, &line))
		failed = gs_fail(err, EINVAL, "%s:%s", path, line.text);
	gs_buf_free(&text);
	return failed;
}

/* ---- paths ---- */

/* The fastest link between two GPUs; gbps is 0 where there is none. */
static struct peer_path link_between(const struct topology *t, const struct gpu *gpu, uint32_t a, uint32_t b)
{
	const struct topology_link *given = &t->links[TOPOLOGY_GIVEN][a][b];
	bool has_peer = gpu->peer_gbps > 0;
	const struct peer_path candidates[TOPOLOGY_KINDS] = {
		[TOPOLOGY_GIVEN] = {1, given->gbps, given->latency_ns},
		[TOPOLOGY_NVLINK] = {1, has_peer ? gpu->peer_gbps : gpu->link_gbps, has_peer ? gpu->peer_latency_ns : gpu->link_latency_ns},
		[TOPOLOGY_PCIE] = {1, gpu->link_gbps, gpu->link_latency_ns},
	};
	struct peer_path best = {0};
	for (int k = 0; k < TOPOLOGY_KINDS; k++)
		if (t->links[k][a][b].there && candidates[k].gbps > best.gbps)
			best = candidates[k];
	return best;
}

struct peer_path topology_path(const struct topology *t, const struct gpu *gpu, struct peer_ends ends)
{
	struct peer_path best[TOPOLOGY_GPUS] = {{0}};
	if (ends.from >= t->count || ends.to >= t->count || ends.from == ends.to)
		return (struct peer_path){0};
	best[ends.from] = (struct peer_path){0, INFINITY, 0};
	/* Round by round, the GPUs that are one link further away. */
	for (uint32_t round = 1; round < t->count && !best[ends.to].links; round++)
		for (uint32_t a = 0; a < t->count; a++)
			for (uint32_t b = 0; b < t->count && best[a].gbps > 0 && best[a].links == round - 1; b++) {
				struct peer_path link = link_between(t, gpu, a, b);
				double slowest = fmin(link.gbps, best[a].gbps);
				bool reached_before = best[b].gbps > 0 && best[b].links < round;
				if (link.gbps > 0 && !reached_before && slowest > best[b].gbps)
					best[b] = (struct peer_path){round, slowest, best[a].latency_ns + link.latency_ns};
			}
	return best[ends.to];
}

double topology_time_ns(const struct topology *t, const struct gpu *gpu, struct peer_ends ends, uint64_t commands, uint64_t size_bytes)
{
	struct peer_path path = t && t->count ? topology_path(t, gpu, ends) : (struct peer_path){0};
	if (!path.links)
		return transfer_time_ns(gpu, TRANSFER_PEER, &(struct transfer_stats){commands, size_bytes});
	/* A byte at 1 GB/s takes 1 ns. */
	return size_bytes ? (double)size_bytes / path.gbps + (double)commands * path.latency_ns : 0;
}
