/*
 * Which twins may stand for their kernels.
 *
 * Drivers compile a kernel for each local size anew: POCL 3.1 also where there is a global offset, and where a dimension has 65,535
 * groups or more. What was seen of one such compile says nothing about another, so each has a proof of its own. The first launch is
 * verified (verify.c). Launches that come before the verdict, and all launches of twins that are not known to be the same, run in the
 * shadow. A twin that differs is remembered in the cache, and no later process verifies it again. Likewise one that is the same and whose
 * launch took long, or rather long with much to do: to run such a launch twice in every process would double the time of many programs. The
 * key has the driver, the CPU and the sources. A twin that traces is another text, and has a proof of its own.
 *
 * Three kinds of kernels stay in the shadow whatever a launch has shown:
 *   relaxed arithmetic   drivers may round differently as soon as the code around an expression changes
 *   barriers under conditions   POCL 3.1 miscompiles some, depending on the code around them and on the data
 *   state between launches, and printf: the twin has its own variables, and must not print what the kernel prints
 */
#include "runtime/model/proof.h"

#include "runtime/config/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct proof {
	struct proof *next;
	uint64_t local[3], global[3]; /* global: only where the driver chooses the local size */
	bool offset, many_groups, traced;
	enum verdict verdict;
	char key[33]; /* in the cache; "": it has no place there */
	bool is_long; /* a launch that was the same took long */
	uint64_t took_ns; /* the longest launch that was verified in this process */
	bool known;   /* that it differs: from the cache, and nobody has asked yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void describe_compile(const struct launch_record *l, bool offset, bool traced, struct proof *out)
{
	enum { MANY = 65535 };
	*out = (struct proof){.verdict = VERDICT_NONE, .offset = offset, .traced = traced};
	for (int d = 0; d < 3; d++) {
		out->local[d] = l->local[d];
		out->global[d] = l->local[d] ? 0 : l->global[d];
		out->many_groups |= l->global[d] / (l->local[d] ? l->local[d] : 1) >= MANY;
	}
}

static bool is_same_compile(const struct proof *a, const struct proof *b)
{
	return !memcmp(a->local, b->local, sizeof a->local) && !memcmp(a->global, b->global, sizeof a->global) &&
	       a->offset == b->offset && a->many_groups == b->many_groups && a->traced == b->traced;
}

/* What the twin was made from, and for, is in the key of the artifact. */
static void make_key(struct proof *p, const struct artifact *a, const char *kernel)
{
	struct gs_buf text = {0};
	gs_buf_printf(&text, "%s %s %d %d %d", a->key, kernel, p->offset, p->many_groups, p->traced);
	for (int d = 0; d < 3; d++)
		gs_buf_printf(&text, " %llu %llu", (unsigned long long)p->local[d], (unsigned long long)p->global[d]);
	if (*a->key && !text.failed)
		gs_hash_hex(text.data, text.len, p->key);
	gs_buf_free(&text);
}

/* What an earlier process has found; VERDICT_NONE: nothing. */
static enum verdict remembered(const struct proof *p)
{
	struct gs_pack pack = {0};
	enum verdict verdict = VERDICT_NONE;
	if (*p->key && !cache_get_pack(CACHE_TWINS, p->key, &pack, NULL)) {
		const char *text = gs_pack_text(&pack, "verdict");
		verdict = text && !strcmp(text, "same") ? VERDICT_SAME : VERDICT_DIFFERS;
	}
	gs_pack_free(&pack);
	return verdict;
}

static void remember(const struct proof *p, enum verdict verdict)
{
	struct gs_pack pack = {0};
	gs_pack_puts(&pack, "verdict", verdict == VERDICT_SAME ? "same" : "differs");
	if (*p->key)
		cache_put_pack(CACHE_TWINS, p->key, &pack, NULL);
	gs_pack_free(&pack);
}

struct proof *proof_of(const struct launch_record *l, bool offset, bool traced)
{
	struct artifact_kernel *k = l->facts;
	struct proof wanted, *p;
	describe_compile(l, offset, traced, &wanted);
	pthread_mutex_lock(&lock);
	for (p = k->proofs; p && !is_same_compile(p, &wanted); p = p->next)
		;
	if (!p && (p = malloc(sizeof *p))) {
		*p = wanted;
		make_key(p, l->artifact, k->name);
		p->verdict = remembered(p);
		p->known = p->verdict == VERDICT_DIFFERS;
		p->is_long = p->verdict == VERDICT_SAME;
		p->next = k->proofs;
		k->proofs = p;
	}
	pthread_mutex_unlock(&lock);
	return p;
}

bool proof_is_news(struct proof *p)
{
	pthread_mutex_lock(&lock);
	bool news = p->known;
	p->known = false;
	pthread_mutex_unlock(&lock);
	return news;
}

void proofs_free(struct artifact_kernel *k)
{
	while (k->proofs) {
		struct proof *p = k->proofs;
		k->proofs = p->next;
		free(p);
	}
}

/* It differs whatever happens, so that no verdict is asked for. */
static bool rounds_freely(bool relaxed, const struct artifact_kernel *facts)
{
	return relaxed || facts->hazards & HAZARD_ROUNDING;
}

static bool stays_in_shadow(bool relaxed, const struct artifact_kernel *facts)
{
	return rounds_freely(relaxed, facts) || facts->hazards & (HAZARD_BARRIERS | HAZARD_PRINTS | HAZARD_VARIABLES);
}

enum twin_way proof_way(const struct gs_options *options, struct proof *p, bool relaxed, const struct artifact_kernel *facts)
{
	enum twin_way way = WAY_SHADOW;
	switch (options->twin.number) {
	case TWINS_DIRECT:
		return WAY_DIRECT;
	case TWINS_SHADOW:
		return WAY_SHADOW;
	case TWINS_VERIFY:
		return WAY_VERIFY;
	}
	pthread_mutex_lock(&lock);
	if (p->verdict == VERDICT_NONE && !rounds_freely(relaxed, facts)) {
		p->verdict = VERDICT_PENDING;
		way = WAY_VERIFY;
	} else if (p->verdict == VERDICT_SAME && !stays_in_shadow(relaxed, facts)) {
		way = WAY_DIRECT;
	}
	pthread_mutex_unlock(&lock);
	return way;
}

bool proof_is_long(const struct proof *p)
{
	pthread_mutex_lock(&lock);
	bool is_long = p->is_long;
	pthread_mutex_unlock(&lock);
	return is_long;
}

void proof_end(struct proof *p, enum verdict verdict, uint64_t took_ns)
{
	/* A verified launch is the first of its size, so that the driver compiles in it: short kernels take some 100 ms then. */
	const uint64_t long_ns = UINT64_C(1000000000);
	pthread_mutex_lock(&lock);
	p->took_ns = took_ns > p->took_ns ? took_ns : p->took_ns;
	p->is_long |= verdict == VERDICT_SAME && took_ns >= long_ns;
	/* With GPUSIM_TWIN=verify there are many, and the worst counts. */
	if (p->verdict < VERDICT_SAME || verdict > p->verdict)
		p->verdict = verdict;
	pthread_mutex_unlock(&lock);
	if (verdict == VERDICT_DIFFERS || (verdict == VERDICT_SAME && took_ns >= long_ns))
		remember(p, verdict);
}

void proof_worked(struct proof *p, double instructions)
{
	/* A time that short may be a driver's compile, or a busy machine. That a launch has much to do does not depend on either. */
	const uint64_t rather_long_ns = 100000000;
	const double much = 1e8;
	pthread_mutex_lock(&lock);
	bool is_news = p->verdict == VERDICT_SAME && !p->is_long && p->took_ns >= rather_long_ns && instructions >= much;
	p->took_ns = is_news ? 0 : p->took_ns; /* once */
	pthread_mutex_unlock(&lock);
	if (is_news)
		remember(p, VERDICT_SAME);
}
