/* Pieces of a job; see share.h. Helpers may begin after all is done, so the list of pieces lives until the last of them has seen that. */
#include "runtime/process/share.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct helper {
	struct crew_job job; /* the first member */
	struct shared *of;
};

struct shared {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	void (*piece)(void *ctx, size_t i);
	void *ctx; /* only while a piece is left */
	size_t next, done, count;
	size_t users; /* threads, and helpers that have not begun */
	struct helper helpers[];
};

/* With the lock held. */
static void do_pieces(struct shared *s)
{
	while (s->next < s->count) {
		size_t i = s->next++;
		pthread_mutex_unlock(&s->lock);
		s->piece(s->ctx, i);
		pthread_mutex_lock(&s->lock);
		if (++s->done == s->count)
			pthread_cond_broadcast(&s->ended);
	}
}

/* With the lock held, which it gives up. */
static void let_go(struct shared *s)
{
	bool last = !--s->users;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	pthread_cond_destroy(&s->ended);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void help(struct crew_job *job)
{
	struct shared *s = ((struct helper *)job)->of;
	pthread_mutex_lock(&s->lock);
	do_pieces(s);
	let_go(s);
}

static struct shared *shared_new(size_t helpers, size_t count, void (*piece)(void *ctx, size_t i), void *ctx)
{
	struct shared *s = helpers ? calloc(1, sizeof *s + helpers * sizeof s->helpers[0]) : NULL;
	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->ended, NULL);
	s->piece = piece;
	s->ctx = ctx;
	s->count = count;
	s->users = helpers + 1;
	return s;
}

void crew_share(struct crew *p, double priority, size_t count, void (*piece)(void *ctx, size_t i), void *ctx)
{
	size_t threads = p ? crew_threads(p) : 1, helpers = count < threads ? (count ? count - 1 : 0) : threads - 1;
	struct shared *s = shared_new(helpers, count, piece, ctx);
	if (!s) {
		for (size_t i = 0; i < count; i++)
			piece(ctx, i);
		return;
	}
	for (size_t i = 0; i < helpers; i++) {
		s->helpers[i] = (struct helper){.job = {.run = help, .priority = priority}, .of = s};
		crew_add(p, &s->helpers[i].job);
	}
	pthread_mutex_lock(&s->lock);
	do_pieces(s);
	while (s->done < s->count)
		pthread_cond_wait(&s->ended, &s->lock);
	let_go(s);
}
