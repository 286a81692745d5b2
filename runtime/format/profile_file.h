/*
 * profile_file: what a run left for later, on disk: programs as gpusim-cc compiled them, and launches with their counters.
 *
 * The format, version 1. First the line "gpusim-profile 1", then records, each
 *     KIND RAW STORED HASH\n     a word of lower-case letters; two byte counts; 32 hexadecimal digits, of the stored bytes
 *     STORED bytes               a pack (base.h) of RAW bytes, compressed by Zstandard
 *     \n
 * and last the record "end", without bytes. Records are appended and never changed, so that a file whose program was
 * killed has all that was written before, and no end. Kinds and their sections:
 *
 *   run      first: version (GPUSIM_CC_VERSION), command, device
 *   program  number, and the sections of gpusim-cc's result (runtime/format/protocol.h)
 *   launch   facts: lines of key=value; arguments; counters, or the line counters_of=SEQ among the facts; if it was traced, trace: its
 *            chunks (runtime/format/traces.h), each without what it does not use, and memory: the bytes behind each argument
 *   note     kernel, reason: launches that were not modelled
 *
 * A reader that meets a kind that it does not know skips it; other versions are refused.
 *
 * What `gpusim cache` exports is in the same format, with the first line "gpusim-cache 1":
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

/* The bytes of a file, piece by piece, appended to *out: its beginning, a record, its end. */
void profile_begin(struct gs_buf *out);
int profile_add(struct gs_buf *out, const char *kind, const struct gs_pack *pack, struct gs_error *err);
void profile_end(struct gs_buf *out);

struct record_format {
	const char *name, *what; /* the first line's word; the kind of file, for messages */
};
extern const struct record_format cache_format;
void records_begin(struct gs_buf *out, const struct record_format *format);

struct profile_reader;
/* A file that is no profile, or of another version, is -EINVAL. */
int profile_open(const char *path, struct profile_reader **out, struct gs_error *err);
int records_open(const char *path, const struct record_format *format, struct profile_reader **out, struct gs_error *err);
/* The next record: returns 1 and fills kind and *pack, which the caller frees; 0 at the end. -EBADMSG: the file is damaged here,
 * or ends without its end, and *err says where. */
int profile_next(struct profile_reader *r, char kind[PROFILE_KIND_SIZE], struct gs_pack *pack, struct gs_error *err);
void profile_reader_free(struct profile_reader *r); /* may be NULL */

#endif
