/*
 * contract: products that join sums. PTX lets an assembler make one fma of a mul and an add or sub that name no rounding, and ptxas does so: a - b * c
 * is rounded once on a GPU. nvcc's own compiler has made an fma of most of them, but not of a - b * c. What is known of ptxas 13.0 (sm_90):
 *
 * - A product joins if all its uses are sums of its block, of the same type, and both flush or neither does. It joins all of them. So it is in
 *   f32, f64, f16 and bf16, and in pairs of the last two.
 * - A quotient of div.approx is a product with a reciprocal, and joins as a product does.
 * - Of a sum of two such products, the first joins. The other is the addend, and remains a product for all its uses.
 * - It joins no sum that is the product less itself. A product under a guard does not join; a sum under a guard takes it.
 * - Code to debug (nvcc -G) stays as it is.
 */
#ifndef GPUSIM_ANALYSIS_GRAPH_CONTRACT_H
#define GPUSIM_ANALYSIS_GRAPH_CONTRACT_H

#include "analysis/graph/graph.h"

/*
 * A copy of the function in which such sums are fma, in one piece of memory. fma.less_addend is a * b - c, fma.less_product c - a * b, and with quotient
 * a / b is in the place of a * b; PTX has none of these.
 * Products stay: compilers take away those that nobody needs. The order of instructions and their number stay as well. debug: nothing joins.
 * -ENOMEM.
 */
int graph_contract(const struct graph *g, bool debug, struct ptx_function **out);

#endif
