/*
 * Families of launches, by bisection.
 *
 *   time(x) = time(a) + (x - a) / (b - a) * (time(b) - time(a))    for sizes x between those of simulated launches a and b
 *
 * A span is what lies between two simulated launches, the nodes, or beyond the last of them. Its waiting launches are decided if a test
 * has shown that they may be interpolated. A test is a launch of the span that is simulated; it becomes a node and divides the
 * span. Spans have nothing to do with one another, so their tests may end in any order. A family takes its next batch of waiting
 * launches when all of the batch before are decided.
 */
#include "models/sampling/families.h"

#include <math.h>
#include <stdlib.h>

enum {
	MOST_FAMILIES = 256, /* of one kernel on one target: with more, nothing changes slowly */
	OUTLINE = 32,        /* points of a curve that tell what belongs to it */
};

/* How gradually things change along a curve. Launches with another mix of instructions behave otherwise; the simulated middle finds
 * what these leave in, so they may be wide. */
static const double mix_apart = 0.1;    /* share of the instructions that are in other blocks */
static const double warps_apart = 0.25; /* instructions per warp, relative */
static const double sectors_apart = 0.1; /* of memory per access, relative: one sector more where accesses begin elsewhere is a quarter */
/* Launches as large as others take longer where fewer lanes of a warp do the same, or where one work-item has most of the work. */
static const double together_apart = 0.1, longest_apart = 0.05; /* relative */
/* Times of the ends of a span that is accepted. One test in the middle of a larger one would say nothing of its short launches. */
static const double most_apart = 4;
/* Ends between which a test says how rough a curve is, not how bent. */
static const double least_apart = 1.25;
/* So many square means of what nodes were off are the band of the others: 95% of what is normally distributed is in it. */
static const double band_width = 2;
/* Pairs of nodes of about the same size that are compared; the latter where those that were are off by more than the tolerance, or where launches
 * hang on few work-items. */
enum { LEAST_PAIRS = 1, MOST_PAIRS = 5 };

struct square_mean {
	double sum, count;
};

struct span {
	struct family_member *low, *high; /* nodes; NULL: there is none beyond */
	struct family_member *waiting;    /* by size */
	bool tested, accepted;            /* a test is under way; one has shown that interpolation is good enough */
	struct square_mean pairs;         /* of nodes of about the same size, as far as this span knows them: find_pairs */
	double error;                     /* of that test */
	double entered;                   /* sizes of the kernel's launches up to the last of the batch, added up: is_early */
};

struct family_member {
	struct family_member *next;
	struct family *family;
	struct family_features x;
	void *launch;
	uint64_t bytes, batch;
	double entered; /* sizes of all launches of the kernel up to this one, added up */
	double near; /* limits.near, or .hurried */
	struct span *span; /* that it is a test of */
	/* Of a node: */
	struct span after; /* up to the next one */
	double time_ns;
	void *estimate;
	uint64_t used; /* the batch that it was used for last */
	uint32_t refs;
	double off; /* of the straight line through those next to it; NAN: they were not about as long, or there were none */
	/* Of one that is decided: */
	struct family_decision decision;
	struct family_member *a, *b;
	enum { FAMILY_SAME, FAMILY_NEAR, FAMILY_BETWEEN } how; /* a's cycles per instruction: they are as large, or about so; or on a line */
};

struct member_queue {
	struct family_member *first, **end;
};

struct family {
	struct family *next;
	uint64_t kind;
	struct family_features outline[OUTLINE]; /* by size */
	uint32_t outline_count;
	struct family_member *open;   /* by size: of the batch to come */
	struct family_member *closed; /* of batches that wait for their turn, in order; each by size */
	uint64_t open_count, open_bytes, batch, window;
	struct span below; /* up to the first node */
	struct family_member *second[2]; /* nodes next to the first and the last one, as the batch began; NULL: there are none */
	uint32_t nodes;
	struct member_queue decided; /* of that batch */
	uint64_t active; /* launches of the batch that is being decided, and the first launch of all */
};

struct families {
	struct family_limits limits;
	struct family *list, **list_end;
	size_t count;
	struct member_queue next, decided;
	struct family_member *given[2]; /* nodes that the last decision named */
	uint64_t open_count, open_bytes, waiting;
	double entered; /* sizes of all launches, added up */
};

static double relative(double a, double b)
{
	return fmax(a, b) > 0 ? fabs(a - b) / fmax(a, b) : 0;
}

static void add_square(struct square_mean *s, double x)
{
	s->sum += x * x;
	s->count++;
}

static double square_mean(const struct square_mean *s)
{
	return s->count > 0 ? sqrt(s->sum / s->count) : 0;
}

/* ---- lists ---- */

static void queue_add(struct member_queue *q, struct family_member *m)
{
	m->next = NULL;
	*q->end = m;
	q->end = &m->next;
}

static struct family_member *queue_take(struct member_queue *q)
{
	struct family_member *m = q->first;
	if (m && !(q->first = m->next))
		q->end = &q->first;
	return m;
}

/* After those of the same size, so that the first that came is the first. */
static void insert_by_size(struct family_member **list, struct family_member *m)
{
	while (*list && (*list)->x.size <= m->x.size)
		list = &(*list)->next;
	m->next = *list;
	*list = m;
}

static void unlink_member(struct family_member **list, struct family_member *m)
{
	while (*list != m)
		list = &(*list)->next;
	*list = m->next;
}

/* ---- nodes ---- */

static void release_node(struct families *f, struct family_member *m)
{
	if (!m || --m->refs)
		return;
	if (f->limits.free_estimate)
		f->limits.free_estimate(m->estimate);
	free(m);
}

static void release_given(struct families *f)
{
	for (int i = 0; i < 2; i++) {
		release_node(f, f->given[i]);
		f->given[i] = NULL;
	}
}

/* The span that a size is in. */
static struct span *span_of(struct family *y, double size)
{
	struct span *s = &y->below;
	while (s->high && s->high->x.size < size)
		s = &s->high->after;
	return s;
}

/* Nodes that were of no use for the longest time go, but for the first and the last. */
static void forget_nodes(struct families *f, struct family *y)
{
	while (y->nodes > f->limits.nodes) {
		struct span *oldest = NULL; /* the one before it */
		for (struct span *s = &y->below.high->after; s->high && s->high->after.high; s = &s->high->after)
			if (!oldest || s->high->used < oldest->high->used)
				oldest = s;
		if (!oldest)
			return;
		struct family_member *gone = oldest->high;
		oldest->high = gone->after.high;
		oldest->accepted = false;
		y->nodes--;
		release_node(f, gone);
	}
}

/* ---- decisions ---- */

static double weight_between(const struct family_member *a, const struct family_member *b, double size)
{
	return b->x.size > a->x.size ? (size - a->x.size) / (b->x.size - a->x.size) : 0;
}

/* Where a launch is between two nodes by one of its features, less where it is by its size. */
static double elsewhere(double a, double b, double x, double weight)
{
	return fabs(b - a) > 0 ? fabs(fmin(fmax((x - a) / (b - a), 0), 1) - weight) : 0;
}

/* Time may follow the size of launches, or their warps, or the groups of the SM that has most, which change in steps where grids are rounded
 * up to whole groups: by how much these times differ. */
static double rounding(const struct family_member *a, const struct family_member *b, const struct family_member *m)
{
	double weight = weight_between(a, b, m->x.size), time = a->time_ns + weight * (b->time_ns - a->time_ns);
	double most = fmax(elsewhere(a->x.warps, b->x.warps, m->x.warps, weight),
	                   elsewhere((double)a->x.steps, (double)b->x.steps, (double)m->x.steps, weight));
	return time > 0 ? most * fabs(b->time_ns - a->time_ns) / time : 0;
}

static void decide(struct families *f, struct family_member *m, struct family_member *a, struct family_member *b, double error)
{
	m->decision = (struct family_decision){.launch = m->launch, .a = a->estimate, .b = b->estimate, .a_size = a->x.size,
	                                       .b_size = b->x.size, .weight = weight_between(a, b, m->x.size), .times = 1, .error = error};
	m->a = a;
	m->b = b;
	a->refs++;
	b->refs++;
	a->used = b->used = m->batch;
	m->family->active--;
	f->waiting--;
	queue_add(&m->family->decided, m);
}

/* The node that a launch may take its cycles per instruction from. */
static struct family_member *near_node(const struct span *s, const struct family_member *m, double *apart)
{
	struct family_member *ends[2] = {s->low, s->high}, *found = NULL;
	for (int i = 0; i < 2; i++) {
		if (!ends[i])
			continue;
		double d = relative(m->x.size, ends[i]->x.size);
		if (d > m->near || (d > 0 && m->x.steps != ends[i]->x.steps) || (found && d >= *apart))
			continue;
		found = ends[i];
		*apart = d;
	}
	return found;
}

/* Launches of about the same size may differ in what no feature says: which data the longest work-items met, for example. Then one does not
 * stand for another, and a test that agrees does so by chance. */
static bool is_rough(const struct families *f, const struct span *s)
{
	return square_mean(&s->pairs) > f->limits.tolerance;
}

static bool does_the_same(const struct family_member *m, const struct family_member *node)
{
	return !relative(m->x.together, node->x.together) && !relative(m->x.longest, node->x.longest) && !relative(m->x.sectors, node->x.sectors);
}

/* If the longest warp of another launch as large does more or less, data decides how long it is, and what its work-items meet, which no sum over the
 * launch tells. */
static bool hangs_on_few(const struct span *s, const struct family_member *m)
{
	bool others = (s->low && relative(s->low->x.longest, m->x.longest) > 0) || (s->high && relative(s->high->x.longest, m->x.longest) > 0);
	return others && few_are_longer(m->x.longest, m->x.together, m->x.warps);
}

/* While a kernel's launches are few and small, all are simulated if those of about the same size differ. */
static bool is_early(const struct families *f, const struct span *s, const struct family_member *m)
{
	bool own = !m->x.borrowed && few_are_longer(m->x.longest, m->x.together, m->x.warps);
	return s->entered <= (own ? f->limits.few : f->limits.all);
}

/* So nodes are compared with one another before they stand for launches that are not just as large. */
static bool are_compared(const struct families *f, const struct span *s, const struct family_member *m)
{
	bool rough = is_rough(f, s), early = is_early(f, s, m);
	if (early && rough)
		return false;
	return s->pairs.count >= (rough || (early && hangs_on_few(s, m)) ? MOST_PAIRS : LEAST_PAIRS);
}

static bool is_better(const struct family_member *node, const struct family_member *m)
{
	return node && !node->x.borrowed && relative(node->x.size, m->x.size) <= m->near && node->x.steps == m->x.steps;
}

/* Launches that were simulated as they were tell more of one that would be simulated with work-items of others. */
static bool are_better(const struct span *s, const struct family_member *m)
{
	return m->x.borrowed && s->pairs.count >= LEAST_PAIRS && (is_better(s->low, m) || is_better(s->high, m));
}

static bool may_be_near(const struct families *f, const struct span *s, const struct family_member *m, const struct family_member *node, double apart)
{
	bool same = does_the_same(m, node) || !(hangs_on_few(s, m) || is_rough(f, s));
	if (node->x.borrowed && !m->x.borrowed && is_early(f, s, m))
		return false; /* what it does is known, and the node's time is a guess */
	return m->near > f->limits.near || (!(apart > 0) && same) || are_compared(f, s, m) || are_better(s, m);
}

static bool about_as_long(const struct span *s)
{
	return s->low && s->high && fmax(s->low->time_ns, s->high->time_ns) <= least_apart * fmin(s->low->time_ns, s->high->time_ns);
}

/* Whether it may be interpolated, because a test has shown that: between launches that are about as long, that may have been by chance. */
static bool may_be_between(const struct families *f, const struct span *s, const struct family_member *m)
{
	return s->accepted && (!is_early(f, s, m) || !about_as_long(s) || !(hangs_on_few(s, m) || is_rough(f, s)) || are_compared(f, s, m));
}

/* From both ends, where both are near. */
static void decide_near(struct families *f, const struct span *s, struct family_member *m, struct family_member *near, double apart)
{
	bool both = s->low && s->high && apart > 0 && relative(s->low->x.size, m->x.size) <= m->near && relative(s->high->x.size, m->x.size) <= m->near &&
	            s->low->x.steps == m->x.steps && s->high->x.steps == m->x.steps;
	m->how = apart > 0 || !does_the_same(m, near) ? FAMILY_NEAR : FAMILY_SAME;
	decide(f, m, both ? s->low : near, both ? s->high : near, apart);
}

/* Decides the waiting launches of a span that are near a node or, where it is accepted, all. */
static void decide_span(struct families *f, struct span *s)
{
	struct family_member *m = s->waiting, *next, **kept = &s->waiting;
	for (; m; m = next) {
		double apart = 0;
		next = m->next;
		bool between = may_be_between(f, s, m);
		struct family_member *near = between ? NULL : near_node(s, m, &apart);
		if (between) {
			m->how = FAMILY_BETWEEN;
			decide(f, m, s->low, s->high, hypot(s->error, rounding(s->low, s->high, m)));
		} else if (near && may_be_near(f, s, m, near, apart)) {
			decide_near(f, s, m, near, apart);
		} else {
			*kept = m;
			kept = &m->next;
		}
	}
	*kept = NULL;
}

/* ---- tests ---- */

/* Where a launch says most of how good interpolation is: at the geometric mean of the times of both ends. */
static double best_weight(const struct family_member *a, const struct family_member *b)
{
	return 1 / (1 + sqrt(b->time_ns / a->time_ns));
}

/* An end beyond the nodes, else the waiting launch that says most: those that are simulated as they were before those that others stand for. */
static struct family_member *choose_test(const struct span *s)
{
	struct family_member *best = s->waiting;
	if (!s->low)
		return best;
	if (!s->high) {
		while (best->next)
			best = best->next;
		return best;
	}
	double wanted = best_weight(s->low, s->high);
	for (struct family_member *m = best; m; m = m->next) {
		double off = fabs(weight_between(s->low, s->high, m->x.size) - wanted);
		bool nearer = off < fabs(weight_between(s->low, s->high, best->x.size) - wanted);
		if (m->x.borrowed != best->x.borrowed ? best->x.borrowed : nearer)
			best = m;
	}
	return best;
}

static void step_span(struct families *f, struct span *s)
{
	if (s->tested)
		return;
	decide_span(f, s);
	if (!s->waiting)
		return;
	struct family_member *m = choose_test(s);
	unlink_member(&s->waiting, m);
	s->tested = true;
	m->span = s;
	queue_add(&f->next, m);
}

/* Whether launches between a and b may be interpolated, because the one between them could have been. */
static bool judge(const struct family_member *a, const struct family_member *m, const struct family_member *b, double tolerance,
                  double *error)
{
	double wanted = best_weight(a, b), weight = weight_between(a, b, m->x.size);
	*error = fabs((a->time_ns + weight * (b->time_ns - a->time_ns)) / m->time_ns - 1);
	return *error <= tolerance && fmax(a->time_ns / b->time_ns, b->time_ns / a->time_ns) <= most_apart &&
	       weight >= wanted / 2 && weight <= (1 + wanted) / 2;
}

/* Of two nodes that are about as large: how much their times per size differ. */
static void add_pair(const struct families *f, struct square_mean *pairs, const struct family_member *a, const struct family_member *b)
{
	if (a && b && relative(a->x.size, b->x.size) <= f->limits.near && a->x.steps == b->x.steps)
		add_square(pairs, relative(a->time_ns * b->x.size, b->time_ns * a->x.size));
}

/* A test in the middle of its span says whether both sides may be interpolated. A new end says so of what is between it and the old one, if
 * it goes on as the curve did before; half of the tolerance, because none between them was tried. */
static void judge_test(const struct families *f, struct span *s, struct family_member *m)
{
	struct family_member **second = m->family->second;
	double error = 0, tolerance = f->limits.tolerance;
	bool good = false;
	if (s->low && s->high)
		good = judge(s->low, m, s->high, tolerance, &error);
	else if (s->high && second[0])
		good = judge(m, s->high, second[0], tolerance / 2, &error);
	else if (s->low && second[1])
		good = judge(second[1], s->low, m, tolerance / 2, &error);
	s->accepted = good && s->low;
	m->after.accepted = good && s->high;
	s->error = m->after.error = error;
	add_pair(f, &s->pairs, s->low, m);
	add_pair(f, &s->pairs, m, s->high);
	m->after.pairs = s->pairs;
	m->after.entered = s->entered;
	m->off = about_as_long(s) ? error : NAN;
}

/* The test becomes a node; its span ends there. */
static void divide(struct span *s, struct family_member *m)
{
	struct family_member **rest = &s->waiting;
	while (*rest && (*rest)->x.size <= m->x.size)
		rest = &(*rest)->next;
	m->after.low = m;
	m->after.high = s->high;
	m->after.waiting = *rest;
	*rest = NULL;
	s->high = m;
	m->refs = 1;
	m->used = m->batch;
	m->family->nodes++;
}

/* ---- how rough a curve is ---- */

static struct square_mean find_pairs(const struct families *f, const struct family *y)
{
	struct square_mean pairs = {0};
	for (const struct family_member *a = y->below.high; a; a = a->after.high)
		add_pair(f, &pairs, a, a->after.high);
	return pairs;
}

static struct square_mean find_off(const struct family *y)
{
	struct square_mean off = {0};
	for (const struct family_member *m = y->below.high; m; m = m->after.high)
		if (!isnan(m->off))
			add_square(&off, m->off);
	return off;
}

/* The time per size of nodes that are about as large as a launch: their mean. What others stand for counts half: they differ from the launch that
 * was traced, and that one from this. 0: there is but one. */
static double mean_of_near(const struct families *f, const struct family *y, const struct family_member *m)
{
	double sum = 0, weights = 0, count = 0;
	for (const struct family_member *a = y->below.high; a; a = a->after.high) {
		double weight = a->x.borrowed ? 0.5 : 1;
		if (relative(a->x.size, m->x.size) > f->limits.near || a->x.steps != m->x.steps || !(a->x.size > 0))
			continue;
		sum += weight * a->time_ns / a->x.size;
		weights += weight;
		count++;
	}
	return count > 1 ? sum / weights : 0;
}

/* Where launches differ by what no feature tells, each is the next one's time and a chance: the mean of several has less of that than one. */
static double times_of_mean(const struct families *f, const struct family *y, const struct family_member *m)
{
	double mean = few_are_longer(m->x.longest, m->x.together, m->x.warps) ? mean_of_near(f, y, m) * m->x.size : 0;
	double own = m->a == m->b ? (m->a->x.size > 0 ? m->a->time_ns * m->x.size / m->a->x.size : 0) :
	                            m->a->time_ns + m->decision.weight * (m->b->time_ns - m->a->time_ns);
	return mean > 0 && own > 0 ? mean / own : 1;
}

/* All of a batch are decided: what its tests were off is known, in whichever order they ended. */
static void publish(struct families *f, struct family *y)
{
	const struct square_mean pairs = find_pairs(f, y), off = find_off(y);
	const double rough[] = {[FAMILY_SAME] = 0, [FAMILY_NEAR] = square_mean(&pairs), [FAMILY_BETWEEN] = square_mean(&off)};
	for (struct family_member *m; (m = queue_take(&y->decided));) {
		if (m->how != FAMILY_SAME && square_mean(&pairs) > f->limits.tolerance)
			m->decision.times = times_of_mean(f, y, m);
		m->decision.error = hypot(m->decision.error, band_width * rough[m->how]);
		queue_add(&f->decided, m);
	}
}

/* ---- batches ---- */

/* What the new ends of a batch are compared with, whatever the other tests of the batch find meanwhile. */
static void note_ends(struct family *y)
{
	struct family_member *m = y->below.high;
	y->second[0] = m ? m->after.high : NULL;
	y->second[1] = NULL;
	for (; m && m->after.high; m = m->after.high)
		y->second[1] = m;
}

static void start_batch(struct families *f, struct family *y)
{
	if (y->active || !y->closed)
		return;
	forget_nodes(f, y);
	note_ends(y);
	uint64_t batch = y->closed->batch;
	double entered = 0;
	for (struct family_member *m = y->closed; m && m->batch == batch; m = y->closed) {
		y->closed = m->next;
		entered = fmax(entered, m->entered);
		insert_by_size(&span_of(y, m->x.size)->waiting, m);
		y->active++;
	}
	struct square_mean pairs = find_pairs(f, y);
	struct span *next;
	for (struct span *s = &y->below; s; s = next) {
		next = s->high ? &s->high->after : NULL;
		s->pairs = pairs; /* those that other spans find in this batch do not count: tests may end in any order */
		s->entered = entered;
		step_span(f, s);
	}
}

/* All may have been decided at once. */
static void start_batches(struct families *f, struct family *y)
{
	while (!y->active && y->closed) {
		publish(f, y);
		start_batch(f, y);
	}
	if (!y->active)
		publish(f, y);
}

static void close_batch(struct families *f, struct family *y)
{
	struct family_member **end = &y->closed;
	while (*end)
		end = &(*end)->next;
	*end = y->open;
	for (struct family_member *m = y->open; m; m = m->next)
		m->batch = y->batch;
	f->open_count -= y->open_count;
	f->open_bytes -= y->open_bytes;
	y->open = NULL;
	y->open_count = y->open_bytes = 0;
	y->batch++;
	y->window = y->window * 2 < f->limits.most ? y->window * 2 : f->limits.most;
	start_batches(f, y);
}

/* ---- what belongs to a family ---- */

/* Features of a size on the straight line through two points; beyond them, those of the nearer one in proportion. */
static struct family_features features_at(const struct family_features *a, const struct family_features *b, double size)
{
	struct family_features out = *a;
	double weight = b->size > a->size ? (size - a->size) / (b->size - a->size) : 0;
	const struct family_features *end = weight <= 0 ? a : weight >= 1 ? b : NULL;
	double times = end && end->size > 0 ? size / end->size : 1;
	out.warps = end ? end->warps * times : a->warps + weight * (b->warps - a->warps);
	out.sectors = end ? end->sectors : a->sectors + weight * (b->sectors - a->sectors);
	out.together = end ? end->together * times : a->together + weight * (b->together - a->together);
	out.longest = end ? end->longest : a->longest + weight * (b->longest - a->longest);
	for (int i = 0; i < FAMILY_PARTS; i++)
		out.parts[i] = end ? end->parts[i] * times : a->parts[i] + weight * (b->parts[i] - a->parts[i]);
	return out;
}

/* Up to 1: it belongs to the curve. *at: the outline's points below its size. */
static double apart_from(const struct family *y, const struct family_features *x, uint32_t *at)
{
	uint32_t above = 0;
	while (above < y->outline_count && y->outline[above].size < x->size)
		above++;
	*at = above;
	const struct family_features *a = &y->outline[above ? above - 1 : 0];
	const struct family_features *b = above < y->outline_count ? &y->outline[above] : a;
	struct family_features there = features_at(a, b, x->size);
	double moved = 0, most = relative(there.warps, x->warps) / warps_apart;
	if (!x->borrowed) /* else it is what others ask for */
		most = fmax(most, relative(there.sectors, x->sectors) / sectors_apart);
	/* Beyond the ends, launches may have fewer work-items, or the same ones may do less. */
	double scaled = relative(a->longest * (a->size > 0 ? x->size / a->size : 1), x->longest);
	double longest = fmin(relative(there.longest, x->longest), a == b || !above ? scaled : 1);
	most = fmax(most, fmax(relative(there.together, x->together) / together_apart, longest / longest_apart));
	for (int i = 0; i < FAMILY_PARTS; i++)
		moved += fabs(there.parts[i] - x->parts[i]) / 2;
	return fmax(x->size > 0 ? moved / x->size / mix_apart : 0, most);
}

/* Every second point but for the ends goes. */
static void thin_outline(struct family *y)
{
	uint32_t kept = 1;
	for (uint32_t i = 2; i + 1 < y->outline_count; i += 2)
		y->outline[kept++] = y->outline[i];
	y->outline[kept++] = y->outline[y->outline_count - 1];
	y->outline_count = kept;
}

/* The curve goes through it, too, if it has not been known as far or as well. */
static void extend_outline(struct family *y, const struct family_features *x)
{
	uint32_t at;
	double apart = apart_from(y, x, &at);
	bool beyond = !at || at == y->outline_count;
	if ((!beyond && apart <= 0.5) || (at < y->outline_count && !(y->outline[at].size != x->size)))
		return;
	if (y->outline_count == OUTLINE)
		thin_outline(y);
	for (at = y->outline_count++; at && y->outline[at - 1].size > x->size; at--)
		y->outline[at] = y->outline[at - 1];
	y->outline[at] = *x;
}

static struct family *find_family(const struct families *f, const struct family_features *x)
{
	struct family *found = NULL;
	double nearest = 1;
	uint32_t at;
	for (struct family *y = f->list; y; y = y->next) {
		double apart = y->kind == x->kind ? apart_from(y, x, &at) : INFINITY;
		if (apart < nearest) {
			nearest = apart;
			found = y;
		}
	}
	return found;
}

static struct family *add_family(struct families *f, const struct family_features *x)
{
	struct family *y = f->count < MOST_FAMILIES ? calloc(1, sizeof *y) : NULL;
	if (!y)
		return NULL;
	y->kind = x->kind;
	y->outline[y->outline_count++] = *x;
	y->window = f->limits.least;
	y->decided.end = &y->decided.first;
	*f->list_end = y;
	f->list_end = &y->next;
	f->count++;
	return y;
}

/* ---- launches ---- */

/* The oldest of those with most bytes. */
static void close_largest(struct families *f)
{
	struct family *largest = NULL;
	for (struct family *y = f->list; y; y = y->next)
		if (y->open && (!largest || y->open_bytes > largest->open_bytes))
			largest = y;
	if (largest)
		close_batch(f, largest);
}

static void wait_in(struct families *f, struct family *y, struct family_member *m)
{
	extend_outline(y, &m->x);
	insert_by_size(&y->open, m);
	y->open_count++;
	y->open_bytes += m->bytes;
	f->open_count++;
	f->open_bytes += m->bytes;
	f->waiting++;
	if (y->open_count >= y->window)
		close_batch(f, y);
	while (f->open_count > f->limits.waiting || f->open_bytes > f->limits.bytes)
		close_largest(f);
}

enum family_answer family_enter(struct families *f, const struct family_features *x, void *launch, uint64_t bytes,
                                struct family_member **member)
{
	release_given(f);
	f->entered += x->size;
	struct family *y = find_family(f, x);
	struct family_member *m = calloc(1, sizeof *m);
	bool first = m && !y;
	if (first)
		y = add_family(f, x);
	*member = NULL;
	if (!m || !y) {
		free(m);
		return FAMILY_SIMULATE;
	}
	m->x = *x;
	m->family = y;
	m->launch = launch;
	m->bytes = bytes;
	m->entered = f->entered;
	m->near = f->limits.near;
	*member = m;
	if (!first) {
		wait_in(f, y, m);
		return FAMILY_WAIT;
	}
	m->span = &y->below;
	y->below.tested = true;
	y->active++;
	f->waiting++;
	return FAMILY_SIMULATE;
}

struct family_member *family_next(struct families *f)
{
	release_given(f);
	return queue_take(&f->next);
}

void *family_launch(const struct family_member *m)
{
	return m->launch;
}

void family_simulated(struct families *f, struct family_member *m, double time_ns, void *estimate)
{
	struct span *s = m->span;
	struct family *y = m->family;
	release_given(f);
	s->tested = false;
	y->active--;
	f->waiting--;
	if (estimate && time_ns > 0) {
		m->time_ns = time_ns;
		m->estimate = estimate;
		judge_test(f, s, m);
		divide(s, m);
		step_span(f, &m->after);
	} else {
		if (estimate && f->limits.free_estimate)
			f->limits.free_estimate(estimate);
		free(m);
	}
	step_span(f, s);
	start_batches(f, y);
}

bool family_decided(struct families *f, struct family_decision *out)
{
	struct family_member *m = queue_take(&f->decided);
	release_given(f);
	if (!m)
		return false;
	f->given[0] = m->a;
	f->given[1] = m->b;
	*out = m->decision;
	free(m);
	return true;
}

void family_flush(struct families *f)
{
	release_given(f);
	for (struct family *y = f->list; y; y = y->next)
		if (y->open)
			close_batch(f, y);
}

void family_hurry(struct families *f)
{
	for (struct family *y = f->list; y; y = y->next)
		for (struct family_member *m = y->open; m; m = m->next)
			m->near = f->limits.hurried;
	family_flush(f);
}

uint64_t family_waiting(const struct families *f)
{
	return f->waiting;
}

uint64_t family_open(const struct families *f)
{
	return f->open_count;
}

/* ---- all ---- */

struct families *families_new(const struct family_limits *limits)
{
	struct families *f = calloc(1, sizeof *f);
	if (f) {
		f->limits = *limits;
		f->list_end = &f->list;
		f->next.end = &f->next.first;
		f->decided.end = &f->decided.first;
	}
	return f;
}

static void free_list(struct family_member *m)
{
	for (struct family_member *next; m; m = next) {
		next = m->next;
		free(m);
	}
}

static void free_family(struct families *f, struct family *y)
{
	struct family_member *next;
	free_list(y->open);
	free_list(y->closed);
	free_list(y->below.waiting);
	for (struct family_member *m = y->below.high; m; m = next) {
		next = m->after.high;
		free_list(m->after.waiting);
		release_node(f, m);
	}
	free(y);
}

void families_free(struct families *f)
{
	struct family_decision d;
	struct family *next;
	if (!f)
		return;
	for (struct family *y = f->list; y; y = y->next)
		publish(f, y);
	while (family_decided(f, &d))
		;
	free_list(f->next.first);
	for (struct family *y = f->list; y; y = next) {
		next = y->next;
		free_family(f, y);
	}
	free(f);
}
