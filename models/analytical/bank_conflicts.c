/*
 * Conflicts of register accesses, if they fall on banks by chance.
 *
 * The paper takes m accesses of one cycle over b banks, Y ~ Binomial(m, 1/b) of a bank, and prints b * (E[Y] - 1) = m - b
 * conflicts: negative whenever there are fewer accesses than banks. Meant is E[max(Y - 1, 0)] = m/b - 1 + (1 - 1/b)^m. That
 * counts too much, because operands of one instruction do not meet by chance, and too little, because reads that wait
 * meet those of the next cycles. So here a bank is a queue in discrete time:
 *   a cycle serves one read with probability s = 1 - writes/b, for writes go first; then A reads arrive, at most one of
 *   each of w instructions: A ~ Binomial(w, l/w), l = reads/b, P[A = 0] = a = (1 - l/w)^w
 *   in balance l = s * (1 - p * a), p: the queue is empty before arrivals, so p = (1 - l/s) / a
 *   conflicts = l - (1 - a) * p       reads that find another one waiting, or come with it
 *   E[Q] = (E[A^2] + l - 2*s*l) / (2*(s - l)), delay = E[Q] / l       from E[Q^2] in balance
 * With p = 1 and w = m this is the paper's. m need not be whole: the paper rounds down, which leaves nothing below
 * two accesses per cycle and jumps at whole numbers, where no fixed point needs to exist.
 * Source: Gerum et al., probabilistic resource model, IV-B; the queue is ours.
 */
#include "models/analytical/optimistic.h"

#include <math.h>

double bank_conflicts_printed(double accesses, double banks)
{
	return accesses - banks;
}

double bank_conflicts_at_once(double accesses, double banks)
{
	if (!(accesses > 1) || !(banks >= 1))
		return 0;
	double whole = floor(accesses), p = 1 - 1 / banks;
	double below = whole - banks + banks * pow(p, whole), above = whole + 1 - banks + banks * pow(p, whole + 1);
	return below + (accesses - whole) * (above - below);
}

double bank_conflicts_held(double arrivals)
{
	return arrivals > 0 ? arrivals - 1 + exp(-arrivals) : 0;
}

/* A bank that is asked for more than it can give is taken to be this busy. 0.99 changes none of the suite's small cases. */
static const double saturation = 0.98;

struct bank {
	double conflicts, delay; /* per cycle; of an access */
};

static struct bank bank_in_balance(double arrivals, double width, double service)
{
	double l = arrivals < saturation * service ? arrivals : saturation * service, w = width > 1 ? width : 1;
	if (!(l > 0))
		return (struct bank){0, 0};
	if (l > w)
		l = w;
	double none = pow(1 - l / w, w), empty = none > 0 ? (1 - l / service) / none : 0;
	if (empty > 1)
		empty = 1;
	double squares = l * (1 - l / w) + l * l;
	double waiting = (squares + l - 2 * service * l) / (2 * (service - l));
	return (struct bank){.conflicts = (l - (1 - none) * empty) * arrivals / l, .delay = waiting > 0 ? waiting / l : 0};
}

struct bank_queue bank_queue(const struct bank_traffic *t)
{
	struct bank_queue q = {0};
	if (!(t->banks >= 1) || !(t->reads >= 0) || !(t->writes >= 0) || isinf(t->reads) || isinf(t->writes))
		return q;
	double written = t->writes / t->banks < saturation ? t->writes / t->banks : saturation;
	struct bank reads = bank_in_balance(t->reads / t->banks, t->read_width, 1 - written);
	struct bank writes = bank_in_balance(t->writes / t->banks, t->write_width, 1);
	q.conflicts = reads.conflicts * t->banks;
	q.read_delay = reads.delay;
	q.write_delay = writes.delay;
	/* Served at once: first in the queue, and the bank is not written. */
	if (t->reads > 0)
		q.delayed = 1 - (1 - written) * (1 - q.conflicts / t->reads);
	return q;
}

/* Delays of a read as geometric: P[delay >= k] = delayed * ratio^(k-1); of `reads` of them, the longest. */
double bank_collect_delay(const struct bank_queue *q, double reads)
{
	double sum = 0, tail = q->delayed;
	if (!(reads > 0) || !(q->read_delay > 0) || !(tail > 0))
		return 0;
	double ratio = q->read_delay > tail ? 1 - tail / q->read_delay : 0;
	for (int k = 1; k < 1000 && tail > 1e-9; k++, tail *= ratio)
		sum += 1 - pow(1 - tail, reads);
	return sum;
}
