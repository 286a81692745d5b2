/*
 * pages: which pages of managed memory the processor used since the GPU did.
 *
 * Here managed memory is memory of the host. Linux counts, for each mapping, the pages that were accessed (`Referenced` in /proc/self/smaps); after MADV_COLD it
 * counts from 0 again. So counting starts anew when a command of the GPU has ended. What is counted when the next one begins, the processor used. While a command
 * runs, so is what is counted of memory that the command does not use. Nothing of the application's memory is protected or changed by this. Where Linux does not
 * say it, or reading it takes too long, nothing is known.
 */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_PAGES_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_PAGES_H

#include "runtime/model/launch_record.h"

/* So many bytes of managed memory at an address, in a mapping of its own, from `mapping` to `end`: no other may be merged with it. */
void pages_made(const void *address, uint64_t bytes, void *mapping, void *end);
void pages_gone(const void *address);
/* A command of the GPU begins, and has ended: kernels, copies, fills. They may be several at the same time; then nothing new is known. */
void pages_before_command(void);
void pages_after_command(void);
/* Between the two: they use the managed memory that this address is in, if it is in some. */
void pages_used(const void *address);
/* Between the two, of memory that a launch uses: which pages of it are the processor's when the launch begins, and, at its end, how many there are now that
 * nobody had used. False: nothing is known. */
bool pages_found(const void *address, struct argument_pages *out);
void pages_grown(const void *address, struct argument_pages *inout);
/* Between the two: so many bytes there are brought to the GPU, or to the host. */
void pages_brought(const void *address, uint64_t bytes, bool to_gpu);

#endif
