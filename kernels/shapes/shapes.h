/* shapes: programs in the shapes that modelling is slow or wrong on. kernels/shapes.c has the table of them; each file has some. */
#ifndef GPUSIM_KERNELS_SHAPES_H
#define GPUSIM_KERNELS_SHAPES_H

#include "kernels/shapes/host.h"

struct shape_size {
	int n;      /* how large its data is, or how many work-items it has */
	int length; /* trips of its longest loop, or its number of steps */
};

extern bool checking; /* results are compared with those of C */

cl_kernel shape_kernel(const char *file, const char *name);
/* Reads a result and adds it to the checksum. expected: what C gives, or NULL. */
void conclude(cl_mem result, size_t bytes, const void *expected);

/* One function per shape, by file. */
void run_rows(struct shape_size s), run_columns(struct shape_size s), run_transposed(struct shape_size s), run_forward(struct shape_size s), run_triangle(struct shape_size s),
	run_lu(struct shape_size s), run_gramschmidt(struct shape_size s), run_tiles(struct shape_size s);
void run_correlation(struct shape_size s), run_series(struct shape_size s), run_mixed(struct shape_size s), run_phases(struct shape_size s),
	run_histogram(struct shape_size s), run_histogram_local(struct shape_size s);
void run_reduce(struct shape_size s), run_scan(struct shape_size s), run_bitonic(struct shape_size s);
void run_heat2d(struct shape_size s), run_heat3d(struct shape_size s), run_wavefront(struct shape_size s), run_paths(struct shape_size s),
	run_mandelbrot(struct shape_size s);
void run_bfs(struct shape_size s), run_sssp(struct shape_size s), run_pagerank(struct shape_size s), run_spmv(struct shape_size s),
	run_gather(struct shape_size s), run_chase(struct shape_size s);
void run_nbody(struct shape_size s), run_nbody_tiled(struct shape_size s);

#endif
