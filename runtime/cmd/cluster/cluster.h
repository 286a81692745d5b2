/*
 * cluster: an MPI program on a cluster that need not exist.
 *
 * Each rank's profile has its calls in order (runtime/format/calls.h). A rank's own time is replayed as that of a program alone
 * (runtime/timeline/schedule.h): what the host does between calls takes as long as it took, launches and copies as long as the models say. Its
 * MPI calls are made again, by an actor of SimGrid's, to SMPI, SimGrid's own MPI. So what messages and collectives cost is SMPI's answer, with its
 * algorithms and its limits between eager and rendezvous, and a GPU may work while its host waits for a message. Each rank has a GPU of its own.
 */
#ifndef GPUSIM_RUNTIME_CMD_CLUSTER_CLUSTER_H
#define GPUSIM_RUNTIME_CMD_CLUSTER_CLUSTER_H

#include "runtime/base/base.h"
#include "runtime/cmd/cluster/calls.h"
#include "runtime/timeline/schedule.h"
#include "runtime/timeline/topology.h"

struct launch_time {
	uint64_t seq;
	double time_ns; /* NAN: not known */
	struct command_demand demand;
};

/* One MPI call as it was replayed, in ns. */
struct mpi_span {
	const struct mpi_op *op;
	double begin, end, others; /* others: of the time between, how long the call waited for calls of others that were not made yet */
	int partner; /* the rank that was waited for last, where others is not 0 */
};

struct rank {
	char *path, *program, *hash, *library, *left_out, *host; /* host: where it was recorded */
	char *calls; /* as text, where more ranks are to be made of it; or NULL */
	int number, ranks;
	uint64_t omitted, launch_count, unknown; /* launches; those without a time */
	struct schedule schedule;
	struct mpi_op *ops;    /* one for each MPI call, in order */
	size_t op_count, op_room, comm_count;
	uint64_t *comms;       /* the identity of each communicator, by its number here; equal for all of its ranks */
	struct launch_time *launches;
	size_t launches_known;
	struct mpi_span *spans; /* as many as ops */
	double end;             /* of everything */
	const char *placed;     /* the host of the platform; NULL: none */
};

struct cluster {
	struct rank *ranks;
	size_t count, host_count;
	size_t wanted, recorded; /* ranks that are asked for, of those that were recorded (replicate.c); 0: as many */
	const char *platform, *gpu_name;
	struct gpu gpu;
	const char *topology_path; /* "": none */
	struct topology topology; /* links between the GPUs of a rank; count 0: as the description says */
	double host_scale;
	const char **settings; /* of SimGrid, KEY:VALUE */
	size_t setting_count;
	struct comm_member *members; /* of all communicators, sorted */
	size_t member_count, member_room;
};

/* ---- load.c: 0, or a negative errno value and *err says why ---- */
int cluster_load(struct cluster *c, char **paths, size_t count, struct gs_error *err);
void cluster_free(struct cluster *c);
int rank_copy(const struct cluster *c, const struct rank *from, struct rank *to, struct gs_error *err); /* with the times of its launches */

/* ---- comms.c ---- */
struct comm_member {
	uint64_t comm;
	int rank, world; /* in the communicator; in the program */
};
int cluster_name_comms(struct cluster *c, struct gs_error *err);
int cluster_world_rank(const struct cluster *c, uint64_t comm, int rank); /* -1: there is none */
size_t cluster_comm_size(const struct cluster *c, uint64_t comm);

/* ---- model.c: times of launches on the GPU ---- */
int cluster_model(struct cluster *c, struct gs_error *err);
void rank_set_times(struct rank *r); /* of its launches, from r->launches */

/* ---- replicate.c: so many ranks instead of those that were recorded, whose launches have times ---- */
int cluster_replicate(struct cluster *c, size_t ranks, struct gs_error *err);

/* ---- simgrid.c, alone.c: both fill spans and ends ---- */
int cluster_simulate(struct cluster *c, struct gs_error *err);
int cluster_play_alone(struct cluster *c, struct gs_error *err); /* without a platform: MPI calls take as long as they took */
/* play.c: what both need */
/* Goes on to the next MPI call. Returns it, or NULL at the end; *begin is when it is made, or the end. */
struct schedule_command *rank_next_call(struct rank *r, double *begin);
void rank_call_ended(struct rank *r, struct schedule_command *call, double end);

/* ---- waits.c: who waited for whom ---- */
void cluster_find_waits(struct cluster *c);

/* ---- partners.c: how long a rank waited for another. Longest first; the caller frees *out ---- */
struct rank_wait {
	int rank, partner;
	uint64_t calls; /* that waited */
	double time;    /* ns */
};
size_t cluster_partners(const struct cluster *c, struct rank_wait **out);

/* ---- print.c, trace.c, page/page.c ---- */
void cluster_text(const struct cluster *c, struct gs_buf *out);
void cluster_warnings(const struct cluster *c, struct gs_buf *out); /* what was assumed, or is missing; a line each, with an empty one before it */
void cluster_json(const struct cluster *c, struct gs_buf *out);
void cluster_json_members(const struct cluster *c, struct gs_buf *out); /* without what closes it */
int cluster_page(const struct cluster *c, struct gs_buf *out, struct gs_error *err);
void cluster_trace(const struct cluster *c, struct gs_buf *out);

/* What a rank did, in ns. */
struct rank_sums {
	double mpi, others, gpu; /* in MPI calls; of that, waiting for others; the host waiting for the GPU */
	double busy;             /* the GPU's */
	uint64_t bytes;          /* that it sent */
};
struct rank_sums rank_sums(const struct rank *r);
double cluster_end(const struct cluster *c);

/* ---- export_ti.c, export_chakra.c ---- */
int cluster_export_ti(const struct cluster *c, const char *folder, struct gs_error *err);
int cluster_export_chakra(const struct cluster *c, const char *prefix, struct gs_error *err);

#endif
