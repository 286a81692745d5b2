/*
 * cache_carry: a cache filled on one machine serves another, where there is no clang.
 *
 * There, the library keeps each request that no gpusim-cc answered (CACHE_WANTED). `wanted` writes them into a file, `fill` answers
 * them on a machine with clang, `export` and `import` carry the answers back. The files are in the format of
 * runtime/format/profile_file.h. Each returns the command's exit code: 0, 1 when some requests could not be answered, 2.
 */
#ifndef GPUSIM_RUNTIME_CMD_CACHE_CARRY_H
#define GPUSIM_RUNTIME_CMD_CACHE_CARRY_H

int cache_export(const char *file);
/* Takes everything or, from a damaged file, nothing. */
int cache_import(const char *file);
int cache_wanted(const char *file);
int cache_fill(const char *file); /* NULL: what is wanted on this machine */

#endif
