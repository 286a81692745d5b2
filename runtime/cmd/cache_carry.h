/*
 * cache_carry: a cache that was filled on one machine serves another machine that has no clang.
 *
 * The library keeps each request that no gpusim-cc answered (CACHE_WANTED). `wanted` writes these requests into a file. `fill`
 * answers them on a machine with clang. `export` and `import` carry the answers back. The files have the format of
 * runtime/format/profile_file.h. Each function returns the command's exit code: 0, 1 when some requests could not be answered,
 * 2.
 */
#ifndef GPUSIM_RUNTIME_CMD_CACHE_CARRY_H
#define GPUSIM_RUNTIME_CMD_CACHE_CARRY_H

int cache_export(const char *file);
/* Takes the whole file, or nothing if the file is damaged. */
int cache_import(const char *file);
int cache_wanted(const char *file);
int cache_fill(const char *file); /* NULL: answers what is wanted on this machine */

#endif
