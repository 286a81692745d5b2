/* gpusim cache: shows where the cache is and how large it is, and empties it. cache_carry.c carries it between machines. */
#include "runtime/cmd/cmd.h"

#include "runtime/cmd/cache_carry.h"
#include "runtime/config/cache.h"

#include <stdio.h>
#include <string.h>

static int tell_usage(void)
{
	struct cache_usage usage = cache_usage();
	printf("%s: %llu files, %llu bytes\n", cache_directory()[0] ? cache_directory() : "no cache",
	       (unsigned long long)usage.files, (unsigned long long)usage.size_bytes);
	return 0;
}

static int clear(const char *file)
{
	(void)file;
	cache_trim(0);
	return tell_usage();
}

static const struct action {
	const char *name;
	int least, most; /* number of words after the name */
	int (*run)(const char *file);
} actions[] = {
	{"clear", 0, 0, clear},
	{"export", 1, 1, cache_export},
	{"import", 1, 1, cache_import},
	{"wanted", 1, 1, cache_wanted},
	{"fill", 0, 1, cache_fill},
};

static int run_action(int argc, char **argv)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(actions); i++) {
		const struct action *a = &actions[i];
		if (strcmp(argv[1], a->name))
			continue;
		if (argc - 2 < a->least)
			return cmd_fail("cache %s: name a file", a->name);
		if (argc - 2 > a->most)
			return cmd_fail("cache %s: unexpected '%s'", a->name, argv[2 + a->most]);
		return a->run(argc > 2 ? argv[2] : NULL);
	}
	return cmd_fail("cache: unexpected '%s'; allowed: clear, export, import, wanted, fill", argv[1]);
}

int cmd_cache(int argc, char **argv)
{
	struct gs_options options;
	cmd_options(&options);
	cache_setup(options.cache_dir.text, options.cache_size.number);
	options_free(&options);
	return argc > 1 ? run_action(argc, argv) : tell_usage();
}
