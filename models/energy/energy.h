/*
 * energy: the joules of a launch, from what its estimate already knows.
 *
 *   energy = idle power * time
 *          + power of an SM at work * SMs that have work * time without the launch's overhead
 *          + instructions of warps by pipe * energy of one, less where lanes are off
 *          + cycles of tensor units, turns of shared memory, sectors at L1, bytes at L2 and DRAM, each times its energy
 *
 * as AccelWattch (Kandiah et al., MICRO 2021) divides it: constant, static and dynamic power. The energies are keys of the GPU's description
 * (energy_* of models/gpu/gpu.h). A description without energy_idle_w has no energy. Pure functions.
 */
#ifndef GPUSIM_MODELS_ENERGY_ENERGY_H
#define GPUSIM_MODELS_ENERGY_ENERGY_H

#include "models/models.h"

/* What energy goes to. fma to other are the pipes that instructions go through (MACHINE_PIPES), in their order. */
#define ENERGY_PARTS(X) X(idle) X(sms) X(fma) X(alu) X(xu) X(fp64) X(lsu) X(other) X(tensor) X(shared) X(l1) X(l2) X(dram)
#define ENERGY_PART(name) ENERGY_##name,
enum energy_part { ENERGY_PARTS(ENERGY_PART) ENERGY_PART_COUNT };
#undef ENERGY_PART

/* What a launch did, on the whole GPU. */
struct energy_activity {
	double time_ns;     /* with the overhead of the launch */
	double busy_ns;     /* without */
	double sms;         /* that have work */
	double pipes[MACHINE_PIPE_COUNT]; /* instructions of warps */
	double lanes;       /* share of lanes that take part, in the mean */
	double tensor_cycles; /* of tensor units, all of them together */
	double shared_turns; /* in which a bank of shared memory gives a word at most */
	double l1_sectors, l2_bytes, dram_bytes; /* NAN: not known */
};

/* Joules. Zero: nothing is known, or nothing was added yet. */
struct energy {
	double total;
	double by[ENERGY_PART_COUNT]; /* add up to the total */
};

bool energy_known(const struct gpu *gpu); /* whether the description has energies */
/* Of a launch of so many work-groups. Where instructions are those of PTX, all count as `other`. */
struct energy_activity energy_activity_of(const struct gpu *gpu, const struct estimate *e, uint64_t groups);
struct energy energy_of(const struct gpu *gpu, const struct energy_activity *activity);
struct energy energy_of_launch(const struct gpu *gpu, const struct estimate *e, uint64_t groups); /* both */
void energy_add(struct energy *sum, const struct energy *more);
const char *energy_part_name(enum energy_part part);

#endif
