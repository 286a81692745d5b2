/*
 * mpi_calls: a process's MPI calls, as lines of text: a word and numbers.
 *
 *   init, finalize
 *   send PEER TAG BYTES COMM                 also ssend
 *   recv PEER TAG BYTES COMM
 *   isend PEER TAG BYTES COMM REQUEST        also issend
 *   irecv PEER TAG BYTES COMM REQUEST
 *   sendrecv PEER TAG BYTES PEER TAG BYTES COMM      sent, received
 *   wait REQUEST...                          what a call has completed; "wait" alone completed nothing
 *   barrier COMM                             ibarrier COMM REQUEST
 *   bcast BYTES ROOT COMM                    ibcast BYTES ROOT COMM REQUEST
 *   allreduce BYTES COMM                     iallreduce BYTES COMM REQUEST
 *   scan, exscan BYTES COMM
 *   reduce BYTES ROOT COMM
 *   allgather, alltoall SENT RECEIVED COMM   bytes for each process
 *   gather, scatter SENT RECEIVED ROOT COMM
 *   allgatherv SENT COMM BYTES...            bytes from each process
 *   gatherv SENT ROOT COMM BYTES...          at the root: bytes from each process
 *   scatterv RECEIVED ROOT COMM BYTES...     at the root: bytes to each process
 *   alltoallv COMM SENT... RECEIVED...
 *   reducescatter COMM BYTES...              bytes that each process gets
 *   comm PARENT COLOR KEY NEW                a new communicator: of those with one color, by key; color -1: none, and NEW is -1
 *   free COMM
 *
 * Ranks are those of the communicator; a peer or a tag of -1 is any. Communicators have numbers in the order in which this process got them: 0 is
 * the world, 1 the process alone. So have requests, from 1.
 */
#ifndef GPUSIM_RUNTIME_FORMAT_MPI_CALLS_H
#define GPUSIM_RUNTIME_FORMAT_MPI_CALLS_H

enum { MPI_CALLS_WORLD = 0, MPI_CALLS_SELF = 1, MPI_CALLS_ANY = -1 };

#endif
