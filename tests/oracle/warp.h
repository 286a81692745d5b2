/* warp.c: one warp. */
#ifndef GPUSIM_TESTS_ORACLE_WARP_H
#define GPUSIM_TESTS_ORACLE_WARP_H

struct warp;

/* At the first instruction, with these lanes. */
void warp_begin(struct warp *w, uint32_t lanes);
/* To its next barrier or its end; false at the end. */
bool warp_run(struct warp *w);

#endif
