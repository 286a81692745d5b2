/* A rank's own time, from one MPI call to the next. */
#include "runtime/cmd/cluster/cluster.h"

struct schedule_command *rank_next_call(struct rank *r, double *begin)
{
	struct schedule *s = &r->schedule;
	schedule_replay(s);
	if (s->next) {
		*begin = schedule_call_begins(s, s->next, 0);
		return s->next;
	}
	schedule_settle(s, NULL);
	*begin = schedule_end(s, 0);
	return NULL;
}

void rank_call_ended(struct rank *r, struct schedule_command *call, double end)
{
	schedule_call_ends(&r->schedule, call, 0, end);
}

int cluster_play_alone(struct cluster *c, struct gs_error *err)
{
	(void)err;
	for (size_t i = 0; i < c->count; i++) {
		struct rank *r = &c->ranks[i];
		struct schedule_command *call;
		double begin;
		for (size_t op = 0; (call = rank_next_call(r, &begin)); op++) {
			double took = call->return_ns > call->call_ns ? (double)(call->return_ns - call->call_ns) : 0;
			r->spans[op].begin = begin;
			r->spans[op].end = begin + (r->ops[op].kind == MPI_OP_init ? 0 : took);
			rank_call_ended(r, call, r->spans[op].end);
		}
		r->end = begin;
	}
	return 0;
}
