/*
 * calls: what a process called, one line each, in the order of the log (runtime/timeline/schedule.h):
 *
 *   WHAT THREAD QUEUE PRIORITY ENGINE FLAGS CALL RETURN BYTES LAUNCH AFTER NAME
 *
 * WHAT      launch, read, write, copy, fill, map, unmap, peer, marker, barrier, wait, setup, mpi, host
 * THREAD    its number
 * QUEUE     its number; -1: none
 * PRIORITY  of the queue
 * ENGINE    enum command_engine
 * FLAGS     the sum of enum call_flag, and of numbers of GPUs: that of the queue, and those that a copy between GPUs is from and to (enum call_gpu)
 * CALL, RETURN  when the call was made and when it returned, in ns since the process was first seen
 * BYTES     of a copy
 * LAUNCH    1 + the number of the launch in the profile; 0: it is none, or was not modelled
 * AFTER     lines that the command waits for, counted from 0, with commas; or -
 * NAME      the rest of the line: of a kernel; or the MPI call (runtime/format/mpi_calls.h); or -
 */
#ifndef GPUSIM_RUNTIME_FORMAT_CALLS_H
#define GPUSIM_RUNTIME_FORMAT_CALLS_H

/* CALL_WORKS: the host does something of its own in it, for as long as it took. CALL_STREAM: the queue is a stream of CUDA.
 * CALL_RECORDS: the marker is an event that is recorded with its time. */
enum call_flag { CALL_WAITS = 1, CALL_WAITS_ALL = 2, CALL_BARRIER = 4, CALL_OUT_OF_ORDER = 8, CALL_WORKS = 16, CALL_STREAM = 32, CALL_RECORDS = 64 };
enum call_gpu { CALL_GPU_SHIFT = 8, CALL_FROM_SHIFT = 16, CALL_TO_SHIFT = 24, CALL_GPU_MASK = 15 };

#endif
