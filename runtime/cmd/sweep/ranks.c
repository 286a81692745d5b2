/*
 * A sweep that several processes share, on one machine or on many with one file system, as mpirun or srun starts them. They need no MPI: the file PREFIX.claims has a
 * byte for each configuration. Whoever runs a configuration holds a lock on its byte, which goes with the process however it ends. So a process that dies loses
 * what it was running, and no more; that is tried once again by another. All append their results to PREFIX.part; the process of rank 0 waits for
 * the others, reads them and prints.
 */
#include "runtime/cmd/sweep/sweep.h"

#include "runtime/process/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the file. SETUP is locked while a process arrives or leaves, ACTIVE as long as it takes part. ARRIVED is a number of four bytes. */
enum { SETUP, ACTIVE, ARRIVED = 4, FIRST = 16 };
enum claim_state { CLAIM_OPEN, CLAIM_TAKEN, CLAIM_TAKEN_AGAIN, CLAIM_DONE, CLAIM_LOST };

bool sweep_is_shared(void)
{
	return process_ranks(1) > 1;
}

static bool lock(const struct sweep *s, off_t at, short type, bool wait)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
	return !fcntl(s->claims, wait ? F_OFD_SETLKW : F_OFD_SETLK, &l);
}

static uint8_t state_at(const struct sweep *s, off_t at)
{
	uint8_t value = 0;
	return pread(s->claims, &value, 1, at) == 1 ? value : 0;
}

static void set_state(const struct sweep *s, off_t at, uint8_t value)
{
	if (pwrite(s->claims, &value, 1, at) != 1)
		fprintf(stderr, "gpusim: sweep: the file of claims cannot be written\n");
}

static uint32_t arrived(const struct sweep *s)
{
	uint32_t processes = 0;
	return pread(s->claims, &processes, sizeof processes, ARRIVED) == sizeof processes ? processes : 0;
}

static void arrive(const struct sweep *s)
{
	uint32_t processes = arrived(s) + 1;
	if (pwrite(s->claims, &processes, sizeof processes, ARRIVED) != sizeof processes)
		fprintf(stderr, "gpusim: sweep: the file of claims cannot be written\n");
}

int sweep_share(struct sweep *s, const char *prefix, const char *options)
{
	char path[4200];
	snprintf(path, sizeof path, "%s.claims", prefix);
	s->claims = open(path, O_RDWR | (s->joins ? 0 : O_CREAT) | O_CLOEXEC, 0644);
	if (s->claims < 0 || !lock(s, SETUP, F_WRLCK, true))
		return -1;
	bool first = lock(s, ACTIVE, F_WRLCK, false); /* nobody is there: what the file says is of an earlier run */
	if (first && ftruncate(s->claims, 0))
		return -1;
	sweep_keep_open(s, prefix, options, first);
	if (s->kept < 0) {
		errno = first ? errno : EBUSY; /* what runs there is another sweep */
		return -1;
	}
	for (size_t i = 0; i < s->configurations && first; i++)
		if (s->results[i].done)
			set_state(s, FIRST + (off_t)i, CLAIM_DONE);
	arrive(s);
	lock(s, ACTIVE, F_RDLCK, true);
	lock(s, SETUP, F_UNLCK, false);
	return 0;
}

/* The first configuration from `i` on whose claim has not ended, as the file said. Many bytes are read at once: a sweep may have 100,000, and one asks each time. */
static size_t next_unsettled(const struct sweep *s, size_t i)
{
	uint8_t states[4096];
	while (i < s->configurations) {
		ssize_t got = pread(s->claims, states, sizeof states, FIRST + (off_t)i);
		if (got <= 0)
			return i;
		for (ssize_t n = 0; n < got && i < s->configurations; n++, i++)
			if (states[n] < CLAIM_DONE)
				return i;
	}
	return i;
}

size_t sweep_claim(struct sweep *s)
{
	s->settled = next_unsettled(s, s->settled);
	for (size_t i = s->settled; i < s->configurations; i = next_unsettled(s, i + 1)) {
		off_t at = FIRST + (off_t)i;
		if (s->results[i].claimed || !lock(s, at, F_WRLCK, false)) /* to a lock of its own a process would get a second one */
			continue;
		uint8_t state = state_at(s, at);
		if (state < CLAIM_TAKEN_AGAIN) {
			set_state(s, at, state == CLAIM_OPEN ? CLAIM_TAKEN : CLAIM_TAKEN_AGAIN);
			s->results[i].claimed = true;
			return i;
		}
		if (state == CLAIM_TAKEN_AGAIN) /* two processes have died of it */
			set_state(s, at, CLAIM_LOST);
		lock(s, at, F_UNLCK, false);
	}
	return s->configurations;
}

void sweep_claim_ends(struct sweep *s, size_t configuration, bool done)
{
	s->results[configuration].claimed = false;
	set_state(s, FIRST + (off_t)configuration, done ? CLAIM_DONE : CLAIM_LOST);
	lock(s, FIRST + (off_t)configuration, F_UNLCK, false);
}

bool sweep_claims_open(struct sweep *s)
{
	s->settled = next_unsettled(s, s->settled);
	return s->settled < s->configurations;
}

/* One that comes when all is done and cleared away would begin anew. */
static void wait_for_late(const struct sweep *s)
{
	enum { TRIES = 100, PAUSE_US = 100000 };
	for (int i = 0; i < TRIES && arrived(s) < (uint32_t)process_ranks(1); i++)
		usleep(PAUSE_US);
}

void sweep_unshare(struct sweep *s, const char *prefix)
{
	char path[4200];
	snprintf(path, sizeof path, "%s.claims", prefix);
	if (s->gathers) {
		if (!s->submits)
			wait_for_late(s);
		unlink(path);
	}
	close(s->claims);
	s->claims = -1;
}
