/*
 * What PPT-GPU's tracer leaves (a folder with app_config.py, sass_traces/ and memory_traces/) as a task list. It traces one block: all blocks do as it
 * does. Its lines have no addresses of instructions: lines that come again in the same order are repeats. Addresses of accesses are not tied to lines:
 * those to global memory take the stride between lanes that most records of memory_traces/ have, and the range of all of them.
 */
#include "runtime/cmd/task/from.h"
#include "runtime/cmd/task/ppt_gpu.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 1 << 20, MOST_WARPS = 32, STRIDES = 5 };

struct ppt_kernel {
	char name[64];
	uint64_t id, registers, shared, grid, block;
	struct gs_buf statements; /* distinct ones, each with its NUL */
	size_t *starts, start_count, start_room;
	struct recorded_node *lines[MOST_WARPS];
	size_t counts[MOST_WARPS], rooms[MOST_WARPS];
	uint64_t low, high, strides[STRIDES]; /* broadcast, one element, two or more, none; of memory */
	char pattern[32];
};

/* ---- app_config.py ---- */

static uint64_t number_after(const char *at, const char *end, const char *key, uint64_t usual)
{
	const char *found = strstr(at, key);
	if (!found || found > end)
		return usual;
	found += strcspn(found, ":=");
	return strtoull(found + (*found != 0), NULL, 10);
}

static void read_config(struct ppt_kernel *k, const char *at)
{
	const char *end = at + strcspn(at, "}"), *name = strstr(at, "kernel_name");
	if (name && name < end) {
		name += strcspn(name, ":=");
		name += strspn(name, ":= \t'\"");
		for (size_t i = 0; i < 40 && isprint((unsigned char)name[i]) && !strchr("'\",", name[i]); i++)
			k->name[i] = isalnum((unsigned char)name[i]) ? name[i] : '_';
	}
	snprintf(k->name + strlen(k->name), 20, "_%" PRIu64, k->id % 1000000);
	k->registers = number_after(at, end, "num_registers", 32);
	k->shared = number_after(at, end, "shared_mem_bytes", 0);
	k->grid = number_after(at, end, "grid_size", 0);
	k->block = number_after(at, end, "block_size", 0);
}

/* ---- memory_traces ---- */

static void take_record(struct ppt_kernel *k, const char *line)
{
	uint64_t before = 0, count = 0;
	int64_t stride = 0;
	bool even = true;
	for (const char *at = strstr(line, "0x"); at && *at && at < line + strcspn(line, "\n"); at = strstr(at + 2, "0x")) {
		uint64_t address = strtoull(at, NULL, 16);
		if (count > 1 && (int64_t)(address - before) != stride)
			even = false;
		stride = count ? (int64_t)(address - before) : 0;
		before = address;
		count++;
		k->low = !k->low || address < k->low ? address : k->low;
		k->high = address > k->high ? address : k->high;
	}
	if (count)
		k->strides[!even ? 3 : !stride ? 0 : stride <= 16 ? 1 : 2]++;
	if (count && even && stride > 16)
		k->strides[4] = (uint64_t)stride;
}

static void read_memory(struct ppt_kernel *k, const char *folder)
{
	struct gs_error err;
	struct gs_buf text = {0};
	char *pattern = NULL;
	glob_t found = {0};
	if (asprintf(&pattern, "%s/memory_traces/kernel_%" PRIu64 "_block_*.mem", folder, k->id) >= 0 && !glob(pattern, 0, NULL, &found) &&
	    !gs_read_regular_file(found.gl_pathv[0], &text, &err))
		for (const char *line = text.data; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
			if (isalpha((unsigned char)*line))
				take_record(k, line);
	globfree(&found);
	free(pattern);
	gs_buf_free(&text);
	int most = 1;
	for (int i = 0; i < 4; i++)
		most = k->strides[i] > k->strides[most] ? i : most;
	snprintf(k->pattern, sizeof k->pattern, most == 2 ? "strided %" PRIu64 : most == 0 ? "broadcast" : most == 3 ? "random" : "coalesced", k->strides[4] / 4);
}

/* ---- sass_traces ---- */

/* OPCODE dst src ...: registers and predicates. What writes no register names sources only. */
static void write_statement(const struct ppt_kernel *k, char *words, struct gs_buf *out)
{
	char *rest = NULL, *opcode = strtok_r(words, " \t\r\n", &rest);
	char short_name[28];
	snprintf(short_name, sizeof short_name, "%s", opcode);
	const struct sass_opcode o = sass_look_up(short_name);
	bool memory = o.space != SPACE_none && o.space != SPACE_const, writes = !(o.flags & (SASS_STORE | SASS_BRANCH | SASS_EXIT | SASS_BARRIER));
	gs_buf_puts(out, short_name);
	if (memory && o.space == SPACE_shared)
		gs_buf_puts(out, " in local coalesced");
	else if (memory)
		gs_buf_printf(out, o.space == SPACE_local ? " in private coalesced" : " in mem_%" PRIu64 " %s", k->id, k->pattern);
	bool sources = false;
	for (const char *word; (word = strtok_r(NULL, " \t\r\n", &rest));) {
		unsigned long number = strtoul(word + 1, NULL, 10);
		if ((*word != 'R' && *word != 'P') || !isdigit((unsigned char)word[1]) || number > 254)
			writes = false;
		else
			gs_buf_printf(out, "%s %s%lu", writes ? " ->" : sources ? "" : " <-", *word == 'P' ? "P" : "R", number);
		sources |= !writes && (*word == 'R' || *word == 'P') && number < 255;
		writes = false;
	}
}

static long find_statement(struct ppt_kernel *k, const struct gs_buf *s)
{
	for (size_t i = 0; i < k->start_count; i++)
		if (!strcmp(k->statements.data + k->starts[i], s->data))
			return (long)i;
	if (!gs_reserve(&k->starts, k->start_count, &k->start_room, sizeof *k->starts))
		return -1;
	k->starts[k->start_count] = k->statements.len;
	gs_buf_add(&k->statements, s->data, s->len + 1);
	return k->statements.failed ? -1 : (long)k->start_count++;
}

static int take_line(struct ppt_kernel *k, const char *path, uint32_t number, const char *line, struct gs_error *err)
{
	char words[512], *end;
	struct gs_buf s = {0};
	snprintf(words, sizeof words, "%.*s", (int)strcspn(line, "\n"), line);
	unsigned long warp = strtoul(words, &end, 10);
	end += strspn(end, " \t");
	if (!*end || *end == '\r')
		return 0;
	if (end == words || warp >= MOST_WARPS || !isupper((unsigned char)*end))
		return gs_fail(err, EBADMSG, "%s:%u: a line is WARP OPCODE REGISTERS", path, number);
	write_statement(k, end, &s);
	long at = s.failed || !gs_reserve(&k->lines[warp], k->counts[warp], &k->rooms[warp], sizeof **k->lines) ? -1 : find_statement(k, &s);
	if (at >= 0)
		k->lines[warp][k->counts[warp]++] = (struct recorded_node){.piece = (uint32_t)at, .mask = UINT32_MAX};
	gs_buf_free(&s);
	return at < 0 ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

static int read_trace(struct ppt_kernel *k, const char *folder, struct gs_error *err)
{
	char *path = NULL;
	struct gs_buf text = {0};
	uint32_t number = 0;
	if (asprintf(&path, "%s/sass_traces/kernel_%" PRIu64 ".sass", folder, k->id) < 0)
		return gs_fail(err, ENOMEM, "out of memory");
	int result = gs_read_regular_file(path, &text, err);
	for (const char *line = text.data; !result && line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		result = ++number > MOST_LINES ? gs_fail(err, EFBIG, "%s has more than %d lines", path, MOST_LINES) : take_line(k, path, number, line, err);
	if (!result && !k->start_count)
		result = gs_fail(err, EBADMSG, "%s has no instructions", path);
	free(path);
	gs_buf_free(&text);
	return result;
}

/* ---- the list ---- */

static void write_nodes(const struct ppt_kernel *k, const struct recorded_tree *t, size_t first, size_t end, struct gs_buf *out)
{
	for (size_t i = first; i < end; i += t->nodes[i].size) {
		if (!t->nodes[i].turns) {
			gs_buf_printf(out, "%s\n", k->statements.data + k->starts[t->nodes[i].piece]);
			continue;
		}
		gs_buf_printf(out, "repeat %" PRIu64 " {\n", t->nodes[i].turns);
		write_nodes(k, t, i + 1, i + t->nodes[i].size, out);
		gs_buf_puts(out, "}\n");
	}
}

static bool same_lines(const struct ppt_kernel *k, uint32_t a, uint32_t b)
{
	return k->counts[a] == k->counts[b] && (!k->counts[a] || !memcmp(k->lines[a], k->lines[b], k->counts[a] * sizeof **k->lines));
}

static int write_kernel(const struct ppt_kernel *k, struct gs_buf *out)
{
	int result = 0;
	gs_buf_printf(out, "buffer mem_%" PRIu64 " %" PRIu64 "\nkernel %s {\ngrid %" PRIu64 "\nblock %" PRIu64 "\nregisters %" PRIu64 "\nlocal %" PRIu64 "\n", k->id,
	              k->high > k->low && k->high - k->low < UINT64_C(1) << 38 ? (k->high - k->low) / 4096 * 4096 + 4096 : UINT64_C(1) << 26, k->name, k->grid,
	              k->block, k->registers ? k->registers : 32, k->shared ? k->shared : 1024);
	for (uint32_t w = 0, next; w < MOST_WARPS && !result; w = next) {
		struct recorded_tree tree;
		for (next = w + 1; next < MOST_WARPS && same_lines(k, w, next);)
			next++;
		if (!k->counts[w])
			continue;
		result = fold_tokens(k->lines[w], k->counts[w], &tree);
		gs_buf_printf(out, "when warp >= %u && warp < %u {\n", w, next);
		if (!result)
			write_nodes(k, &tree, 0, tree.count, out);
		gs_buf_puts(out, "}\n");
		free(tree.nodes);
	}
	gs_buf_puts(out, "}\n");
	return result;
}

static int take_kernel(const char *folder, const char *config, uint64_t id, struct gs_buf *out, struct gs_error *err)
{
	struct ppt_kernel k = {.id = id};
	read_config(&k, config);
	read_memory(&k, folder);
	int result = read_trace(&k, folder, err);
	if (!result && write_kernel(&k, out))
		result = gs_fail(err, ENOMEM, "out of memory");
	for (int w = 0; w < MOST_WARPS; w++)
		free(k.lines[w]);
	free(k.starts);
	gs_buf_free(&k.statements);
	return result;
}

int ppt_gpu_list(const char *folder, struct gs_buf *out, struct gs_error *err)
{
	char *path = NULL;
	struct gs_buf text = {0};
	size_t kernels = 0;
	if (asprintf(&path, "%s/app_config.py", folder) < 0)
		return gs_fail(err, ENOMEM, "out of memory");
	int result = gs_read_regular_file(path, &text, err);
	for (const char *at = text.data; !result && at && (at = strstr(at, "kernel_")); at++) {
		const char *digits = at + 7, *after = digits + strspn(digits, "0123456789");
		if (after == digits || (at > text.data && at[-1] != '\n') || after[strspn(after, " \t")] != '=')
			continue;
		kernels++;
		result = take_kernel(folder, after, strtoull(digits, NULL, 10), out, err);
	}
	if (!result && !kernels)
		result = gs_fail(err, EBADMSG, "%s has no kernel_N = {...}", path);
	free(path);
	gs_buf_free(&text);
	return result ? result : out->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
