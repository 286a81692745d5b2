/* Processes, one after the other (nodes.def). */
#include "runtime/cmd/scale/scale.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MADE(arch, node, source)
#define NODE(name, speed, energy, source) {name, source, speed, energy},
static const struct {
	const char *name, *source;
	double speed, energy;
} nodes[] = {
#include "runtime/cmd/scale/nodes.def"
};
#undef NODE
#undef MADE

#define NODE(name, speed, energy, source)
#define MADE(arch, node, source) {arch, node},
static const struct {
	const char *arch, *node;
} made[] = {
#include "runtime/cmd/scale/nodes.def"
};
#undef NODE
#undef MADE

const char *scale_node_of(const char *arch)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(made); i++)
		if (!strcmp(made[i].arch, arch))
			return made[i].node;
	return NULL;
}

/* "5nm", "5" and "N5" are the same. */
static int find_node(const char *name, size_t *out, struct gs_error *err)
{
	const char *digits = name + (*name == 'N' || *name == 'n');
	size_t length = strspn(digits, "0123456789");
	bool ends = !digits[length] || !strcmp(digits + length, "nm");
	for (size_t i = 0; ends && length && i < GS_ARRAY_LEN(nodes); i++)
		if (strlen(nodes[i].name) == length && !strncmp(nodes[i].name, digits, length)) {
			*out = i;
			return 0;
		}
	return gs_fail(err, EINVAL, "'%.40s' is no process that is known: 40, 28, 20, 16, 12, 10, 7, 5, 4, 3 or 2 nm", name);
}

int scale_nodes(const char *from, const char *to, struct scale_node_step *out, struct gs_error *err)
{
	size_t first = 0, last = 0;
	*out = (struct scale_node_step){.speed = 1, .energy = 1};
	int result = find_node(from, &first, err);
	if (!result)
		result = find_node(to, &last, err);
	if (result)
		return result;
	size_t low = first < last ? first : last, high = first < last ? last : first;
	for (size_t i = low + 1; i <= high; i++) {
		out->speed *= nodes[i].speed;
		out->energy *= nodes[i].energy;
	}
	if (last < first) {
		out->speed = 1 / out->speed;
		out->energy = 1 / out->energy;
	}
	snprintf(out->source, sizeof out->source, "%s nm to %s nm by what TSMC published of each process in between (nodes.def)", nodes[first].name, nodes[last].name);
	return 0;
}
