/*
 * What the guest (the application's process) and gpusim-cc exchange: one request pack, one result pack (base.h).
 *
 *     gpusim-cc REQUEST RESULT       reads the file REQUEST, writes the file RESULT, exits 0
 *     gpusim-cc --version            prints the version that is part of the cache key
 *
 * gpusim-cc exits non-zero only when it could not write RESULT. For a program that it cannot handle, the
 * result has a section "failure". When gpusim-cc is killed, its compilers end and its temporary files are removed.
 *
 * Request sections, in this order:
 *   version     GPUSIM_CC_VERSION of the guest's library
 *   device      key=value lines about the host device: type=cpu|gpu|accelerator, address_bits=64,
 *               c_version=120 (OpenCL C version used without -cl-std), cl_version=300,
 *               image_support=0|1, little_endian=0|1, platform=NAME, name=NAME, driver=VERSION, extensions=SPACE SEPARATED,
 *               clang=15.0.6 (version of the clang in the driver, if its platform reports it),
 *               quotes=shell (the options come from a user, not from an application on this platform),
 *               features=SPACE SEPARATED (__opencl_c_*), counters=plain|atomic
 *   trips       optional, for tests: lines LOOP KIND:FACTOR:RESIDUE:BLOCK (as in block-details). They ask for counts of trips,
 *               in addition to the counts that the targets need
 *   targets     one per line: ARCHITECTURE:LIBRARY. The library is vendor or libclc (math_library of gpu.h): sm_70:vendor.
 *               :ASSEMBLER_ARCH may follow: registers are counted by the assembler for that architecture: sm_20:libclc:sm_75.
 *               Which instructions are wanted follows (analysis/builtins/target_name.h): sm_90:vendor:sass
 *   cwd         working directory of the guest; present only when an #include or -I may need it
 *   then, for each unit (a source with the options that it was compiled with), in link order:
 *   options     the build options, as the application gave them
 *   header      any number: "NAME\n" + text, the embedded headers of clCompileProgram
 *   source      the source text; the unit ends with it
 * For a CUDA module, there is one section instead of units, and "device" and "cwd" are not needed:
 *   fatbin      a fat binary, one or more of its containers in a row, a cubin, or PTX text (analysis/fatbin). Several containers are those
 *               of objects to be linked. The PTX is chosen for the first target, and all targets are modelled with it
 *   count       optional, empty: a GPU will execute the module, and "counting" is wanted
 *
 * Result sections:
 *   version     GPUSIM_CC_VERSION of gpusim-cc
 *   failure     only on failure: "STAGE: FILE:LINE:COLUMN: what" in one line; STAGE is preprocess,
 *               annotate or internal. No other section is needed then.
 *   host        one per unit: the annotated source. Built with -D__GPUSIM_SILENT=1, it and "traced" print nothing
 *   host-options  one per unit: the options to build it with (no -D, -U, -I, -Werror, -g; with -w)
 *   traced      one per unit, or none: the source that traces as well as counts (traces.h), built with the same host-options.
 *               Absent if it could not be written. A note then says why
 *   renames     optional, if there is one unit: the names that "traced" declares at file scope, one per line. If macros turn
 *               each of them into TRACED_PREFIX + name, "traced" can follow "host" in one program
 *   sites       one line per place of the source that accesses memory, in the order of their ids:
 *               ID UNIT BLOCK KIND SPACE BYTES LINE COLUMN FILE   (FILE is last: it may contain blanks)
 *               KIND is one of TRACE_SITE_KINDS (models/trace/trace.h), SPACE one of CODE_SPACES (models/code/code.h).
 *               BLOCK is the source block around it. LINE and COLUMN are as in clang's .loc for the access. An
 *               operation that loads and stores (+=, ++) has two sites
 *   kernels     one line per kernel: NAME ARGUMENTS. ARGUMENTS is the number of the application's own arguments. So it is
 *               also the index of the first argument of ours: first those of counters.h, then those of traces.h
 *   safety      one line per kernel, in the order of kernels: NAME WORD... The words are in facts.h. Each applies to the kernel or
 *               to anything that it calls. A word is there unless the opposite is certain:
 *               barriers   a barrier may not be reached in a straight line: it is under a condition, in a switch, in a loop that
 *                          break, continue, return or goto may leave, after a return, in a function with labels, or in a function
 *                          that is called from such a place. A loop that only its own condition ends is a straight line
 *               prints     calls printf
 *               addresses  uses addresses that may come from memory: an integer becomes a pointer, or pointers are in memory that
 *                          is not private, or in an argument that is not a pointer itself
 *               unconst    somewhere in the program, a write may go through a pointer to const __global
 *               variables  uses variables that outlive a launch and may change
 *               rounds     pragmas of the program ask for other arithmetic than the default
 *               waits      a loop reads memory that other groups may change, by atomics or volatile accesses. Some groups of a
 *                          launch may not end without the others
 *               explodes   so many conditions have barriers inside of them that POCL would compile the twin for minutes. This word
 *                          is there only if that is certain
 *               nests      no hazard: so many loops are in each other that traces in windows are long even so
 *               straight   no hazard: there are no loops, so that traces are short
 *   arguments   one line per kernel, in the same order: NAME KIND...; the kind of each argument (facts.h): value, local, constant,
 *               const (a pointer to const __global), unwritten (a pointer to __global; the compiler has found no write through it),
 *               global (any other pointer to __global), read (a read_only image), write (any other image),
 *               sampler, other
 *   layout      item or group: where the counters are, see counters.h; absent: group
 *   columns     for the item layout, one line per kernel, in the order of kernels: NAME FLAGS ID... The IDs are the blocks whose
 *               counters its work-items store, in their order. The first FLAGS of them have a bit each. If FLAGS is the
 *               word sums, work-items add their counters up. The kernel's own entry has no column: it is the sum of the slots.
 *               Then comes ID=TRIPS for each block of the kind "trips" that is computed, for every work-item, from the counter
 *               of the block in TRIPS (as in block-details). That counter is a column without a flag
 *   blocks      one line per counter, in the order of the counters:
 *               ID UNIT FUNCTION KIND LINE COLUMN FILE   (FILE is last: it may contain blanks)
 *               The kinds are in annotator.h
 *   block-details  one line per block, in the same order: ID END_LINE END_COLUMN LOOP TRIPS TERM...
 *               LOOP is the innermost loop around it, or -1. TRIPS is - except for the kind "trips", which counts
 *               executions of BLOCK (mostly the body of LOOP). Whenever LOOP is entered, they are numbered again from 1.
 *               every:FACTOR:RESIDUE:BLOCK counts the executions whose number modulo FACTOR is RESIDUE,
 *               reached:FACTOR:0:BLOCK those whose number is FACTOR. A block with terms is not counted, because its count
 *               follows from others. TERM is SIGNED_FACTOR*ID, with an ID lower than its own. The count is the sum of the
 *               terms: "+1*0 -1*3" is the count of 0 less the count of 3
 *   loops       one line per loop: ID UNIT PARENT BODY OUTER TRIPS. The loop is entered as often as the block PARENT runs. It
 *               repeats as often as the block BODY runs. OUTER is the loop around it, or -1. TRIPS is 1 if trips per entry can
 *               be counted
 *   target      one per target: the first line is as in the request; then either
 *               "failure TEXT" or one line per kernel: kernel NAME key=value ...
 *               with instructions, shared_bytes, registers (0: not known), or
 *               kernel NAME failure TEXT if only this kernel's code could not be analysed. Then lines
 *               "library KERNEL FUNCTION", one per library function whose cost comes from a table. A "?" is before functions
 *               that the table does not have. For a target that wants machine code: "code KERNEL program" (the program's own), "code KERNEL machine",
 *               or "code KERNEL selected WHY" for a kernel whose machine code there is not, or cannot be mapped
 *   code        one per target and kernel, the targets in their order: the line "TARGET NAME", then
 *               the bytes of code_write (models/code/code.h). Its counters are the lines of blocks. Absent after a failure.
 *               In profiles of imported traces, TARGET is "any": machine code that all targets execute as it is
 *   ptx         one per target, same order: the PTX text without probes; empty after a failure
 *   dependency  one line per file read through #include: HASH PATH (absolute); absent when there is none,
 *               present after a failure too
 *   note        any number of one-line remarks for the report
 *
 * The result of a CUDA module has the same sections, of one unit. "host" and "traced" are lifted kernels (lifted.h), whose layout is item.
 * The lines of "blocks" are rows of lift.h: FUNCTION is that of the PTX, KIND is entry (the first block of a function), block or edge. LINE
 * is that of the source where the PTX says it, else that of the PTX, and FILE then "ptx". "kernels" has only kernels that can be lifted;
 * "target" and "code" have the others as well, without counts. ARGUMENTS are the parameters of the PTX. STAGE of "failure" is one of
 *               no-ptx     there is no PTX that could be lifted; the text tells what there is, and how to compile
 *               not-image  the bytes are none of what "fatbin" may be
 *               too-large  the PTX cannot be built again in a reasonable time, with "count"
 *               lift       the PTX cannot be lifted at all
 *               internal
 * There are two sections more:
 *   lifted      lines (runtime/model/lifted_facts.h):
 *               ptx VERSION TARGET
 *               kernel NAME PARAMETER_BYTES SHARED_BYTES LOCAL_BYTES WARP_BYTES MAXNTID*3 REQNTID*3 FLAGS OFFSET:BYTES:ALIGN...
 *                          FLAGS are letters: p prints, b has barriers, w waits for other groups, a has atomic
 *                          operations on memory that groups share, l is large (lift.h); or -. Then its parameters
 *               refused NAME REASON    a kernel that cannot be lifted
 *               variable NAME SPACE OFFSET BYTES ALIGN    a variable of the image; SPACE is global or const
 *               relocation OFFSET ADDEND data|function    8 bytes of the image: its address + ADDEND, or ADDEND, the number of a function
 *   image       bytes: what the variables of the module begin with
 * and two, if they are wanted:
 *   counting    the module's PTX with instructions that count (counted.h)
 *   counting-kernels  names of the kernels that have them, one per line
 */
#ifndef GPUSIM_RUNTIME_FORMAT_PROTOCOL_H
#define GPUSIM_RUNTIME_FORMAT_PROTOCOL_H

#include "cc_id.h" /* GPUSIM_CC_ID: a hash of gpusim-cc's sources, made by the Makefile */

#define GPUSIM_VERSION "0.1.0"
/* A result in the cache is valid for the gpusim-cc that made it, and for no other. */
#define GPUSIM_CC_VERSION GPUSIM_VERSION "-" GPUSIM_CC_ID

/* Begins the names in traced text where it shares a program with text that only counts. */
#define TRACED_PREFIX "__gpusim_traced_"

/* WHY of a line "code KERNEL selected WHY": a machine with an assembler would have made something else of the request. */
#define PROTOCOL_NO_ASSEMBLER "ptxas was not found"

#endif
