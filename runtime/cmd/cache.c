/* gpusim cache: where it is, how large, and emptying it. */
#include "cmd.h"

#include "runtime/cache.h"
#include "runtime/options.h"

#include <stdio.h>
#include <string.h>

static void complain(const char *line)
{
	cmd_fail("%s", line);
}

int cmd_cache(int argc, char **argv)
{
	extern char **environ;
	struct gs_options options;
	bool clear = argc == 2 && !strcmp(argv[1], "clear");
	if (argc > 1 && !clear)
		return cmd_fail("cache: unexpected '%s'; allowed: clear", argv[1]);
	options_defaults(&options);
	options_from_environment(&options, environ, complain);
	cache_setup(options.cache_dir.text, options.cache_size.number);
	options_free(&options);
	if (clear)
		cache_trim(0);
	struct cache_usage usage = cache_usage();
	printf("%s: %llu files, %llu bytes\n", cache_directory()[0] ? cache_directory() : "no cache",
	       (unsigned long long)usage.files, (unsigned long long)usage.size_bytes);
	return 0;
}
