/*
 * gpu: the description of a GPU, as data.
 *
 * GPU_KEYS below says everything there is to say about a key once: the struct, the parser, its checks and the
 * listings are made from it. A description is text in lines of `key = value   # unit, source`; every key of
 * the table is required unless the table gives a value for its absence. Adding a key adds a row, adding a GPU adds a
 * file. Nothing here reads a file: the caller brings the text.
 */
#ifndef GPUSIM_MODELS_GPU_GPU_H
#define GPUSIM_MODELS_GPU_GPU_H

#include "runtime/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GPU_TEXT_SIZE = 64 };

/* Of an instruction, in the instruction cache. GPGPU-Sim's PTX instructions have 8. */
enum { GPU_INSTRUCTION_BYTES = 8 };

/* How a scheduler orders its warps: loose round robin; greedy (the warp that issued last), then oldest; two levels
 * of an active and a pending set; oldest first. */
#define GPU_SCHEDULER_POLICIES(X) X(lrr) X(gto) X(two_level) X(oldest)

#define GPU_POLICY(word) GPU_SCHEDULER_##word,
enum gpu_scheduler_policy { GPU_SCHEDULER_POLICIES(GPU_POLICY) GPU_SCHEDULER_POLICY_COUNT };
#undef GPU_POLICY

/* The kinds of units that a description may move an instruction class to; auto: those that the class's name says. */
#define GPU_UNIT_CHOICES(X) X(auto) X(fp32) X(int) X(fp64) X(sfu) X(ldst)

#define GPU_UNIT(word) GPU_ON_##word,
enum gpu_unit_choice { GPU_UNIT_CHOICES(GPU_UNIT) GPU_UNIT_CHOICE_COUNT };
#undef GPU_UNIT

/* Whose functions of mathematics the code has: the vendor's, costed by what its compiler emits (analysis/builtins/builtins.def), or
 * the code of libclc, which is what a simulator of clang's PTX executes. */
#define GPU_MATH_LIBRARIES(X) X(vendor) X(libclc)

#define GPU_LIBRARY(word) GPU_MATH_##word,
enum gpu_math_library { GPU_MATH_LIBRARIES(GPU_LIBRARY) GPU_MATH_LIBRARY_COUNT };
#undef GPU_LIBRARY

/* What the models time: PTX instructions, as a simulator of PTX executes them, or those that the assembler makes of them
 * (analysis/machine/machine.h). auto: sass from sm_70 on where the library is the vendor's, else ptx. sass: of a CUDA program, its own machine code or
 * what ptxas makes of its PTX, where there is some (analysis/assembled/assembled.h); else what analysis/machine selects. machine: the assembler's
 * also of OpenCL programs. selected: what is selected, always. */
#define GPU_MACHINE_CODES(X) X(auto) X(ptx) X(sass) X(machine) X(selected)

#define GPU_CODE(word) GPU_CODE_##word,
enum gpu_machine_code { GPU_MACHINE_CODES(GPU_CODE) GPU_MACHINE_CODE_COUNT };
#undef GPU_CODE

/* A row is X(kind, key, unit, least, most, need, text). TEXT counts its characters in least and most; COUNT and BYTES
 * are whole numbers, and BYTES may end in Ki, Mi or Gi; FLAG is 0 or 1. */
#define GPU_REQUIRED true, NULL
#define GPU_DEFAULT(value) false, value

/*
 * Instruction classes, two keys each. latency: core cycles from the issue of an instruction to the issue of one that
 * needs its result, less pipeline_latency. initiation: core cycles a warp's instruction keeps its unit busy, so that
 * an SM starts units / initiation of them per cycle. A unit is as wide as a warp, whatever its lanes: 16 lanes are one
 * unit of initiation 2. The class's name says which units run it, except: int_* and those after sfu in the list
 * run on the int units, or on the fp32 units where int_units is 0; fp64_* on the sfu units where fp64_units is 0;
 * *_div on the sfu units. A barrier has no result: its latency, whole, is from the issue of the last warp's to the next issue of
 * those that wait.
 */
#define GPU_COST(X, class, what)                                                                                       \
	X(REAL, class##_latency, "cycles", 0, 100000, GPU_REQUIRED, "latency of " what)                                \
	X(REAL, class##_initiation, "cycles", 0.01, 100000, GPU_REQUIRED, "initiation interval of " what)

#define GPU_CLASSES(X)                                                                                                 \
	GPU_COST(X, int, "integer add and subtract")                                                                   \
	GPU_COST(X, int_mul, "integer multiply")                                                                       \
	GPU_COST(X, int_mad, "integer multiply-add")                                                                   \
	GPU_COST(X, int_minmax, "integer minimum and maximum")                                                         \
	GPU_COST(X, int_div, "integer division and remainder")                                                         \
	GPU_COST(X, fp32, "32-bit floating-point add and multiply")                                                    \
	GPU_COST(X, fp32_fma, "32-bit fused multiply-add")                                                             \
	GPU_COST(X, fp32_minmax, "32-bit floating-point minimum and maximum")                                          \
	GPU_COST(X, fp32_div, "32-bit floating-point division")                                                        \
	GPU_COST(X, fp64, "64-bit floating-point add and multiply")                                                    \
	GPU_COST(X, fp64_fma, "64-bit fused multiply-add")                                                             \
	GPU_COST(X, fp64_minmax, "64-bit floating-point minimum and maximum")                                          \
	GPU_COST(X, fp64_div, "64-bit floating-point division")                                                        \
	GPU_COST(X, sfu, "reciprocal, square root, sine, cosine, exponential and logarithm")                           \
	GPU_COST(X, conv, "conversion from, to or between floating-point types")                                       \
	GPU_COST(X, logic, "bitwise operations and shifts")                                                            \
	GPU_COST(X, move, "moves, comparisons, selections and conversions between integers")                           \
	GPU_COST(X, shuffle, "exchange between the lanes of a warp")                                                   \
	GPU_COST(X, branch, "branches, calls and returns")                                                             \
	GPU_COST(X, barrier, "a work-group barrier, beside waiting for the others")

/* Steps of products of matrices, of which an instruction may have several. 0: other units do that. */
#define GPU_STEP(X, class, what)                                                                                       \
	X(REAL, class##_latency, "cycles", 0, 100000, GPU_DEFAULT("0"), "latency of a step of tensor units: " what)     \
	X(REAL, class##_initiation, "cycles", 0, 100000, GPU_DEFAULT("0"), "initiation interval of such a step")

/*
 * How instructions move through an SM. A description that says nothing has a plain modern pipeline; 0 ports stand for one
 * per instruction that the schedulers can issue in a cycle, 0 collectors for a share of the pool operand_collectors.
 */
#define GPU_KIND(X, unit)                                                                                              \
	X(COUNT, unit##_ports, "instructions", 0, 64, GPU_DEFAULT("0"), "issued for " #unit " units, not yet collecting")  \
	X(COUNT, unit##_collectors, "collectors", 0, 64, GPU_DEFAULT("0"), "operand collectors for " #unit " units alone")

#define GPU_PIPELINE(X)                                                                                                \
	X(FLAG, refill_when_empty, "", 0, 1, GPU_DEFAULT("0"), "fetch for a warp only when its buffer is empty")       \
	X(COUNT, fetch_to_issue_cycles, "cycles", 1, 64, GPU_DEFAULT("1"), "from a fetch to the first issue of it")    \
	X(FLAG, flush_at_branch, "", 0, 1, GPU_DEFAULT("1"),                                                           \
	  "a taken branch empties the buffer at once; 0: when a scheduler next looks at the warp")                     \
	X(FLAG, control_units, "", 0, 1, GPU_DEFAULT("0"),                                                             \
	  "branches, barriers and what parts and joins lanes have units of their own; 0: they take those of integers")  \
	X(COUNT, branch_wait_cycles, "cycles", 0, 1000, GPU_DEFAULT("0"),                                              \
	  "from the issue of what parts and joins lanes, as branches do that lanes may take differently, to the next of its warp; 0: as after others") \
	X(COUNT, table_wait_cycles, "cycles", 0, 1000, GPU_DEFAULT("0"),                                               \
	  "the same for each way that lanes go by a table of jumps; 0: as other branches")                             \
	X(COUNT, table_way_cycles, "cycles", 0, 1000, GPU_DEFAULT("0"), "for which each such way takes the one unit of an SM that finds it") \
	X(FLAG, retire_in_fetch, "", 0, 1, GPU_DEFAULT("0"),                                                           \
	  "warps retire in the fetch stage's round, which ends at the first warp that it serves; 0: at once")          \
	X(COUNT, icache_line_instructions, "instructions", 0, 4096, GPU_DEFAULT("0"), "of a line; 0: no cold misses")  \
	X(COUNT, icache_miss_cycles, "cycles", 0, 100000, GPU_DEFAULT("0"), "from the first touch of a line to it")    \
	X(FLAG, sub_cores, "", 0, 1, GPU_DEFAULT("0"), "a scheduler has its own share of units, collectors and banks") \
	X(COUNT, two_level_warps, "warps", 1, 1024, GPU_DEFAULT("8"), "active warps of a scheduler, if two_level")     \
	GPU_KIND(X, fp32) GPU_KIND(X, int) GPU_KIND(X, fp64) GPU_KIND(X, sfu) GPU_KIND(X, tensor) GPU_KIND(X, ldst)                        \
	X(COUNT, collector_steps, "steps/cycle", 1, 8, GPU_DEFAULT("1"), "rounds of allocation, reading, dispatch")    \
	X(FLAG, completion_slots, "", 0, 1, GPU_DEFAULT("0"), "no start if the unit finishes another at the same time") \
	X(COUNT, load_results, "results/cycle", 0, 1024, GPU_DEFAULT("0"),                                             \
	  "of shared memory, written to banks that no unit writes to; 0: as they come")                                \
	X(FLAG, atomics_stop_warp, "", 0, 1, GPU_DEFAULT("0"), "a warp issues nothing until its atomic is back")       \
	X(FLAG, atomics_gathered, "", 0, 1, GPU_DEFAULT("0"), "lanes send one operation to an address that the code shows to be one")  \
	X(REAL, atomic_fast_latency, "cycles", 0, 100000, GPU_DEFAULT("0"),                                            \
	  "atomic on global memory that answers at once; 0: atomic_latency")                                            \
	X(REAL, store_latency, "cycles", 0, 100000, GPU_DEFAULT("0"),                                                  \
	  "store, issue to acknowledgement, which a warp needs to retire; 0: when it has left its unit")                \
	X(FLAG, wait_for_stores, "", 0, 1, GPU_DEFAULT("1"),                                                           \
	  "with the memory hierarchy, a group makes room for the next when its stores are acknowledged; 0: when they have left the SM")

/*
 * The hierarchy after the load/store unit (GPUSIM_MEMORY=hierarchy). What a description leaves out is that of a GPU of
 * today, as simulators have it.
 */
#define GPU_MEMORY(X)                                                                                                  \
	X(COUNT, l1_lookup_cycles, "cycles", 0, 1000, GPU_DEFAULT("16"), "of an access in L1 before its tags are looked up") \
	X(COUNT, l1_banks, "banks", 0, 1024, GPU_DEFAULT("0"),                                                         \
	  "of 4 bytes, which loads read L1 by; 0: a line or sector takes a cycle, whatever lanes want of it")          \
	X(FLAG, l1_wide_parts, "", 0, 1, GPU_DEFAULT("0"), "loads of 8 bytes a lane read them by halves of the warp, of 16 by quarters, which share no words") \
	X(REAL, l1_store_cycles, "cycles", 0, 1000, GPU_DEFAULT("0"),                                                  \
	  "that a line of a store takes L1, in turn with loads, which take its banks; 0: a cycle, and loads those of their tags") \
	X(COUNT, l1_tags_per_cycle, "lines", 1, 128, GPU_DEFAULT("1"), "of one load whose tags are looked up in a cycle, if in other banks") \
	X(FLAG, l1_set_hash, "", 0, 1, GPU_DEFAULT("1"), "higher bits of an address take part in choosing its set of L1")  \
	X(COUNT, l1_mshrs, "lines", 1, 65536, GPU_DEFAULT("256"), "lines or sectors that L1 waits for at once")        \
	X(COUNT, l1_mshr_merges, "loads", 1, 65536, GPU_DEFAULT("8"), "loads that wait for one of these")              \
	X(COUNT, l1_miss_queue, "requests", 1, 65536, GPU_DEFAULT("16"), "that wait to leave an SM")                   \
	X(REAL, l1_misses_per_cycle, "requests/cycle", 0, 1024, GPU_DEFAULT("0"), "of loads, that leave an SM; 0: as its port takes them") \
	X(REAL, l1_mixed_miss_cycles, "cycles", 0, 1000, GPU_DEFAULT("0"), "that each line a load misses adds, if it hits others") \
	X(FLAG, l1_allocate_on_fill, "", 0, 1, GPU_DEFAULT("1"), "L1 makes room when data comes; 0: when it is asked for") \
	X(FLAG, l1_store_evicts, "", 0, 1, GPU_DEFAULT("0"), "a store to global memory drops the line from L1; 0: it updates it") \
	X(COUNT, fence_latency, "cycles", 0, 100000, GPU_DEFAULT("0"), "that a warp waits at a fence of the GPU, after its stores; 0: not at all") \
	X(FLAG, l1_store_merges, "", 0, 1, GPU_DEFAULT("0"), "a store to sectors of which a store is still waiting to leave the SM leaves with it") \
	X(FLAG, l1_local_write_back, "", 0, 1, GPU_DEFAULT("0"), "L1 keeps stores to local memory of a work-item until their line makes room; 0: it sends them on at once") \
	X(COUNT, l1_store_allocates, "", 0, 2, GPU_DEFAULT("0"), "a store makes a line in L1: 1: of whole sectors; 2: any") \
	X(BYTES, const_bytes, "bytes", 0, 1 << 24, GPU_DEFAULT("64Ki"), "constant cache of an SM")                     \
	X(COUNT, const_ways, "ways", 1, 65536, GPU_DEFAULT("8"), "its associativity")                                  \
	X(REAL, const_miss_cycles, "cycles", 0, 100000, GPU_DEFAULT("0"), "constant that is not cached; 0: as l2_latency") \
	X(COUNT, const_mshrs, "lines", 0, 65536, GPU_DEFAULT("0"), "of constants that an SM waits for at once; the next one holds up the load/store unit; 0: any") \
	X(FLAG, const_kept, "", 0, 1, GPU_DEFAULT("0"), "it keeps parameters from one launch to the next; 0: every launch begins without") \
	X(COUNT, icache_cold_cycles, "cycles", 0, 100000, GPU_DEFAULT("0"),                                            \
	  "first touch of a line of instructions; 0: icache_miss_cycles")                                              \
	X(BYTES, icache_bytes, "bytes", 0, 1 << 24, GPU_DEFAULT("0"), "instruction cache of an SM, 8 of each instruction; 0: large enough") \
	X(COUNT, icache_ways, "ways", 1, 65536, GPU_DEFAULT("4"), "its associativity")                                 \
	X(FLAG, icache_kept, "", 0, 1, GPU_DEFAULT("1"), "it keeps instructions from one launch to the next; 0: every launch begins without") \
	X(BYTES, icnt_flit_bytes, "bytes", 1, 65536, GPU_DEFAULT("40"), "unit of the interconnect")                    \
	X(BYTES, icnt_header_bytes, "bytes", 0, 65536, GPU_DEFAULT("8"), "of a packet, beside its data")               \
	X(FLAG, icnt_in_order, "", 0, 1, GPU_DEFAULT("0"), "a packet whose way is taken holds up those behind it")     \
	X(REAL, icnt_speedup, "", 0, 64, GPU_DEFAULT("0"),                                                             \
	  "times as fast as its ports that a crossbar moves flits, if icnt_in_order; a packet takes it for one flit more; 0: as long as a port") \
	X(COUNT, icnt_queue_flits, "flits", 1, 1 << 20, GPU_DEFAULT("256"), "that may wait at a port")                 \
	X(REAL, icnt_sm_flits, "flits/cycle", 0.01, 1024, GPU_DEFAULT("2"), "each way between an SM and the interconnect") \
	X(REAL, icnt_slice_flits, "flits/cycle", 0.01, 1024, GPU_DEFAULT("2"), "each way between it and a slice of L2") \
	X(REAL, icnt_store_flits, "flits/cycle", 0, 1024, GPU_DEFAULT("0"),                                            \
	  "to a slice, of stores and atomics: a header, and one per sector; 0: as icnt_slice_flits, by their bytes")   \
	X(REAL, icnt_store_header_flits, "flits", 0, 64, GPU_DEFAULT("1"), "of a store's header, as icnt_store_flits counts")           \
	X(REAL, icnt_store_part_flits, "flits", 0, 64, GPU_DEFAULT("1"), "of a sector of a store of which some bytes stay as they are")  \
	X(REAL, icnt_sm_store_flits, "flits/cycle", 0, 1024, GPU_DEFAULT("0"),                                         \
	  "from an SM, of stores: one per sector, and one more if bytes of them are not written; 0: as icnt_sm_flits, by their bytes") \
	X(REAL, dram_far_cycles, "cycles", 0, 100000, GPU_DEFAULT("0"),                                                \
	  "that a line of the half of DRAM which is far from an SM takes longer than one of the near half; dram_latency is the mean") \
	X(REAL, dram_refresh_share, "", 0, 1, GPU_DEFAULT("0"), "of lines of DRAM that find it refreshing; dram_latency is the mean with these")   \
	X(REAL, dram_refresh_cycles, "cycles", 0, 100000, GPU_DEFAULT("0"), "for which it does: such a line waits for a part of them, any as likely") \
	X(REAL, l2_spread_cycles, "cycles", 0, 100000, GPU_DEFAULT("0"), "that the slice farthest from an SM takes longer than the nearest") \
	X(REAL, l2_request_cycles, "cycles", 0, 1000, GPU_DEFAULT("0"), "of a slice, per line that is read, beside its sectors") \
	X(BYTES, l2_slice_bytes, "bytes/cycle", 1, 65536, GPU_DEFAULT("64"), "that a slice reads or writes")            \
	X(BYTES, l2_interleave_bytes, "bytes", 32, 1 << 20, GPU_DEFAULT("256"), "that lie together in a slice")        \
	X(BYTES, l2_turn_bytes, "bytes", 0, 1 << 20, GPU_DEFAULT("0"), "in turns of which two neighbours of these lie in their slices, a part of them; 0: one after the other") \
	X(BYTES, allocation_bytes, "bytes", 0, 1 << 20, GPU_DEFAULT("0"), "of which a buffer takes a multiple, where small ones are one behind the other; 0: each is anywhere") \
	X(BYTES, allocation_most_bytes, "bytes", 0, 1ull << 36, GPU_DEFAULT("0"), "of such a buffer; all that are together have twice as many, and others are anywhere") \
	X(FLAG, l2_hash, "", 0, 1, GPU_DEFAULT("1"), "addresses are spread over slices by a hash; 0: in turn")         \
	X(FLAG, l2_set_hash, "", 0, 1, GPU_DEFAULT("0"), "the same of a slice's sets")                                 \
	X(COUNT, l2_mshrs, "sectors", 1, 65536, GPU_DEFAULT("192"), "that a slice waits for at once")                  \
	X(COUNT, l2_mshr_merges, "requests", 1, 65536, GPU_DEFAULT("4"), "that wait for one of these")                 \
	X(FLAG, l2_fills_access, "", 0, 1, GPU_DEFAULT("1"), "a miss brings all of dram_access_bytes; 0: its sector alone") \
	X(FLAG, l2_warm, "", 0, 1, GPU_DEFAULT("1"), "what a launch touches is in L2 when it begins, as much as fits; where nothing is known of what came before") \
	X(FLAG, l2_kept, "", 0, 1, GPU_DEFAULT("1"), "L2 keeps what launches use for those after them; 0: l2_warm says what it holds") \
	X(BYTES, l2_copies, "bytes", 0, 1ull << 40, GPU_DEFAULT("512Ki"), "the host copies with one command, at most, for them to be in L2 afterwards") \
	X(BYTES, l2_dirty_bytes, "bytes", 0, 1ull << 40, GPU_DEFAULT("0"), "of lines that launches may leave there without their being in DRAM; 0: as many as fit") \
	X(REAL, l2_atomic_cycles, "cycles", 0, 100000, GPU_DEFAULT("1"), "of a slice, per operation of an atomic on one address") \
	X(REAL, l2_atomic_whole_cycles, "cycles", 0, 100000, GPU_DEFAULT("0"), "the same where lanes take all words of a sector; 0: as l2_atomic_cycles") \
	X(REAL, l2_atomic_line_cycles, "cycles", 0, 100000, GPU_DEFAULT("0"), "of a slice, more for an atomic on another line than its last four") \
	X(REAL, l2_atomic_result_cycles, "cycles", 0, 100000, GPU_DEFAULT("0"), "and still more where its result is wanted")       \
	X(BYTES, dram_access_bytes, "bytes", 1, 65536, GPU_DEFAULT("64"), "least that a channel moves")                \
	X(COUNT, dram_banks, "banks", 1, 1024, GPU_DEFAULT("16"), "of a channel")                                      \
	X(BYTES, dram_row_bytes, "bytes", 32, 1 << 20, GPU_DEFAULT("2Ki"), "of a bank's row")                          \
	X(COUNT, dram_queue, "accesses", 1, 65536, GPU_DEFAULT("256"), "that a channel chooses among")                 \
	X(REAL, dram_open_ns, "ns", 0, 10000, GPU_DEFAULT("14"), "to open a row")                                      \
	X(REAL, dram_close_ns, "ns", 0, 10000, GPU_DEFAULT("14"), "to close one")                                      \
	X(REAL, dram_cycle_ns, "ns", 0, 10000, GPU_DEFAULT("47"), "between two openings in a bank")                    \
	X(REAL, dram_opens_ns, "ns", 0, 10000, GPU_DEFAULT("3"), "between openings in different banks of a channel")   \
	X(REAL, dram_column_ns, "ns", 0, 10000, GPU_DEFAULT("14"), "from a read of an open row to its data")           \
	X(REAL, dram_read_to_write_ns, "ns", 0, 10000, GPU_DEFAULT("14"), "from a read to a write")                    \
	X(REAL, dram_write_to_read_ns, "ns", 0, 10000, GPU_DEFAULT("7"), "from a write to a read")                      \
	X(REAL, dram_writes_ns, "ns", 0, 100000, GPU_DEFAULT("0"), "that writes take which a channel does together; reads wait meanwhile; 0: writes come as reads do")

/* Energy (models/energy/energy.h). Instructions are those of warps, with all lanes. */
#define GPU_ENERGY(X)                                                                                                  \
	X(REAL, energy_idle_w, "W", 0, 100000, GPU_DEFAULT("0"), "power of the GPU with its memory while no SM works, clocks up; 0: energy is not known") \
	X(REAL, energy_sm_w, "W", 0, 10000, GPU_DEFAULT("0"), "that an SM at work adds, beside its instructions")       \
	X(REAL, energy_lane_share, "", 0, 1, GPU_DEFAULT("1"), "of an instruction's energy that it takes with no lane, too") \
	X(REAL, energy_fma_nj, "nJ", 0, 1000, GPU_DEFAULT("0"), "of an instruction in the fma pipe")                    \
	X(REAL, energy_alu_nj, "nJ", 0, 1000, GPU_DEFAULT("0"), "of one in the alu pipe")                               \
	X(REAL, energy_xu_nj, "nJ", 0, 1000, GPU_DEFAULT("0"), "of one in the xu pipe: special functions, conversions") \
	X(REAL, energy_fp64_nj, "nJ", 0, 1000, GPU_DEFAULT("0"), "of one in the fp64 pipe")                             \
	X(REAL, energy_lsu_nj, "nJ", 0, 1000, GPU_DEFAULT("0"), "of one on memory, beside what memory takes")           \
	X(REAL, energy_other_nj, "nJ", 0, 1000, GPU_DEFAULT("0"), "of any other instruction: branches and so on")       \
	X(REAL, energy_tensor_nj, "nJ", 0, 1000, GPU_DEFAULT("0"), "of a cycle of a tensor unit")                       \
	X(REAL, energy_shared_nj, "nJ", 0, 1000, GPU_DEFAULT("0"), "of a turn of shared memory, 32 banks")              \
	X(REAL, energy_l1_nj, "nJ", 0, 1000, GPU_DEFAULT("0"), "of a sector that goes through L1")                      \
	X(REAL, energy_l2_pj, "pJ", 0, 100000, GPU_DEFAULT("0"), "of a byte between L1 and L2, L2's own part included") \
	X(REAL, energy_dram_pj, "pJ", 0, 100000, GPU_DEFAULT("0"), "of a byte between L2 and DRAM, DRAM's own part included") \
	X(FLAG, energy_validated, "", 0, 1, GPU_DEFAULT("0"), "energies of kernels were compared with measured ones: docs/energy.md")

/* Latencies of loads are complete, from issue to the issue of a user of the value, warp alone and fully coalesced. */
#define GPU_KEYS(X)                                                                                                    \
	X(TEXT, name, "", 1, GPU_TEXT_SIZE - 1, GPU_REQUIRED, "short name, as users type it")                          \
	X(TEXT, title, "", 1, GPU_TEXT_SIZE - 1, GPU_REQUIRED, "the vendor's name")                                    \
	X(TEXT, arch, "", 4, GPU_TEXT_SIZE - 1, GPU_REQUIRED, "target of the PTX compile")                             \
	X(TEXT, assembler_arch, "", 0, GPU_TEXT_SIZE - 1, GPU_DEFAULT(""),                                             \
	  "whose assembler's registers a thread has; empty: those of arch")                                            \
	X(LIBRARY, math_library, "", 0, GPU_MATH_LIBRARY_COUNT - 1, GPU_DEFAULT("vendor"),                             \
	  "functions of mathematics: vendor or libclc")                                                                \
	X(CODE, machine_code, "", 0, GPU_MACHINE_CODE_COUNT - 1, GPU_DEFAULT("auto"),                                  \
	  "instructions that are timed: ptx, sass, machine or selected (docs/machine.md); auto: by arch and math_library")  \
	X(COUNT, sm_count, "SMs", 1, 1024, GPU_REQUIRED, "streaming multiprocessors")                                  \
	X(COUNT, warp_size, "threads", 1, 128, GPU_REQUIRED, "threads of a warp")                                      \
	X(REAL, clock_mhz, "MHz", 1, 10000, GPU_REQUIRED, "core clock that all cycles count")                          \
	X(REAL, tensor_clock_mhz, "MHz", 0, 10000, GPU_DEFAULT("0"),                                                   \
	  "the same of launches that multiply matrices, other than those of fp64; 0: clock_mhz")                       \
	/* scheduling and fetch */                                                                                     \
	X(COUNT, schedulers_per_sm, "schedulers", 1, 64, GPU_REQUIRED, "warp schedulers of an SM")                     \
	X(COUNT, issue_per_scheduler, "instructions/cycle", 1, 8, GPU_REQUIRED, "of one warp that a scheduler issues") \
	X(POLICY, scheduler_policy, "", 0, GPU_SCHEDULER_POLICY_COUNT - 1, GPU_REQUIRED, "order of warps")             \
	X(COUNT, fetches_per_cycle, "fetches/cycle", 1, 64, GPU_REQUIRED, "instruction fetches of an SM")              \
	X(COUNT, fetch_width, "instructions", 1, 16, GPU_REQUIRED, "instructions of one warp that a fetch brings")     \
	X(COUNT, instruction_buffer_entries, "instructions", 1, 64, GPU_REQUIRED, "decoded instructions per warp")     \
	/* residency */                                                                                                \
	X(COUNT, max_warps_per_sm, "warps", 1, 1024, GPU_REQUIRED, "resident warps")                                   \
	X(COUNT, max_blocks_per_sm, "blocks", 1, 1024, GPU_REQUIRED, "resident work-groups")                           \
	X(COUNT, max_threads_per_block, "threads", 1, 65536, GPU_REQUIRED, "largest work-group")                       \
	X(COUNT, registers_per_sm, "registers", 1, 1 << 24, GPU_REQUIRED, "32-bit registers")                          \
	X(COUNT, max_registers_per_thread, "registers", 1, 1024, GPU_REQUIRED, "what a thread can address")            \
	X(COUNT, min_registers_per_thread, "registers", 0, 1024, GPU_DEFAULT("0"), "what a thread is given at least")  \
	X(COUNT, register_allocation_unit, "registers", 1, 65536, GPU_REQUIRED, "a warp's are a multiple of it")       \
	X(COUNT, register_partitions, "partitions", 1, 64, GPU_DEFAULT("1"),                                           \
	  "parts of the register file, a warp's registers being in one; 1 where it is one pool")                       \
	X(BYTES, shared_bytes_per_sm, "bytes", 0, 1 << 30, GPU_REQUIRED, "shared memory for resident work-groups")     \
	X(BYTES, max_shared_bytes_per_block, "bytes", 0, 1 << 30, GPU_REQUIRED, "shared memory of one work-group")     \
	X(BYTES, shared_allocation_unit, "bytes", 1, 1 << 20, GPU_REQUIRED, "a work-group's is a multiple of it")      \
	X(BYTES, shared_reserved_per_block, "bytes", 0, 1 << 20, GPU_DEFAULT("0"),                                     \
	  "shared memory the system takes per work-group; 0 where it takes none")                                      \
	/* operands and results */                                                                                     \
	X(COUNT, register_banks, "banks", 1, 1024, GPU_REQUIRED, "register banks of an SM")                            \
	X(FLAG, banks_by_name, "", 0, 1, GPU_DEFAULT("0"), "the number in a PTX register's name tells its bank")       \
	X(COUNT, read_window, "cycles", 0, 64, GPU_DEFAULT("0"),                                                       \
	  "in which an instruction's registers are read, one a cycle from each of its scheduler's banks; 0: not looked at") \
	X(FLAG, operands_in_turn, "", 0, 1, GPU_DEFAULT("0"),                                                          \
	  "what an assembler's instruction gives to a queue, or to a product with 64 bits, is read one register a cycle, and keeps its bank for one more") \
	X(FLAG, fp32_halves, "", 0, 1, GPU_DEFAULT("0"),                                                               \
	  "in an assembler's code, one half of the fp32 units does products of integers, the other those of 16-bit numbers, and either does the rest") \
	X(COUNT, sync_cycles, "cycles", 0, 64, GPU_DEFAULT("0"),                                                       \
	  "for which what gathers lanes in an assembler's code (BSSY, BSYNC) takes a unit of its scheduler; 0: as other branches") \
	X(FLAG, banks_without_conflicts, "", 0, 1, GPU_DEFAULT("0"),                                                   \
	  "the assembler chooses registers, and operands are reused, so that banks hold nobody up; 0: chance")         \
	X(COUNT, operand_collectors, "collectors", 0, 1024, GPU_REQUIRED,                                              \
	  "operand collector units of an SM, all; 0: none, an instruction issues when its unit is free")               \
	X(COUNT, result_buses, "results/cycle", 1, 1024, GPU_REQUIRED, "results an SM writes back")                    \
	X(REAL, pipeline_latency, "cycles", 0, 1000, GPU_DEFAULT("0"),                                                 \
	  "what operand collection and write-back add to a latency; 0 where latencies are measured whole")             \
	/* units */                                                                                                    \
	X(COUNT, fp32_units, "units", 1, 1024, GPU_REQUIRED, "32-bit floating-point units of an SM")                   \
	X(COUNT, int_units, "units", 0, 1024, GPU_REQUIRED, "integer units; 0: the fp32 units do their work")          \
	X(COUNT, fp64_units, "units", 0, 1024, GPU_REQUIRED, "64-bit units; 0: the sfu units do their work")           \
	X(COUNT, sfu_units, "units", 1, 1024, GPU_REQUIRED, "special function units of an SM")                         \
	X(COUNT, tensor_units, "units", 0, 1024, GPU_DEFAULT("0"), "units that multiply matrices; 0: the fp32 and fp64 units do their work")  \
	X(COUNT, ldst_units, "units", 1, 1024, GPU_REQUIRED, "load/store units, each one access per cycle")            \
	GPU_CLASSES(X)                                                                                                 \
	GPU_STEP(X, tensor, "16 by 8 sums of as many products as 32 bytes hold")                                       \
	GPU_STEP(X, tensor_half, "16 by 8 sums of as many products as 16 bytes hold")                                  \
	GPU_STEP(X, tensor_fp64, "16 by 8 sums of 4 products of doubles")                                              \
	X(REAL, int_rem_latency, "cycles", 0, 100000, GPU_DEFAULT("0"), "latency of remainders; 0: as int_div")        \
	X(REAL, int_rem_initiation, "cycles", 0, 100000, GPU_DEFAULT("0"),                                             \
	  "initiation interval of remainders; 0: as int_div")                                                          \
	/* classes that a design runs elsewhere than their names say */                                                \
	X(UNIT, fp32_fma_unit, "", 0, GPU_UNIT_CHOICE_COUNT - 1, GPU_DEFAULT("auto"), "units of fp32_fma")             \
	X(UNIT, fp64_fma_unit, "", 0, GPU_UNIT_CHOICE_COUNT - 1, GPU_DEFAULT("auto"), "units of fp64_fma")             \
	X(UNIT, int_mul_unit, "", 0, GPU_UNIT_CHOICE_COUNT - 1, GPU_DEFAULT("auto"), "units of int_mul")               \
	X(UNIT, int_mad_unit, "", 0, GPU_UNIT_CHOICE_COUNT - 1, GPU_DEFAULT("auto"), "units of int_mad")               \
	X(UNIT, int_rem_unit, "", 0, GPU_UNIT_CHOICE_COUNT - 1, GPU_DEFAULT("auto"), "units of remainders")            \
	X(UNIT, shuffle_unit, "", 0, GPU_UNIT_CHOICE_COUNT - 1, GPU_DEFAULT("auto"), "units of shuffles")                \
	GPU_PIPELINE(X)                                                                                                \
	/* memory */                                                                                                   \
	X(COUNT, shared_banks, "banks", 1, 1024, GPU_REQUIRED, "shared-memory banks of 4 bytes")                       \
	X(FLAG, shared_wide_splits, "", 0, 1, GPU_DEFAULT("1"), "8 and 16 bytes per lane of shared memory take 2 and 4 turns") \
	X(BYTES, shared_return_bytes, "bytes", 0, 65536, GPU_DEFAULT("0"),                                             \
	  "that all lanes together get of shared memory in a cycle, also where they ask for the same; 0: as shared_wide_splits") \
	X(BYTES, l1_access_bytes, "bytes", 1, 65536, GPU_DEFAULT("128"), "what the load/store unit takes in one cycle")  \
	X(BYTES, coalesce_bytes, "bytes", 0, 65536, GPU_DEFAULT("128"),                                                \
	  "of all lanes that are coalesced together, so that wide accesses go in parts of a warp; 0: the whole warp")  \
	X(FLAG, narrow_segments, "", 0, 1, GPU_DEFAULT("0"), "1 and 2 bytes per lane are coalesced in 32 and 64 bytes")  \
	X(BYTES, const_access_bytes, "bytes", 1, 65536, GPU_DEFAULT("64"), "of constant memory, in one cycle")          \
	X(COUNT, const_each_cycles, "cycles", 0, 1000, GPU_DEFAULT("0"),                                               \
	  "of the load/store unit, for each different constant that lanes of a warp ask for at once; 0: as const_access_bytes") \
	X(REAL, const_each_latency, "cycles", 0, 100000, GPU_DEFAULT("0"),                                             \
	  "that such a load waits longer for each of them but the first, with const_each_cycles")                      \
	X(BYTES, const_uniform_bytes, "bytes", 0, 65536, GPU_DEFAULT("0"),                                             \
	  "of constants by an index that lanes share, which each scheduler keeps, in parts of const_access_bytes; 0: all of const_bytes") \
	X(COUNT, const_uniform_cycles, "cycles", 0, 1000, GPU_DEFAULT("0"), "of the SM, for each such part that it brings to a scheduler") \
	X(REAL, const_uniform_latency, "cycles", 0, 100000, GPU_DEFAULT("0"), "that its warp waits for it")              \
	X(BYTES, atomic_access_bytes, "bytes", 1, 65536, GPU_DEFAULT("32"), "of atomics, in one cycle")                 \
	X(REAL, shared_latency, "cycles", 0, 100000, GPU_REQUIRED, "load from shared memory without conflicts")        \
	X(REAL, const_latency, "cycles", 0, 100000, GPU_REQUIRED, "load of a constant or parameter that is cached")    \
	X(REAL, atomic_latency, "cycles", 0, 100000, GPU_REQUIRED, "atomic on global memory, one lane")                \
	X(BYTES, l1_bytes, "bytes", 0, 1 << 30, GPU_REQUIRED, "L1 data cache of an SM")                                \
	X(FLAG, l1_unified, "", 0, 1, GPU_REQUIRED, "shared memory in use is taken out of l1_bytes")                   \
	X(BYTES, l1_shared_bytes, "bytes", 0, 1 << 30, GPU_DEFAULT("0"),                                               \
	  "of L1 and shared memory together, if l1_unified; 0: l1_bytes, which is what L1 has at most")               \
	X(TEXT, shared_carveouts, "KB", 1, GPU_TEXT_SIZE - 1, GPU_DEFAULT("-"),                                        \
	  "sizes of shared memory that the driver chooses among, with commas; -: steps of 8")                         \
	X(COUNT, shared_carveout_room, "", 1, 64, GPU_DEFAULT("1"),                                                    \
	  "groups of up to 512 work-items that it leaves room for, times those that are resident, up to half of l1_shared_bytes") \
	X(BYTES, l1_line_bytes, "bytes", 1, 65536, GPU_REQUIRED, "L1 line")                                            \
	X(BYTES, l1_sector_bytes, "bytes", 1, 65536, GPU_REQUIRED, "what L1 fetches at least")                         \
	X(COUNT, l1_ways, "ways", 1, 65536, GPU_REQUIRED, "L1 associativity, of all l1_bytes")                         \
	X(REAL, l1_latency, "cycles", 0, 100000, GPU_REQUIRED, "load that hits L1")                                    \
	X(FLAG, l1_caches_global, "", 0, 1, GPU_REQUIRED, "L1 keeps global memory, not only local memory")             \
	X(REAL, texture_latency, "cycles", 0, 100000, GPU_DEFAULT("0"), "read of an image that hits L1; 0: l1_latency")   \
	X(COUNT, texels_per_cycle, "texels", 1, 128, GPU_DEFAULT("4"), "of an image that an SM reads, of up to 8 bytes") \
	X(BYTES, l2_bytes, "bytes", 0, 1LL << 34, GPU_REQUIRED, "L2 cache of the GPU")                                 \
	X(COUNT, l2_slices, "slices", 1, 1024, GPU_REQUIRED, "L2 slices that work in parallel")                        \
	X(COUNT, l2_partitions, "partitions", 1, 64, GPU_DEFAULT("1"), "that keep lines for their own SMs, so that shared ones are in each") \
	X(BYTES, l2_line_bytes, "bytes", 1, 65536, GPU_REQUIRED, "L2 line")                                            \
	X(BYTES, l2_sector_bytes, "bytes", 1, 65536, GPU_REQUIRED, "what L2 fetches at least")                         \
	X(COUNT, l2_ways, "ways", 1, 65536, GPU_REQUIRED, "L2 associativity")                                          \
	X(REAL, l2_latency, "cycles", 0, 100000, GPU_REQUIRED, "load that misses L1 and hits L2")                      \
	X(REAL, dram_gbps, "GB/s", 0.001, 1000000, GPU_REQUIRED, "peak bandwidth of the memory")                       \
	X(REAL, dram_latency, "cycles", 0, 100000, GPU_REQUIRED, "load that misses L2")                                \
	X(BYTES, dram_bytes, "bytes", 0, UINT64_C(1) << 40, GPU_DEFAULT("0"), "memory that the GPU has; 0: not told")      \
	X(COUNT, dram_channels, "channels", 1, 1024, GPU_REQUIRED, "memory channels")                                  \
	GPU_MEMORY(X)                                                                                                  \
	/* launch and host link */                                                                                     \
	X(REAL, launch_overhead_ns, "ns", 0, 1e9, GPU_REQUIRED, "from the start of a launch to its first instruction") \
	X(REAL, launch_end_ns, "ns", 0, 1e9, GPU_DEFAULT("0"),                                                         \
	  "that a launch whose groups access global memory on several SMs takes longer at its end, while stores arrive; 0: it ends when they have") \
	X(REAL, cuda_launch_overhead_ns, "ns", 0, 1e9, GPU_DEFAULT("1456"), "the same of CUDA programs, as profilers time kernels") \
	X(REAL, page_block_ns, "ns", 0, 1e9, GPU_DEFAULT("62000"),                                                     \
	  "that a launch waits for each 2 MiB of managed memory with pages that the processor used last")             \
	X(REAL, page_gbps, "GB/s", 0.001, 100000, GPU_DEFAULT("10.5"), "at which such pages come then")                \
	X(REAL, page_crowd_ns, "ns", 0, 1e9, GPU_DEFAULT("125000"), "that a launch of all SMs waits longer for the first such pages") \
	X(REAL, cuda_event_ns, "ns", 0, 1e9, GPU_DEFAULT("0"), "that recording an event with a time takes its stream, in CUDA") \
	X(REAL, group_turnaround, "cycles", 0, 100000, GPU_DEFAULT("0"),                                               \
	  "from the end of a group to the first instruction of the next one in its place")                            \
	X(REAL, group_interval, "cycles", 0, 100000, GPU_DEFAULT("0"), "of an SM, from the start of a group to that of the next") \
	X(REAL, grid_interval, "cycles", 0, 100000, GPU_DEFAULT("0"),                                                  \
	  "of the GPU, from the end of a group to that of the next, where groups end together")                       \
	X(COUNT, unsized_group, "work-items", 1, 65536, GPU_DEFAULT("256"),                                            \
	  "most in a group where an OpenCL program leaves the local size to the driver")                              \
	X(COUNT, concurrent_kernels, "launches", 1, 65536, GPU_DEFAULT("128"), "of several queues that run at once")    \
	X(COUNT, copy_engines, "engines", 1, 64, GPU_DEFAULT("2"),                                                     \
	  "for copies between host and GPU; 1: copies of both directions take turns")                                  \
	X(REAL, link_gbps, "GB/s", 0.001, 1000000, GPU_REQUIRED, "peak bandwidth to the host, one direction")          \
	X(REAL, link_both_gbps, "GB/s", 0, 1000000, GPU_DEFAULT("0"), "the same of both directions together; 0: twice link_gbps") \
	X(REAL, link_latency_ns, "ns", 0, 1e9, GPU_REQUIRED, "shortest transfer between host and GPU")          \
	X(REAL, peer_gbps, "GB/s", 0, 1000000, GPU_DEFAULT("0"), "from one GPU to another, one direction; 0: as link_gbps, over the host's bus") \
	X(REAL, peer_latency_ns, "ns", 0, 1e9, GPU_DEFAULT("0"), "shortest such copy, where peer_gbps is given")   \
	GPU_ENERGY(X)

#define GPU_FIELD_TEXT(key) char key[GPU_TEXT_SIZE];
#define GPU_FIELD_COUNT(key) uint32_t key;
#define GPU_FIELD_BYTES(key) uint64_t key;
#define GPU_FIELD_REAL(key) double key;
#define GPU_FIELD_FLAG(key) bool key;
#define GPU_FIELD_POLICY(key) enum gpu_scheduler_policy key;
#define GPU_FIELD_UNIT(key) enum gpu_unit_choice key;
#define GPU_FIELD_LIBRARY(key) enum gpu_math_library key;
#define GPU_FIELD_CODE(key) enum gpu_machine_code key;
#define GPU_FIELD(kind, key, unit, least, most, need, text) GPU_FIELD_##kind(key)
struct gpu {
	GPU_KEYS(GPU_FIELD)
};
#undef GPU_FIELD
#undef GPU_FIELD_TEXT
#undef GPU_FIELD_COUNT
#undef GPU_FIELD_BYTES
#undef GPU_FIELD_REAL
#undef GPU_FIELD_FLAG
#undef GPU_FIELD_POLICY
#undef GPU_FIELD_UNIT
#undef GPU_FIELD_LIBRARY
#undef GPU_FIELD_CODE

enum gpu_kind { GPU_TEXT, GPU_COUNT, GPU_BYTES, GPU_REAL, GPU_FLAG, GPU_POLICY, GPU_UNIT, GPU_LIBRARY, GPU_CODE };

/* One row of the table. */
struct gpu_key {
	const char *name, *unit, *text; /* unit: "" where there is none */
	enum gpu_kind kind;
	size_t offset;      /* in struct gpu */
	double least, most; /* of a TEXT: characters */
	bool required;
	const char *fallback; /* the value of a key that is not required, as text */
};

/* Where a value came from: the description's file name (without its folder), its line (from 1) and comment; or
 * "GPUSIM_SET" or "default" and line 0. */
struct gpu_origin {
	char file[64];
	unsigned line;
	char comment[160];
};

/*
 * Brings the description called `name` (as the user, or a base line, wrote it): appends its text to *text, which
 * gpu_load frees, and writes what errors call it, usually its path, to path. Returns 0 or a negative errno value with
 * *err filled. path may be left empty: errors then say NAME.gpu.
 */
typedef int gpu_read_fn(void *ctx, const char *name, struct gs_buf *text, char *path, size_t path_size,
                        struct gs_error *err);

/*
 * Fills *gpu from the description `name`. A description may begin with `base = OTHER`, whose values it then changes;
 * name and title are never taken from a base. overrides (NULL or "": none) is "key=value,key=value", as in GPUSIM_SET.
 * origin, if not NULL, has gpu_key_count() entries and is filled for every key. Returns 0, or a negative errno
 * value with one sentence in *err that names file and line; *gpu and *origin are then not to be used.
 */
int gpu_load(struct gpu *gpu, const char *name, gpu_read_fn *read, void *ctx, const char *overrides,
             struct gpu_origin *origin, struct gs_error *err);

/* The keys in the order of the table, for printing. */
size_t gpu_key_count(void);
const struct gpu_key *gpu_key(size_t i); /* NULL past the end */
/* The value of the i-th key as a description would have it, whatever the locale. */
void gpu_format_value(const struct gpu *gpu, size_t i, char *out, size_t size);
const char *gpu_library_name(enum gpu_math_library library);
bool gpu_times_machine_code(const struct gpu *gpu);
/* What code for the GPU is compiled as: ARCH:LIBRARY, :ASSEMBLER_ARCH where that is another, :sass for machine code
 * (analysis/builtins/target_name.h). */
enum { GPU_TARGET_SIZE = 2 * GPU_TEXT_SIZE + 24 };
void gpu_target_name(const struct gpu *gpu, char out[GPU_TARGET_SIZE]);

#endif
