/*
 * Task lists of PPT (Performance Prediction Toolkit): entries [unit, latency, dependency ...] and [memory, LD or ST, dependency ...], where a
 * dependency is the index of an entry. They become statements of a kernel. PPT's lists have no addresses: accesses to global memory are coalesced, in the
 * buffer that the statement names. Latencies are those of the GPU's description, not those of the entries.
 */
#include "runtime/cmd/task/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ENTRIES = 1 << 18, REGISTERS = 7000 };

struct ppt_unit {
	const char *name, *load, *store; /* opcodes; store: of memory that is written */
	bool result, memory;
	const char *where;               /* NULL: the buffer */
};

/* The names of PPT-GPU's units, and of the paper's. */
static const struct ppt_unit units[] = {
	{"iALU", "IADD3", NULL, true, false, NULL}, {"fALU", "FADD", NULL, true, false, NULL}, {"hALU", "HADD2", NULL, true, false, NULL},
	{"dALU", "DADD", NULL, true, false, NULL}, {"SFU", "MUFU.EX2", NULL, true, false, NULL}, {"dSFU", "MUFU.RCP64H", NULL, true, false, NULL},
	{"iTCU", "IMMA.16816.S8.S8", NULL, true, false, NULL}, {"hTCU", "HMMA.16816.F32", NULL, true, false, NULL},
	{"bTCU", "HMMA.16816.F32", NULL, true, false, NULL}, {"BRA", "BRA", NULL, false, false, NULL}, {"SP", "FADD", NULL, true, false, NULL},
	{"DP", "DADD", NULL, true, false, NULL}, {"GLOB_MEM_ACCESS", "LDG.E", "STG.E", true, true, NULL},
	{"TEX_MEM_ACCESS", "LDG.E", "STG.E", true, true, NULL}, {"LOCAL_MEM_ACCESS", "LDL", "STL", true, true, "private"},
	{"SHARED_MEM_ACCESS", "LDS", "STS", true, true, "local"}, {"CONST_MEM_ACCESS", "LDC", "LDC", true, false, NULL},
	{"ATOMIC_OP", "RED.E.ADD", "RED.E.ADD", false, true, NULL}, {"BarrierSYNC", "BAR.SYNC", NULL, false, false, NULL},
};

struct ppt_reader {
	const struct task_parser *p;
	const char *file, *at, *buffer;
	uint32_t line, entries;
	struct gs_buf text;
};

static int bad_entry(const struct ppt_reader *r, const char *what)
{
	return gs_fail(r->p->err, EINVAL, "%.200s:%u: %s", r->file, r->line, what);
}

static void skip_blanks(struct ppt_reader *r)
{
	for (; *r->at && (isspace((unsigned char)*r->at) || *r->at == ','); r->at++)
		r->line += *r->at == '\n';
}

/* A word, with or without quotes. */
static void read_word(struct ppt_reader *r, char out[64])
{
	char quote = *r->at == '\'' || *r->at == '"' ? *r->at++ : 0;
	size_t length = 0;
	while (*r->at && (quote ? *r->at != quote && *r->at != '\n' : !strchr(",] \t\r\n", *r->at))) {
		if (length < 63)
			out[length++] = *r->at;
		r->at++;
	}
	out[length] = 0;
	if (quote && *r->at == quote)
		r->at++;
	skip_blanks(r);
}

static int read_dependencies(struct ppt_reader *r)
{
	char word[64], *end;
	for (int count = 0; *r->at && *r->at != ']'; count++) {
		read_word(r, word);
		unsigned long index = strtoul(word, &end, 10);
		if (end == word || *end || index >= r->entries)
			return bad_entry(r, "a dependency is the index of an entry before it");
		if (count < OBSERVED_SOURCES)
			gs_buf_printf(&r->text, "%s ppt%lu", count ? "" : " <-", index % REGISTERS);
	}
	return *r->at == ']' ? (r->at++, 0) : bad_entry(r, "an entry has no end");
}

static int read_entry(struct ppt_reader *r)
{
	char unit[64], how[64] = "";
	size_t u = 0;
	r->at++;
	skip_blanks(r);
	read_word(r, unit);
	while (u < GS_ARRAY_LEN(units) && strcmp(units[u].name, unit))
		u++;
	if (u == GS_ARRAY_LEN(units))
		return bad_entry(r, "an entry begins with a unit: iALU, fALU, dALU, SFU, GLOB_MEM_ACCESS ...");
	if (r->entries == MOST_ENTRIES)
		return bad_entry(r, "there are more entries than a kernel can have");
	if (*r->at && *r->at != ']')
		read_word(r, how); /* the latency, or LD or ST */
	bool store = units[u].store && !strcmp(how, "ST");
	if (units[u].memory && strcmp(units[u].name, "ATOMIC_OP") && strcmp(how, "LD") && !store)
		return bad_entry(r, "an access is 'LD' or 'ST'");
	gs_buf_puts(&r->text, store ? units[u].store : units[u].load);
	if (units[u].memory)
		gs_buf_printf(&r->text, " in %s coalesced", units[u].where ? units[u].where : r->buffer);
	if (units[u].result && !store)
		gs_buf_printf(&r->text, " -> ppt%u", r->entries % REGISTERS);
	int result = read_dependencies(r);
	gs_buf_puts(&r->text, "\n");
	r->entries++;
	return result;
}

/* A name of a file is looked for beside the list. */
static int read_beside(const struct task_parser *p, const char *name, char **path, struct gs_buf *text)
{
	const char *slash = *name == '/' ? NULL : strrchr(p->list->path, '/');
	if (asprintf(path, "%.*s%s", slash ? (int)(slash - p->list->path + 1) : 0, p->list->path, name) < 0)
		return gs_fail(p->err, ENOMEM, "out of memory");
	return gs_read_regular_file(*path, text, p->err);
}

int parse_ppt(struct task_parser *p, struct gs_buf *out)
{
	struct gs_buf text = {0};
	struct ppt_reader r = {.p = p, .line = 1};
	char *path = NULL, *buffer = NULL;
	int result = parse_word(p, "the file of the list");
	if (result)
		return result;
	char *name = strdup(p->word);
	if (parse_more(p)) {
		result = parse_word(p, "the buffer");
		buffer = strdup(p->word);
	}
	if (!result)
		result = parse_end(p);
	if (!result && (!name || (!buffer && !(buffer = strdup("no_buffer_is_named")))))
		result = gs_fail(p->err, ENOMEM, "out of memory");
	if (!result)
		result = read_beside(p, name, &path, &text);
	r.file = path;
	r.buffer = buffer;
	r.at = text.data ? text.data : "";
	while (!result && (skip_blanks(&r), *r.at)) {
		const char *next = r.at + 1 + strspn(r.at + 1, " \t\r\n,");
		if (*r.at == '[' && *next != '[' && *next)
			result = read_entry(&r);
		else if (*r.at == '[' || *r.at == ']')
			r.at++; /* of the list of entries */
		else
			result = bad_entry(&r, "an entry is [unit, ...]");
	}
	if (!result && !r.entries)
		result = bad_entry(&r, "there are no entries");
	gs_buf_puts(&r.text, "}\n");
	if (!result && r.text.failed)
		result = gs_fail(p->err, ENOMEM, "out of memory");
	*out = r.text;
	free(name);
	free(buffer);
	free(path);
	gs_buf_free(&text);
	return result;
}
