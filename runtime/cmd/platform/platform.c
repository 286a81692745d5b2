/*
 * gpusim platform: writes a platform of SimGrid's, for gpusim cluster. A host of it is a node; its property "gpus" says how many ranks it takes. Fat tree,
 * dragonfly and torus are SimGrid's own. Messages within a node go over SimGrid's loopback, which is then the links between GPUs, each pair with its own.
 */
#include "runtime/cmd/cmd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum topology { FAT_TREE, DRAGONFLY, TORUS, DGX, TOPOLOGIES };
static const char *const topology_names[TOPOLOGIES] = {"fat-tree", "dragonfly", "torus", "dgx"};
enum { MOST_NODES = 65536, MOST_GPUS = 1024 };
enum { RADIX = 64 }; /* ports of a switch: those of NVIDIA's Quantum-2 at 400 Gb/s (its data sheet) */

enum { NODES, GPUS, CARDS, CARD_GBPS, LINK_US, NODE_GBPS, NODE_US, VALUES };

/* The defaults, and where they come from. */
static const struct {
	const char *flag;
	double value, dgx, most; /* dgx: of a node like NVIDIA's DGX H100 */
	bool whole;
} values[VALUES] = {
	[NODES] = {"--nodes", 0, 0, MOST_NODES, true},
	[GPUS] = {"--gpus", 1, 8, MOST_GPUS, true},    /* DGX H100: 8 GPUs (NVIDIA, DGX H100 data sheet) */
	[CARDS] = {"--cards", 1, 8, MOST_GPUS, true},  /* DGX H100: 8 cards for the compute network (same) */
	[CARD_GBPS] = {"--card-gbps", 50, 50, 1e6, false}, /* InfiniBand NDR: 400 Gb/s each way (NVIDIA, ConnectX-7 data sheet) */
	[LINK_US] = {"--link-us", 0.5, 0.5, 1e6, false},   /* assumed: about 1 us between cards over one switch */
	[NODE_GBPS] = {"--node-gbps", 450, 450, 1e6, false}, /* NVLink 4: 18 links of 25 GB/s each way (NVIDIA, H100 data sheet) */
	[NODE_US] = {"--node-us", 1, 1, 1e6, false},       /* assumed: a peer copy over NVLink */
};

struct platform_options {
	double v[VALUES]; /* NAN: not given */
	enum topology topology;
	const char *output;
};

/* ---- shapes ---- */

/* Factors of n that are as near to each other as they can be. */
static void factors_of(long n, long *out, int count)
{
	for (int left = count; left > 0; left--, out++) {
		long f = (long)ceil(pow((double)n, 1.0 / left) - 1e-9);
		while (f < n && n % f)
			f++;
		*out = left == 1 || f < 1 ? n : f;
		n /= *out;
	}
}

/* Leaf switches with as many ports up as down, and none of them blocks another; one switch, where that is enough. */
static void fat_tree(long nodes, struct gs_buf *out)
{
	long leaf = nodes <= RADIX ? nodes : RADIX / 2;
	while (nodes % leaf)
		leaf--;
	if (leaf == nodes)
		gs_buf_printf(out, "topology=\"FAT_TREE\" topo_parameters=\"1;%ld;1;1\"", nodes);
	else
		gs_buf_printf(out, "topology=\"FAT_TREE\" topo_parameters=\"2;%ld,%ld;1,%ld;1,1\"", leaf, nodes / leaf, leaf);
}

/* Groups, chassis of a group, routers of a chassis, nodes of a router; all links single. */
static void dragonfly(long nodes, struct gs_buf *out)
{
	long shape[4];
	factors_of(nodes, shape, 4);
	gs_buf_printf(out, "topology=\"DRAGONFLY\" topo_parameters=\"%ld,1;%ld,1;%ld,1;%ld\"", shape[0], shape[1], shape[2], shape[3]);
}

static void torus(long nodes, struct gs_buf *out)
{
	long shape[3];
	factors_of(nodes, shape, 3);
	gs_buf_printf(out, "topology=\"TORUS\" topo_parameters=\"%ld,%ld,%ld\"", shape[0], shape[1], shape[2]);
}

static void write_platform(const struct platform_options *o, struct gs_buf *out)
{
	const double *v = o->v;
	long nodes = (long)v[NODES];
	gs_buf_printf(out, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
	              "<!-- gpusim platform: %s of %ld nodes with %.0f GPUs and %.0f network cards each -->\n<platform version=\"4.1\">\n",
	              topology_names[o->topology], nodes, v[GPUS], v[CARDS]);
	gs_buf_printf(out, "<cluster id=\"cluster\" prefix=\"node-\" suffix=\"\" radical=\"0-%ld\" speed=\"1Gf\" core=\"%.0f\" bw=\"%gGBps\" lat=\"%gus\"\n\t"
	              "loopback_bw=\"%gGBps\" loopback_lat=\"%gus\" ", nodes - 1, v[GPUS], v[CARDS] * v[CARD_GBPS], v[LINK_US], v[NODE_GBPS], v[NODE_US]);
	if (o->topology == TORUS)
		torus(nodes, out);
	else if (o->topology == DRAGONFLY)
		dragonfly(nodes, out);
	else
		fat_tree(nodes, out);
	gs_buf_printf(out, ">\n\t<prop id=\"gpus\" value=\"%.0f\"/>\n</cluster>\n</platform>\n", v[GPUS]);
}

/* ---- the command line ---- */

static int take_topology(struct platform_options *o, const char *name)
{
	for (int i = 0; i < TOPOLOGIES; i++)
		if (!strcmp(name, topology_names[i])) {
			o->topology = (enum topology)i;
			return 0;
		}
	return cmd_fail("platform: there is no topology '%s'; fat-tree, dragonfly, torus and dgx are known", name);
}

static int take_value(struct platform_options *o, int i, const char *text)
{
	char *end;
	double value = strtod(text, &end);
	if (end == text || *end || !(value >= 0) || value > values[i].most || (values[i].whole && (value < 1 || value != floor(value))) ||
	    ((i == CARD_GBPS || i == NODE_GBPS) && value <= 0))
		return cmd_fail("platform: %s needs a number%s up to %g, not '%s'", values[i].flag, values[i].whole ? " from 1" : " above 0", values[i].most, text);
	o->v[i] = value;
	return 0;
}

static int take_word(struct platform_options *o, int argc, char **argv, int *i)
{
	const char *value;
	if (cmd_value("--topology", argc, argv, i, &value))
		return take_topology(o, value);
	if (cmd_value("-o", argc, argv, i, &o->output))
		return 0;
	for (int k = 0; k < VALUES; k++)
		if (cmd_value(values[k].flag, argc, argv, i, &value))
			return take_value(o, k, value);
	return cmd_fail("platform: '%s' is not known, or needs a value (gpusim platform --help)", argv[*i]);
}

int cmd_platform(int argc, char **argv)
{
	struct platform_options o = {.topology = FAT_TREE};
	struct gs_buf text = {0};
	int code = 0;
	for (int k = 0; k < VALUES; k++)
		o.v[k] = NAN;
	for (int i = 1; i < argc && !code; i++)
		code = take_word(&o, argc, argv, &i);
	if (!code && isnan(o.v[NODES]))
		code = cmd_fail("platform: --nodes is missing");
	if (code)
		return code;
	for (int k = 0; k < VALUES; k++)
		if (isnan(o.v[k]))
			o.v[k] = o.topology == DGX ? values[k].dgx : values[k].value;
	write_platform(&o, &text);
	if (o.output)
		code = cmd_write_file("platform", o.output, "", &text);
	else
		fwrite(text.data, 1, text.len, stdout);
	gs_buf_free(&text);
	return code;
}
