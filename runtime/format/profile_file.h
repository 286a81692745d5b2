/*
 * profile_file: what a run leaves on disk for later: programs as gpusim-cc compiled them, and launches with their counters.
 *
 * The format, version 1. The first line is "gpusim-profile 1". Then come records, each
 *     KIND RAW STORED HASH\n     a word of lower-case letters; two byte counts; 32 hexadecimal digits, of the stored bytes
 *     STORED bytes               a pack (base.h) of RAW bytes, compressed by Zstandard
 *     \n
 * The last record is "end", without bytes. Records are appended and never changed. If the program was killed, the file still
 * has all that was written before, but no end. Kinds and their sections:
 *
 *   run      first: version (GPUSIM_CC_VERSION), command, device
 *   program  number, and the sections of gpusim-cc's result (runtime/format/protocol.h)
 *   launch   facts: lines of key=value; arguments; counters, or the line counters_of=SEQ among the facts. If it was traced,
 *            also trace: its chunks (runtime/format/traces.h), each without its unused bytes; and memory: for each argument,
 *            the bytes that it points to. buffers: for each argument, the number of its buffer and what was copied to it since the last
 *            launch (struct argument_memory). pages: of launches with managed memory, for each argument, whose its pages were
 *            (struct argument_pages). One that did what another did before it may have the line trace_of=SEQ instead of a trace; that one
 *            has the line trace_shared=1
 *   note     kernel, reason: launches that were not modelled
 *   calls    of the process: facts: lines of key=value; calls: what it called, in order (runtime/format/calls.h)
 *
 * A reader skips a kind that it does not know. It refuses other versions.
 *
 * The files of `gpusim cache export` have the same format, with the first line "gpusim-cache 1":
 *
 *   about    first: version (GPUSIM_CC_VERSION)
 *   wanted   the sections of a request that no gpusim-cc answered (runtime/format/protocol.h)
 *   result   key, and the sections of gpusim-cc's result
 *   binary   key, and the sections of a program's units (runtime/config/cache.h)
 */
#ifndef GPUSIM_RUNTIME_FORMAT_PROFILE_FILE_H
#define GPUSIM_RUNTIME_FORMAT_PROFILE_FILE_H

#include "runtime/base/base.h"

enum { PROFILE_KIND_SIZE = 16 };
/* The longest trace that is put into a record; half as much is left for counters. */
#define PROFILE_MOST_TRACE (UINT64_C(1) << 30)

/* Each appends bytes of a file to *out: its beginning, a record, its end. */
void profile_begin(struct gs_buf *out);
int profile_add(struct gs_buf *out, const char *kind, const struct gs_pack *pack, struct gs_error *err);
void profile_end(struct gs_buf *out);

struct record_format {
	const char *name, *what; /* the first word of the file; the kind of file, for messages */
};
extern const struct record_format cache_format;
void records_begin(struct gs_buf *out, const struct record_format *format);

struct profile_reader;
/* Returns -EINVAL for a file that is not a profile or has another version. */
int profile_open(const char *path, struct profile_reader **out, struct gs_error *err);
int records_open(const char *path, const struct record_format *format, struct profile_reader **out, struct gs_error *err);
/* Reads the next record. Returns 1 and fills kind and *pack, which the caller frees; 0 at the end. Returns -EBADMSG if the file
 * is damaged here or has no end; *err says where. */
int profile_next(struct profile_reader *r, char kind[PROFILE_KIND_SIZE], struct gs_pack *pack, struct gs_error *err);
void profile_reader_free(struct profile_reader *r); /* may be NULL */

/* Facts of a record: lines "key=value". The value of the n-th with this key, up to the end of its line, or NULL. */
const char *record_fact(const char *facts, const char *key, size_t n);
uint64_t record_number(const char *facts, const char *key); /* 0: there is none */
char *record_text(const char *facts, const char *key);      /* the first, or "", to be freed; NULL: out of memory */

#endif
