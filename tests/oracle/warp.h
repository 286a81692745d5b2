/* warp.c: one warp. */
#ifndef GPUSIM_TESTS_ORACLE_WARP_H
#define GPUSIM_TESTS_ORACLE_WARP_H

struct warp;

/* Starts at the first instruction, with these lanes. */
void warp_begin(struct warp *w, uint32_t lanes);
/* Runs to the next barrier or to the end. False: the end. */
bool warp_run(struct warp *w);

#endif
