/*
 * mpi: what the interposer reports of a program's MPI calls. They go into the log of calls (runtime/timeline/schedule.h), between
 * launches and copies, and with it into the profile. runtime/format/mpi_calls.h has their form.
 */
#ifndef GPUSIM_RUNTIME_MPI_H
#define GPUSIM_RUNTIME_MPI_H

#include <stdbool.h>
#include <stdint.h>

struct schedule_command;

/* Whether this program is recorded. Starts the runtime if it is. */
bool mpi_recorded(void);
void mpi_about(int rank, int ranks, const char *library);
uint64_t mpi_call_begins(void);
/* The call that began then ends now. NULL: it is not logged. */
struct schedule_command *mpi_called(uint64_t begin_ns, const char *operation);
/* What is known of an earlier call only now: whom a message came from. */
void mpi_amend(struct schedule_command *call, const char *operation);
/* Calls that are not recorded: their time is not known. Said once for each name. */
void mpi_not_recorded(const char *name);

#endif
