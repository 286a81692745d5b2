/* Files that carry a cache between machines; see cache_carry.h. */
#include "runtime/cmd/cache_carry.h"

#include "runtime/cmd/cmd.h"
#include "runtime/config/cache.h"
#include "runtime/format/protocol.h"
#include "runtime/cmd/cc_run.h"
#include "runtime/format/profile_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_DIGITS = 32 };

static const struct kind {
	const char *record;
	enum cache_kind kind;
} kinds[] = {{"result", CACHE_RESULTS}, {"binary", CACHE_BINARIES}, {"wanted", CACHE_WANTED}};

static const char *plural(unsigned long count)
{
	return count == 1 ? "" : "s";
}

/* ---- packs ---- */

/* Appends the sections of `from`, beginning with the section `first`, to *to. */
static void add_sections(struct gs_pack *to, const struct gs_pack *from, size_t first)
{
	for (size_t i = first; i < from->count; i++)
		gs_pack_add(to, from->sections[i].name, from->sections[i].data, from->sections[i].len);
}

/* Makes a request as this version would make it, and its key. So a request of another version of the library is answered for
 * this version. */
static int renew_request(const struct gs_pack *wanted, struct gs_buf *request, char key[KEY_DIGITS + 1], struct gs_error *err)
{
	struct gs_pack own = {0};
	int result = wanted->count && !strcmp(wanted->sections[0].name, "version")
	                 ? 0 : gs_fail(err, EBADMSG, "a request without a version");
	gs_pack_puts(&own, "version", GPUSIM_CC_VERSION);
	add_sections(&own, wanted, 1);
	if (!result)
		result = gs_pack_encode(&own, request, err);
	if (!result)
		gs_hash_hex(request->data, request->len, key);
	gs_pack_free(&own);
	return result;
}

/* ---- writing ---- */

struct writer {
	struct gs_buf bytes;
	const struct kind *kind;
	unsigned long written, old; /* old: entries of another version, which would never be found again */
	struct gs_error err;
};

static int write_entry(const char *key, void *data)
{
	struct writer *w = data;
	struct gs_pack pack = {0}, record = {0};
	if (strlen(key) != KEY_DIGITS || cache_get_pack(w->kind->kind, key, &pack, NULL))
		return 0; /* the file is being written, or was damaged and has been removed */
	int result = 0;
	if (w->kind->kind == CACHE_RESULTS && strcmp(gs_pack_text(&pack, "version"), GPUSIM_CC_VERSION)) {
		w->old++;
	} else {
		if (w->kind->kind != CACHE_WANTED)
			gs_pack_puts(&record, "key", key);
		add_sections(&record, &pack, 0);
		result = profile_add(&w->bytes, w->kind->record, &record, &w->err);
		w->written++;
	}
	gs_pack_free(&pack);
	gs_pack_free(&record);
	return result;
}

static int write_kinds(const char *file, const struct kind *first, size_t count, struct writer *w)
{
	struct gs_pack about = {0};
	records_begin(&w->bytes, &cache_format);
	gs_pack_puts(&about, "version", GPUSIM_CC_VERSION);
	int result = profile_add(&w->bytes, "about", &about, &w->err);
	gs_pack_free(&about);
	for (size_t i = 0; i < count && !result; i++) {
		w->kind = &first[i];
		result = cache_each(first[i].kind, write_entry, w);
	}
	profile_end(&w->bytes);
	if (!result && w->bytes.failed)
		result = gs_fail(&w->err, ENOMEM, "out of memory");
	if (!result)
		result = gs_write_file(file, w->bytes.data, w->bytes.len, &w->err);
	gs_buf_free(&w->bytes);
	return result;
}

int cache_export(const char *file)
{
	struct writer w = {0};
	if (write_kinds(file, &kinds[0], 2, &w))
		return cmd_fail("cache export: %s", w.err.text);
	printf("%s: %lu result%s", file, w.written, plural(w.written));
	printf(w.old ? "; %lu of other versions left out\n" : "\n", w.old);
	return 0;
}

int cache_wanted(const char *file)
{
	struct writer w = {0};
	if (write_kinds(file, &kinds[2], 1, &w))
		return cmd_fail("cache wanted: %s", w.err.text);
	printf("%s: %lu request%s\n", file, w.written, plural(w.written));
	return 0;
}

/* ---- reading ---- */

typedef int visit_record(const char *kind, const struct gs_pack *pack, void *data, struct gs_error *err);

static int read_records(const char *file, visit_record *visit, void *data, struct gs_error *err)
{
	struct profile_reader *reader = NULL;
	struct gs_pack pack = {0};
	char kind[PROFILE_KIND_SIZE];
	int result = records_open(file, &cache_format, &reader, err);
	while (!result && (result = profile_next(reader, kind, &pack, err)) > 0) {
		result = visit(kind, &pack, data, err);
		gs_pack_free(&pack);
	}
	profile_reader_free(reader);
	return result;
}

static const struct kind *find_kind(const char *record)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i].record, record))
			return &kinds[i];
	return NULL;
}

struct reader {
	const char *file;
	unsigned long taken, there, failed;
};

static bool is_key(const char *text)
{
	return strlen(text) == KEY_DIGITS && strspn(text, "0123456789abcdef") == KEY_DIGITS;
}

static int check_record(const char *kind, const struct gs_pack *pack, void *data, struct gs_error *err)
{
	const struct reader *r = data;
	const struct kind *k = find_kind(kind);
	if (!k)
		return 0;
	const char *first = k->kind == CACHE_WANTED ? "version" : "key";
	if (!pack->count || strcmp(pack->sections[0].name, first) || (k->kind != CACHE_WANTED && !is_key(pack->sections[0].data)))
		return gs_fail(err, EBADMSG, "%s has a record without a %s", r->file, first);
	const char *version = gs_pack_text(pack, "version");
	if (k->kind == CACHE_RESULTS && strcmp(version, GPUSIM_CC_VERSION))
		return gs_fail(err, EINVAL, "%s has results of gpusim %.100s, which %s would never ask for; fill it again", r->file,
		               version, GPUSIM_CC_VERSION);
	return 0;
}

/* A request that is answered is no longer wanted. */
static int keep_record(enum cache_kind kind, const char *key, const struct gs_pack *pack, struct gs_error *err)
{
	int result = cache_put_pack(kind, key, pack, err);
	if (!result && kind == CACHE_RESULTS)
		cache_remove(CACHE_WANTED, key);
	return result;
}

static int take_record(const char *kind, const struct gs_pack *pack, void *data, struct gs_error *err)
{
	struct reader *r = data;
	const struct kind *k = find_kind(kind);
	struct gs_pack entry = {0};
	struct gs_buf request = {0};
	char key[KEY_DIGITS + 1];
	int result = 0;
	if (!k)
		return 0;
	if (k->kind == CACHE_WANTED) {
		result = renew_request(pack, &request, key, err);
		if (!result)
			result = gs_pack_decode(&entry, request.data, request.len, err);
	} else {
		snprintf(key, sizeof key, "%s", pack->sections[0].data);
		add_sections(&entry, pack, 1);
	}
	if (!result)
		result = keep_record(k->kind, key, &entry, err);
	r->taken += !result;
	gs_buf_free(&request);
	gs_pack_free(&entry);
	return result;
}

int cache_import(const char *file)
{
	struct reader r = {.file = file};
	struct gs_error err;
	/* Reads the whole file once before anything is kept. */
	if (read_records(file, check_record, &r, &err) || read_records(file, take_record, &r, &err))
		return cmd_fail("cache import: %s", err.text);
	printf("%s: %lu entr%s for %s\n", file, r.taken, r.taken == 1 ? "y" : "ies", cache_directory());
	return 0;
}

/* ---- filling ---- */

/* POCL compiles for the CPU that it runs on. clang takes the macros of the CPU that it runs on. So both must be the same
 * machine. */
static bool is_for_this_machine(const char *device)
{
	struct gs_buf cpus = {0};
	char model[200] = "";
	if (!strstr(device, "type=cpu\n"))
		return true;
	if (!gs_read_file("/proc/cpuinfo", &cpus, NULL)) {
		const char *line = strstr(cpus.data, "model name"), *part = strstr(cpus.data, "CPU part"); /* part: on Arm, as POCL names it */
		if (line)
			sscanf(line, "model name : %199[^\n]", model);
		else if (part)
			sscanf(part, "CPU part : %199[^\n]", model);
	}
	gs_buf_free(&cpus);
	const char *name = strstr(device, "\nname=");
	return !*model || (name && strstr(name, model));
}

static int answer(const struct gs_pack *wanted, const struct gs_buf *request, struct gs_pack *result, struct gs_error *err)
{
	if (!is_for_this_machine(gs_pack_text(wanted, "device")))
		return gs_fail(err, ENOTSUP, "it is for another CPU, whose macros clang would not have here");
	int failed = cc_run(request, result, err);
	if (failed || cache_worth_keeping(result))
		return failed;
	const char *why = gs_pack_text(result, "failure"), *target = strstr(gs_pack_text(result, "target"), "\nfailure ");
	if (!*why)
		why = target ? target + strlen("\nfailure ") : "gpusim-cc has no answer";
	return gs_fail(err, EIO, "%.*s", (int)strcspn(why, "\n"), why);
}

static int fill_record(const char *kind, const struct gs_pack *pack, void *data, struct gs_error *err)
{
	struct reader *r = data;
	struct gs_buf request = {0};
	struct gs_pack result = {0};
	struct gs_error why;
	char key[KEY_DIGITS + 1];
	const struct kind *k = find_kind(kind);
	if (!k || k->kind != CACHE_WANTED)
		return 0;
	int failed = renew_request(pack, &request, key, err);
	if (failed) {
		/* damaged: the caller reports it */
	} else if (!cache_get_pack(CACHE_RESULTS, key, &result, NULL)) {
		r->there++;
	} else if (answer(pack, &request, &result, &why)) {
		cmd_fail("cache fill: %.8s: %s", key, why.text);
		r->failed++;
	} else {
		failed = keep_record(CACHE_RESULTS, key, &result, err);
		r->taken += !failed;
	}
	gs_pack_free(&result);
	gs_buf_free(&request);
	return failed;
}

struct own_wanted {
	struct reader *reader;
	struct gs_error err;
};

static int fill_own(const char *key, void *data)
{
	struct own_wanted *own = data;
	struct gs_pack pack = {0};
	int result = 0;
	if (!cache_get_pack(CACHE_WANTED, key, &pack, NULL))
		result = fill_record("wanted", &pack, own->reader, &own->err);
	gs_pack_free(&pack);
	return result;
}

int cache_fill(const char *file)
{
	struct reader r = {.file = file};
	struct own_wanted own = {.reader = &r};
	if (file ? read_records(file, fill_record, &r, &own.err) : cache_each(CACHE_WANTED, fill_own, &own))
		return cmd_fail("cache fill: %s", own.err.text);
	printf("%lu answered, %lu answered before, %lu not\n", r.taken, r.there, r.failed);
	return r.failed ? 1 : 0;
}
