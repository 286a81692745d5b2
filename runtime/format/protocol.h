/*
 * What the guest's process and gpusim-cc say to each other: one request pack, one result pack (base.h).
 *
 *     gpusim-cc REQUEST RESULT       reads the file REQUEST, writes the file RESULT, exits 0
 *     gpusim-cc --version            prints the version that is part of the cache key
 *
 * gpusim-cc exits non-zero only when it could not write RESULT. A program that it cannot handle is a
 * result with a "failure" section. When it is killed, its temporary files and compilers go with it.
 *
 * Request sections, in this order:
 *   version     GPUSIM_CC_VERSION of the guest's library
 *   device      key=value lines about the host device: type=cpu|gpu|accelerator, address_bits=64,
 *               c_version=120 (OpenCL C version used without -cl-std), cl_version=300,
 *               image_support=0|1, little_endian=0|1, platform=NAME, name=NAME, driver=VERSION, extensions=SPACE SEPARATED,
 *               clang=15.0.6 (of the clang in the driver, where its platform tells it),
 *               quotes=shell (the options are a user's, not an application's for this platform),
 *               features=SPACE SEPARATED (__opencl_c_*), counters=plain|atomic
 *   trips       optional: lines LOOP KIND:FACTOR:RESIDUE:BLOCK (as in block-details), counts of trips that are wanted
 *               beside those that the targets need; for tests
 *   targets     one per line: ARCHITECTURE:LIBRARY, the library being vendor or libclc (math_library of gpu.h): sm_70:vendor;
 *               :ASSEMBLER_ARCH may follow, the architecture whose assembler tells the registers: sm_20:libclc:sm_75
 *   cwd         working directory of the guest; present only when an #include or -I may need it
 *   then, for each unit (a source that clBuildProgram or clCompileProgram was given), in link order:
 *   options     the build options, as the application gave them
 *   header      any number: "NAME\n" + text, the embedded headers of clCompileProgram
 *   source      the source text; closes the unit
 *
 * Result sections:
 *   version     GPUSIM_CC_VERSION of gpusim-cc
 *   failure     only on failure: "STAGE: FILE:LINE:COLUMN: what" in one line; STAGE is preprocess,
 *               annotate or internal. No other section is needed then.
 *   host        one per unit: the annotated source. Built with -D__GPUSIM_SILENT=1, it and "traced" print nothing
 *   host-options  one per unit: the options to build it with (no -D, -U, -I, -Werror, -g; with -w)
 *   traced      one per unit, or none: the source that traces as well as counts (traces.h), built with the same host-options.
 *               Absent where it could not be written; a note then says why
 *   renames     optional, where there is one unit: the names that "traced" declares at file scope, one per line. With macros that
 *               make each of them TRACED_PREFIX + name, "traced" can follow "host" in one program
 *   sites       one line per place of the source that accesses memory, in the order of their ids:
 *               ID UNIT BLOCK KIND SPACE BYTES LINE COLUMN FILE   (FILE is last: it may contain blanks)
 *               KIND is one of TRACE_SITE_KINDS (models/trace/trace.h), SPACE one of CODE_SPACES (models/code/code.h), BLOCK the block
 *               of the source that it is in; LINE and COLUMN are those that clang's .loc has for the access. An
 *               operation that loads and stores (+=, ++) has two sites
 *   kernels     one line per kernel: NAME ARGUMENTS; ARGUMENTS counts the application's own, so it is
 *               also the index of the first of ours: those of counters.h, then those of traces.h
 *   safety      one line per kernel, in the order of kernels: NAME WORD...; the words (facts.h), each for the kernel or anything
 *               that it calls, and each said wherever the opposite is not certain:
 *               barriers   a barrier may not be reached in a straight line: it is under a condition, in a switch, in a loop that
 *                          break, continue, return or goto may leave, behind a return, in a function with labels, or in one that is
 *                          called from such a place. Loops that only their own conditions end do not count
 *               prints     calls printf
 *               addresses  follows addresses that may come from memory: an integer becomes a pointer, memory that is not private has
 *                          pointers in it, or an argument that is no pointer does
 *               unconst    somewhere in the program, memory behind a pointer to const __global may be written
 *               variables  uses variables that outlive a launch and may change
 *               rounds     pragmas of the program ask for other arithmetic than the default
 *               waits      a loop looks at memory that other groups may change, by atomics or volatile accesses: some groups of a
 *                          launch may not end without the others
 *               explodes   so many conditions have barriers inside of them that POCL would compile the twin for minutes. Said only where
 *                          it is certain
 *   arguments   one line per kernel, in the same order: NAME KIND...; the kind of each argument (facts.h): value, local, constant,
 *               const (a pointer to const __global), unwritten (the compiler has found that nothing is written through it),
 *               global (any other), read (a read_only image), write (any other image),
 *               sampler, other
 *   layout      item or group: where the counters are, see counters.h; absent: group
 *   columns     one line per kernel, in the order of kernels: NAME FLAGS ID...; in the item layout, the blocks whose
 *               counters its work-items store, in their order; the first FLAGS of them have a bit each, or FLAGS is the
 *               word sums: they add them up. The kernel's own entry is not among them: it is the sum of the slots.
 *               Then, ID=TRIPS for those of the kind "trips" that are computed, for every work-item, from its counter
 *               of the block in TRIPS (as in block-details), which is a column without a flag
 *   blocks      one line per counter, in the order of the counters:
 *               ID UNIT FUNCTION KIND LINE COLUMN FILE   (FILE is last: it may contain blanks)
 *               The kinds are in annotator.h
 *   block-details  one line per block, in the same order: ID END_LINE END_COLUMN LOOP TRIPS TERM...
 *               LOOP is the innermost loop around it, or -1. TRIPS is - except for the kind "trips", which counts
 *               executions of BLOCK (mostly the body of LOOP), numbered from 1 anew whenever LOOP is entered:
 *               every:FACTOR:RESIDUE:BLOCK those whose number modulo FACTOR is RESIDUE, reached:FACTOR:0:BLOCK those
 *               whose number is FACTOR. A block with terms is not counted, because flow determines it: TERM is
 *               SIGNED_FACTOR*ID, with ID lower than its own, and its count is the sum of the terms: "+1*0 -1*3" is
 *               count of 0 less count of 3
 *   loops       one line per loop: ID UNIT PARENT BODY OUTER TRIPS; entered as often as the block PARENT runs, gone
 *               round as often as the block BODY does; OUTER is the loop around it, or -1; TRIPS is 1 where trips
 *               per entry can be counted
 *   target      one per target: the first line is as in the request; then either
 *               "failure TEXT" or one line per kernel: kernel NAME key=value ...
 *               with instructions, shared_bytes, registers (0: not known), or
 *               kernel NAME failure TEXT where only this kernel's code could not be analysed; and lines
 *               "library KERNEL FUNCTION", one per library function whose cost is from a table, "?" before those
 *               that it does not have
 *   code        one per target and kernel, the targets in their order: the line "TARGET NAME", then
 *               the bytes of code_write (models/code/code.h). Its counters are the lines of blocks. Absent after a failure
 *   ptx         one per target, same order: the PTX text, probes left out; empty after a failure
 *   dependency  one line per file read through #include: HASH PATH (absolute); absent when there is none,
 *               present after a failure too
 *   note        any number of one-line remarks for the report
 */
#ifndef GPUSIM_RUNTIME_FORMAT_PROTOCOL_H
#define GPUSIM_RUNTIME_FORMAT_PROTOCOL_H

#include "cc_id.h" /* GPUSIM_CC_ID: a hash of gpusim-cc's sources, made by the Makefile */

#define GPUSIM_VERSION "0.1.0"
/* Results in the cache live as long as the gpusim-cc that made them. */
#define GPUSIM_CC_VERSION GPUSIM_VERSION "-" GPUSIM_CC_ID

/* Of the names of text that traces, where it shares a program with text that only counts. */
#define TRACED_PREFIX "__gpusim_traced_"

#endif
