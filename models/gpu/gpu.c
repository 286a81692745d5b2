/* Descriptions of GPUs: text in, checked values out, by the table of keys in gpu.h. */
#include "models/gpu/gpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEX(kind, key, unit, least, most, need, text) KEY_##key,
enum key_index { GPU_KEYS(INDEX) KEY_COUNT };
#undef INDEX

#define ROW(kind, key, unit, least, most, need, text)                                                                  \
	{#key, unit, text, GPU_##kind, offsetof(struct gpu, key), least, most, need},
static const struct gpu_key keys[] = {GPU_KEYS(ROW)};
#undef ROW

#define NAME(kind, key, unit, least, most, need, text) #key,
static const char *const known_words[] = {GPU_KEYS(NAME) "base", NULL};
#undef NAME

#define WORD(word) #word,
static const char *const policy_words[] = {GPU_SCHEDULER_POLICIES(WORD) NULL};
static const char *const unit_words[] = {GPU_UNIT_CHOICES(WORD) NULL};
static const char *const library_words[] = {GPU_MATH_LIBRARIES(WORD) NULL};
static const char *const code_words[] = {GPU_MACHINE_CODES(WORD) NULL};
#undef WORD

enum { MAX_FILES = 8, PATH_SIZE = 256, VALUE_SIZE = 96, OVERRIDES = MAX_FILES + 1 };

/* Where something was written: source 0 is nowhere, 1 to MAX_FILES the file named and its bases, then GPUSIM_SET. */
struct place {
	unsigned source, line;
};

struct loader {
	struct gpu *gpu;
	struct gpu_origin *origin;
	gpu_read_fn *read;
	void *ctx;
	unsigned files; /* read so far */
	const char *names[MAX_FILES];
	char paths[MAX_FILES][PATH_SIZE];
	struct place set[KEY_COUNT];
	struct gs_error error;
};

struct assignment {
	char *key, *value, *comment;
};

size_t gpu_key_count(void)
{
	return KEY_COUNT;
}

const struct gpu_key *gpu_key(size_t i)
{
	return i < KEY_COUNT ? &keys[i] : NULL;
}

const char *gpu_library_name(enum gpu_math_library library)
{
	return library_words[library];
}

bool gpu_times_machine_code(const struct gpu *gpu)
{
	enum { FIRST_SASS = 70 };
	bool known = !strncmp(gpu->arch, "sm_", 3) && strtoul(gpu->arch + 3, NULL, 10) >= FIRST_SASS;
	return gpu->machine_code == GPU_CODE_auto ? known && gpu->math_library == GPU_MATH_vendor : gpu->machine_code != GPU_CODE_ptx;
}

void gpu_target_name(const struct gpu *gpu, char out[GPU_TARGET_SIZE])
{
	bool other = *gpu->assembler_arch && strcmp(gpu->assembler_arch, gpu->arch);
	const char *whose = gpu->machine_code == GPU_CODE_machine ? ":machine" : gpu->machine_code == GPU_CODE_selected ? ":selected" : "";
	snprintf(out, GPU_TARGET_SIZE, "%s:%s%s%s%s%s", gpu->arch, gpu_library_name(gpu->math_library), other ? ":" : "",
	         other ? gpu->assembler_arch : "", whose, gpu_times_machine_code(gpu) ? ":sass" : "");
}

static const char *const *words_of(enum gpu_kind kind)
{
	switch (kind) {
	case GPU_UNIT:
		return unit_words;
	case GPU_LIBRARY:
		return library_words;
	case GPU_CODE:
		return code_words;
	default:
		return policy_words;
	}
}

/* Numbers. strtod and printf would follow the locale of the process we are a guest in. */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* [-]digits[.digits]; returns the rest of s, or NULL where there is no number. */
static const char *parse_number(const char *s, double *value)
{
	double mantissa = 0, scale = 1;
	bool negative = *s == '-';
	s += negative;
	const char *digits = s;
	for (; is_digit(*s); s++)
		mantissa = mantissa * 10 + (*s - '0');
	if (s == digits)
		return NULL;
	if (*s == '.' && is_digit(s[1]))
		for (s++; is_digit(*s); s++, scale *= 10)
			mantissa = mantissa * 10 + (*s - '0');
	*value = (negative ? -mantissa : mantissa) / scale;
	return s;
}

static const char *parse_size_suffix(const char *s, double *value)
{
	static const char letters[] = "KMG";
	const char *letter = *s ? strchr(letters, *s) : NULL;
	if (!letter || s[1] != 'i')
		return s;
	*value *= (double)(1u << (10 * (letter - letters + 1)));
	return s + 2;
}

static void format_number(double value, char *out, size_t size)
{
	uint64_t millionths = (uint64_t)(value * 1e6 + 0.5);
	char text[VALUE_SIZE];
	int n = snprintf(text, sizeof text, "%" PRIu64 ".%06" PRIu64, millionths / 1000000, millionths % 1000000);
	while (text[n - 1] == '0')
		n--;
	if (text[n - 1] == '.')
		n--;
	snprintf(out, size, "%.*s", n, text);
}

void gpu_format_value(const struct gpu *gpu, size_t i, char *out, size_t size)
{
	if (i >= KEY_COUNT)
		i = KEY_name;
	const void *field = (const char *)gpu + keys[i].offset;
	switch (keys[i].kind) {
	case GPU_TEXT:
		snprintf(out, size, "%s", (const char *)field);
		break;
	case GPU_COUNT:
		snprintf(out, size, "%" PRIu32, *(const uint32_t *)field);
		break;
	case GPU_BYTES:
		snprintf(out, size, "%" PRIu64, *(const uint64_t *)field);
		break;
	case GPU_REAL:
		format_number(*(const double *)field, out, size);
		break;
	case GPU_FLAG:
		snprintf(out, size, "%d", *(const bool *)field);
		break;
	case GPU_POLICY:
	case GPU_UNIT:
	case GPU_LIBRARY:
	case GPU_CODE:
		snprintf(out, size, "%s", words_of(keys[i].kind)[*(const unsigned *)field]);
		break;
	}
}

/* Errors: "FILE:LINE: ", "FILE: " or "GPUSIM_SET: ", then the sentence. */

static int GS_PRINTF(3, 4) fail_at(struct loader *l, struct place at, const char *fmt, ...)
{
	char text[sizeof l->error.text];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (at.source == OVERRIDES)
		return gs_fail(&l->error, EINVAL, "GPUSIM_SET: %s", text);
	if (at.line == 0)
		return gs_fail(&l->error, EINVAL, "%s: %s", l->paths[at.source - 1], text);
	return gs_fail(&l->error, EINVAL, "%s:%u: %s", l->paths[at.source - 1], at.line, text);
}

static int fail_unknown(struct loader *l, struct place at, const char *word)
{
	const char *near = gs_nearest(word, known_words);
	if (near)
		return fail_at(l, at, "unknown key '%s' (did you mean '%s'?)", word, near);
	return fail_at(l, at, "unknown key '%s'", word);
}

static int fail_range(struct loader *l, struct place at, const struct gpu_key *key, const char *value)
{
	char least[VALUE_SIZE], most[VALUE_SIZE];
	format_number(key->least, least, sizeof least);
	format_number(key->most, most, sizeof most);
	return fail_at(l, at, "%s = %s: must be %s to %s%s", key->name, value, least, most,
	               key->kind == GPU_TEXT ? " characters" : "");
}

static int fail_choice(struct loader *l, struct place at, const struct gpu_key *key, const char *value)
{
	const char *const *choices = words_of(key->kind), *near = gs_nearest(value, choices);
	char words[VALUE_SIZE] = "";
	for (size_t i = 0; choices[i]; i++) {
		size_t used = strlen(words);
		const char *link = i == 0 ? "" : choices[i + 1] ? ", " : " or ";
		snprintf(words + used, sizeof words - used, "%s%s", link, choices[i]);
	}
	if (near)
		return fail_at(l, at, "%s = %s: must be %s (did you mean '%s'?)", key->name, value, words, near);
	return fail_at(l, at, "%s = %s: must be %s", key->name, value, words);
}

/* Values. */

static int set_number(struct loader *l, struct place at, const struct gpu_key *key, const char *value, void *field)
{
	double number = 0;
	const char *rest = parse_number(value, &number);
	if (rest && key->kind == GPU_BYTES)
		rest = parse_size_suffix(rest, &number);
	if (!rest || *rest)
		return fail_at(l, at, "%s = %s: not a number%s", key->name, value,
		               rest ? "; units belong in the comment" : "");
	if (!(number >= key->least && number <= key->most))
		return fail_range(l, at, key, value);
	if (key->kind != GPU_REAL && number != (double)(uint64_t)number)
		return fail_at(l, at, "%s = %s: must be a whole number", key->name, value);
	if (key->kind == GPU_COUNT)
		*(uint32_t *)field = (uint32_t)number;
	else if (key->kind == GPU_BYTES)
		*(uint64_t *)field = (uint64_t)number;
	else if (key->kind == GPU_FLAG)
		*(bool *)field = number != 0;
	else
		*(double *)field = number;
	return 0;
}

static int set_text(struct loader *l, struct place at, const struct gpu_key *key, const char *value, char *field)
{
	size_t length = strlen(value);
	if (length < (size_t)key->least || length > (size_t)key->most)
		return fail_range(l, at, key, value);
	memset(field, 0, GPU_TEXT_SIZE); /* of a longer value in a base, too: equal GPUs are equal bytes */
	memcpy(field, value, length);
	return 0;
}

static int set_choice(struct loader *l, struct place at, const struct gpu_key *key, const char *value, unsigned *field)
{
	const char *const *choices = words_of(key->kind);
	for (unsigned i = 0; choices[i]; i++)
		if (strcmp(choices[i], value) == 0) {
			*field = i;
			return 0;
		}
	return fail_choice(l, at, key, value);
}

static int set_value(struct loader *l, struct place at, const struct gpu_key *key, const char *value)
{
	void *field = (char *)l->gpu + key->offset;
	switch (key->kind) {
	case GPU_TEXT:
		return set_text(l, at, key, value, field);
	case GPU_POLICY:
	case GPU_UNIT:
	case GPU_LIBRARY:
	case GPU_CODE:
		return set_choice(l, at, key, value, field);
	default:
		return set_number(l, at, key, value, field);
	}
}

static void remember_origin(struct loader *l, size_t i, const char *file, unsigned line, const char *comment)
{
	if (!l->origin)
		return;
	struct gpu_origin *o = &l->origin[i];
	const char *slash = strrchr(file, '/');
	snprintf(o->file, sizeof o->file, "%s", slash ? slash + 1 : file);
	snprintf(o->comment, sizeof o->comment, "%s", comment);
	o->line = line;
}

static int assign(struct loader *l, struct place at, const struct assignment *a)
{
	size_t i = 0;
	while (i < KEY_COUNT && strcmp(keys[i].name, a->key) != 0)
		i++;
	if (i == KEY_COUNT)
		return fail_unknown(l, at, a->key);
	if (l->set[i].source == at.source && at.source == OVERRIDES)
		return fail_at(l, at, "%s is set twice", a->key);
	if (l->set[i].source == at.source)
		return fail_at(l, at, "%s is already set in line %u", a->key, l->set[i].line);
	int rc = set_value(l, at, &keys[i], a->value);
	if (rc)
		return rc;
	l->set[i] = at;
	remember_origin(l, i, at.source == OVERRIDES ? "GPUSIM_SET" : l->paths[at.source - 1], at.line, a->comment);
	return 0;
}

/* Text. */

static char *trim(char *s)
{
	static const char blanks[] = " \t\r\n\v\f";
	s += strspn(s, blanks);
	size_t length = strlen(s);
	while (length && strchr(blanks, s[length - 1]))
		length--;
	s[length] = 0;
	return s;
}

/* Takes `key = value` apart in place. */
static int split(struct loader *l, struct place at, char *text, struct assignment *a)
{
	char *equals = strchr(text, '=');
	if (!equals || equals == text)
		return fail_at(l, at, "expected 'key = value', found '%s'", text);
	*equals = 0;
	a->key = trim(text);
	a->value = trim(equals + 1);
	if (!*a->value)
		return fail_at(l, at, "%s has no value", a->key);
	return 0;
}

static int load_file(struct loader *l, struct place asked, const char *name);

static int load_base(struct loader *l, struct place at, const char *base)
{
	for (unsigned i = 0; i < l->files; i++)
		if (strcmp(l->names[i], base) == 0)
			return fail_at(l, at, "base = %s: leads back to '%s'", base, base);
	if (l->files == MAX_FILES)
		return fail_at(l, at, "base = %s: more than %d descriptions in a row", base, MAX_FILES);
	int rc = load_file(l, at, base);
	if (rc)
		return rc;
	/* A chip is not the one it derives from, and must say so. */
	l->set[KEY_name] = l->set[KEY_title] = (struct place){0};
	return 0;
}

static int load_line(struct loader *l, struct place at, char *line, bool *first)
{
	struct assignment a = {.comment = ""};
	char *hash = strchr(line, '#');
	if (hash) {
		*hash = 0;
		a.comment = trim(hash + 1);
	}
	line = trim(line);
	if (!*line)
		return 0;
	int rc = split(l, at, line, &a);
	if (rc)
		return rc;
	bool was_first = *first;
	*first = false;
	if (strcmp(a.key, "base") != 0)
		return assign(l, at, &a);
	if (!was_first)
		return fail_at(l, at, "base must be the first key");
	return load_base(l, at, a.value);
}

static int load_text(struct loader *l, unsigned source, struct gs_buf *text)
{
	if (!text->data)
		return 0;
	if (strlen(text->data) != text->len)
		return fail_at(l, (struct place){source, 0}, "not text: it has a zero byte");
	bool first = true;
	unsigned number = 0;
	int rc = 0;
	for (char *line = text->data, *next; line && !rc; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		rc = load_line(l, (struct place){source, ++number}, line, &first);
	}
	return rc;
}

/* `asked` is the base line that wants the file, or nowhere. */
static int read_file(struct loader *l, struct place asked, const char *name, struct gs_buf *text, char *path)
{
	struct gs_error why = {""};
	int rc = l->read(l->ctx, name, text, path, PATH_SIZE, &why);
	if (!rc && text->failed)
		rc = gs_fail(&why, ENOMEM, "out of memory");
	if (rc && asked.source)
		fail_at(l, asked, "base = %s: %s", name, why.text);
	else if (rc)
		l->error = why;
	if (!*path)
		snprintf(path, PATH_SIZE, "%s.gpu", name);
	return rc;
}

static int load_file(struct loader *l, struct place asked, const char *name)
{
	struct gs_buf text = {0};
	int rc = read_file(l, asked, name, &text, l->paths[l->files]);
	l->names[l->files++] = name;
	if (!rc)
		rc = load_text(l, l->files, &text);
	gs_buf_free(&text);
	return rc;
}

static int load_overrides(struct loader *l, const char *overrides)
{
	const struct place at = {OVERRIDES, 0};
	char *copy = strdup(overrides), *rest = copy, *entry;
	int rc = copy ? 0 : gs_fail(&l->error, ENOMEM, "out of memory");
	while (!rc && (entry = strsep(&rest, ","))) {
		struct assignment a = {.comment = ""};
		entry = trim(entry);
		if (!*entry)
			continue;
		rc = split(l, at, entry, &a);
		if (!rc && strcmp(a.key, "base") == 0)
			rc = fail_at(l, at, "base cannot be overridden");
		if (!rc)
			rc = assign(l, at, &a);
	}
	free(copy);
	return rc;
}

/* Checks of the whole. */

static int fill_missing(struct loader *l)
{
	const struct place at = {1, 0};
	const char *missing = NULL;
	unsigned more = 0;
	for (size_t i = 0; i < KEY_COUNT; i++) {
		if (l->set[i].source)
			continue;
		if (keys[i].required) {
			if (missing)
				more++;
			else
				missing = keys[i].name;
			continue;
		}
		int rc = set_value(l, at, &keys[i], keys[i].fallback);
		if (rc)
			return rc;
		l->set[i] = at;
		remember_origin(l, i, "default", 0, "");
	}
	if (missing && more)
		return fail_at(l, at, "missing key '%s' (and %u more)", missing, more);
	return missing ? fail_at(l, at, "missing key '%s'", missing) : 0;
}

static bool is_arch(const char *s)
{
	if (strncmp(s, "sm_", 3) != 0 || !is_digit(s[3]))
		return false;
	for (s += 3; is_digit(*s); s++)
		;
	return !*s;
}

/* What must hold between keys. */
struct rule {
	bool holds;
	const char *text;
	enum key_index about[3];
};

/* An override that breaks a rule is to blame before any value of a description. */
static int check_rule(struct loader *l, const struct rule *r)
{
	if (r->holds)
		return 0;
	enum key_index blamed = r->about[0];
	for (size_t i = 0; i < GS_ARRAY_LEN(r->about); i++)
		if (l->set[r->about[i]].source == OVERRIDES)
			blamed = r->about[i];
	char value[VALUE_SIZE];
	gpu_format_value(l->gpu, blamed, value, sizeof value);
	return fail_at(l, l->set[blamed], "%s = %s: %s", keys[blamed].name, value, r->text);
}

static int check_rules(struct loader *l)
{
	const struct gpu *g = l->gpu;
	const struct rule rules[] = {
		{is_arch(g->arch), "must be sm_ and digits", {KEY_arch, KEY_arch, KEY_arch}},
		{g->max_threads_per_block <= (uint64_t)g->max_warps_per_sm * g->warp_size,
		 "max_threads_per_block must be at most max_warps_per_sm * warp_size",
		 {KEY_max_threads_per_block, KEY_max_warps_per_sm, KEY_warp_size}},
		{g->max_shared_bytes_per_block <= g->shared_bytes_per_sm,
		 "max_shared_bytes_per_block must be at most shared_bytes_per_sm",
		 {KEY_max_shared_bytes_per_block, KEY_shared_bytes_per_sm, KEY_shared_bytes_per_sm}},
		{(uint64_t)g->register_allocation_unit * g->register_partitions <= g->registers_per_sm,
		 "register_allocation_unit * register_partitions must be at most registers_per_sm",
		 {KEY_register_allocation_unit, KEY_register_partitions, KEY_registers_per_sm}},
		{g->l1_line_bytes % g->l1_sector_bytes == 0,
		 "l1_line_bytes must be a multiple of l1_sector_bytes",
		 {KEY_l1_line_bytes, KEY_l1_sector_bytes, KEY_l1_sector_bytes}},
		{g->l1_bytes % (g->l1_line_bytes * g->l1_ways) == 0,
		 "l1_bytes must be a multiple of l1_line_bytes * l1_ways",
		 {KEY_l1_bytes, KEY_l1_line_bytes, KEY_l1_ways}},
		{g->l2_line_bytes % g->l2_sector_bytes == 0,
		 "l2_line_bytes must be a multiple of l2_sector_bytes",
		 {KEY_l2_line_bytes, KEY_l2_sector_bytes, KEY_l2_sector_bytes}},
		{g->l2_bytes % (g->l2_line_bytes * g->l2_slices) == 0,
		 "l2_bytes must be a multiple of l2_line_bytes * l2_slices",
		 {KEY_l2_bytes, KEY_l2_line_bytes, KEY_l2_slices}},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(rules); i++) {
		int rc = check_rule(l, &rules[i]);
		if (rc)
			return rc;
	}
	return 0;
}

int gpu_load(struct gpu *gpu, const char *name, gpu_read_fn *read, void *ctx, const char *overrides,
             struct gpu_origin *origin, struct gs_error *err)
{
	struct loader l = {.gpu = gpu, .origin = origin, .read = read, .ctx = ctx};
	*gpu = (struct gpu){0};
	if (origin)
		memset(origin, 0, KEY_COUNT * sizeof *origin);
	int rc = load_file(&l, (struct place){0}, name);
	if (!rc)
		rc = fill_missing(&l);
	if (!rc && overrides)
		rc = load_overrides(&l, overrides);
	if (!rc)
		rc = check_rules(&l);
	if (rc && err)
		*err = l.error;
	return rc;
}
