/* Launches whose times tell of keys that OpenCL C does not show, and tables of these times (search.h). */
#include "runtime/cmd/tune/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define NOTHING(part, name, against, per_sm, lone) {part, name, against, "groups.ptx", "nothing", per_sm, 32, lone, {0}, -1, 0}
#define CHAIN(part, name, against, file, kernel, per_sm, threads, rounds) {part, name, against, file, kernel, per_sm, threads, false, {rounds, 0, 0}, 1, 2}
#define ADDS(name, words, stride) {"slices", name, "adds once", "slices.ptx", "adds", 1, 256, false, {(words) - 1, stride, 4}, -1, 3}

/* In this order. Rows that others are compared with come before them. */
const struct tune_row tune_rows[] = {
	NOTHING("grid", "empty alone", NULL, 0, false),
	NOTHING("grid", "empty 1", "empty alone", 1, false),
	NOTHING("grid", "empty 4", NULL, 4, false),
	NOTHING("grid", "empty 128", "empty 4", 128, false),
	NOTHING("lone", "lone 1", NULL, 1, true),
	NOTHING("lone", "lone 33", "lone 1", 33, true),
	CHAIN("start", "start 1", NULL, "groups.ptx", "spin", 1, 32, 64),
	CHAIN("start", "start 8", "start 1", "groups.ptx", "spin", 8, 32, 64),
	CHAIN("schedule", "plain 4 short", NULL, "schedule.ptx", "plain", 0, 128, 4),
	CHAIN("schedule", "plain 4", "plain 4 short", "schedule.ptx", "plain", 0, 128, 36),
	CHAIN("schedule", "plain 8 short", NULL, "schedule.ptx", "plain", 0, 256, 4),
	CHAIN("schedule", "plain 8", "plain 8 short", "schedule.ptx", "plain", 0, 256, 36),
	CHAIN("schedule", "plain 16 short", NULL, "schedule.ptx", "plain", 0, 512, 4),
	CHAIN("schedule", "plain 16", "plain 16 short", "schedule.ptx", "plain", 0, 512, 36),
	CHAIN("schedule", "mixed 4 short", NULL, "schedule.ptx", "mixed", 0, 128, 4),
	CHAIN("schedule", "mixed 4", "mixed 4 short", "schedule.ptx", "mixed", 0, 128, 36),
	CHAIN("schedule", "mixed 8 short", NULL, "schedule.ptx", "mixed", 0, 256, 4),
	CHAIN("schedule", "mixed 8", "mixed 8 short", "schedule.ptx", "mixed", 0, 256, 36),
	CHAIN("schedule", "mixed 16 short", NULL, "schedule.ptx", "mixed", 0, 512, 4),
	CHAIN("schedule", "mixed 16", "mixed 16 short", "schedule.ptx", "mixed", 0, 512, 36),
	CHAIN("ports", "one register short", NULL, "ports.ptx", "one_register", 0, 1024, 4),
	CHAIN("ports", "one register", "one register short", "ports.ptx", "one_register", 0, 1024, 36),
	CHAIN("ports", "three registers short", NULL, "ports.ptx", "three_registers", 0, 1024, 4),
	CHAIN("ports", "three registers", "three registers short", "ports.ptx", "three_registers", 0, 1024, 36),
	{"slices", "adds once", NULL, "slices.ptx", "adds", 1, 256, false, {31, 4096, 1}, -1, 3},
	ADDS("adds 1", 1, 128),
	ADDS("adds 2 x 128", 2, 128),
	ADDS("adds 4 x 128", 4, 128),
	ADDS("adds 8 x 128", 8, 128),
	ADDS("adds 16 x 128", 16, 128),
	ADDS("adds 32 x 128", 32, 128),
	ADDS("adds 2 x 256", 2, 256),
	ADDS("adds 2 x 512", 2, 512),
	ADDS("adds 2 x 1K", 2, 1024),
	ADDS("adds 2 x 2K", 2, 2048),
	ADDS("adds 2 x 4K", 2, 4096),
	ADDS("adds 8 x 4K", 8, 4096),
	ADDS("adds 32 x 64K", 32, 65536),
	ADDS("adds 32 x 96K", 32, 98304),
};
/* clang-format on */
const size_t tune_row_count = GS_ARRAY_LEN(tune_rows);

size_t tune_row_index(const char *name)
{
	size_t i = 0;
	while (i < tune_row_count && strcmp(tune_rows[i].name, name))
		i++;
	return i;
}

static struct machine_launch launch_of(const struct cuda_machine *m, const struct tune_row *row)
{
	struct machine_launch l = {row->file, row->kernel, row->per_sm ? row->per_sm * (unsigned)m->units : 1, row->threads,
	                        row->lone ? (size_t)m->shared_bytes : 0, row->count, !row->count, {{0}}};
	for (unsigned i = 0; i < row->count; i++)
		l.numbers[i].number = row->numbers[i];
	if (row->real >= 0)
		l.numbers[row->real].real = 0.5f;
	return l;
}

static int measure_row(struct cuda_machine *m, const struct tune_row *row, struct tune_sample *s)
{
	double samples[REPEATS], ns;
	size_t repeats = m->simulated ? REPEATS_SIMULATED : REPEATS;
	struct machine_launch l = launch_of(m, row);
	int result = cuda_time(m, &l, &ns);
	for (size_t i = 0; i < repeats && !result; i++)
		result = cuda_time(m, &l, &samples[i]);
	if (!result)
		tune_median(samples, repeats, s);
	return result;
}

int tune_measure_rows(struct cuda_machine *m, const char *only, struct tune_times *times, FILE *log)
{
	snprintf(times->machine, sizeof times->machine, "%s", m->name);
	snprintf(times->driver, sizeof times->driver, "%s", m->driver);
	times->units = (unsigned)m->units;
	int result = cuda_warm(m);
	for (size_t i = 0; i < tune_row_count && !result; i++) {
		times->rows[i].ns = NAN;
		if (only && !tune_is_listed(only, tune_rows[i].part))
			continue;
		result = measure_row(m, &tune_rows[i], &times->rows[i]);
		if (!result)
			fprintf(log, "  %s: %.0f ns, spread %.2f%%\n", tune_rows[i].name, times->rows[i].ns, 100 * times->rows[i].spread);
	}
	return result;
}

/* ---- tables ---- */

void tune_write_times(const struct tune_times *times, struct gs_buf *out)
{
	gs_buf_printf(out, "# Measured by gpusim tune --cuda (docs/tuning.md).\n# machine: %s\n# driver: %s\n# sms: %u\nname,value,unit,spread\n",
	              times->machine, times->driver, times->units);
	for (size_t i = 0; i < tune_row_count; i++)
		if (!isnan(times->rows[i].ns))
			gs_buf_printf(out, "%s,%.1f,ns,%.4f\n", tune_rows[i].name, times->rows[i].ns, times->rows[i].spread);
	for (size_t i = 0; i < times->stamp_count; i++)
		gs_buf_printf(out, "%s,%.3f,%s,%.4f\n", times->stamps[i].key, times->stamps[i].value,
		              strcmp(times->stamps[i].key, "clock_mhz") ? "cycles" : "MHz", times->stamps[i].spread);
}

/* Takes one line. False: it is none of a table of times. */
static bool take_line(struct tune_times *times, char *line)
{
	char name[64], unit[16];
	struct tune_sample s;
	if (sscanf(line, "# machine: %127[^\n]", times->machine) == 1 || sscanf(line, "# driver: %31[^\n]", times->driver) == 1 ||
	    sscanf(line, "# sms: %u", &times->units) == 1 || *line == '#' || !*line || !strcmp(line, "name,value,unit,spread"))
		return true;
	if (sscanf(line, "%63[^,],%lf,%15[^,],%lf", name, &s.ns, unit, &s.spread) != 4 || !isfinite(s.ns) || !isfinite(s.spread))
		return false;
	size_t row = tune_row_index(name);
	if (row < tune_row_count) {
		times->rows[row] = s;
	} else if (strcmp(unit, "ns") && strlen(name) < sizeof times->stamps[0].key && times->stamp_count < STAMPS_MOST) {
		struct tune_stamp *stamp = &times->stamps[times->stamp_count++];
		snprintf(stamp->key, sizeof stamp->key, "%s", name);
		stamp->value = s.ns;
		stamp->spread = s.spread;
	}
	return true;
}

int tune_read_times(const char *path, struct tune_times *times, struct gs_error *err)
{
	struct gs_buf text = {0};
	unsigned number = 0, rows = 0;
	*times = (struct tune_times){0};
	for (size_t i = 0; i < tune_row_count; i++)
		times->rows[i].ns = NAN;
	int result = gs_read_file(path, &text, err);
	for (char *line = text.data, *next; !result && line && *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next ? (*next = 0, 1) : 0;
		number++;
		if (!take_line(times, line))
			result = gs_fail(err, EBADMSG, "%s:%u: not a time that gpusim tune --cuda wrote", path, number);
	}
	for (size_t i = 0; i < tune_row_count; i++)
		rows += !isnan(times->rows[i].ns);
	if (!result && (!rows || !times->units))
		result = gs_fail(err, EBADMSG, "%s has no times of gpusim tune --cuda", path);
	gs_buf_free(&text);
	return result;
}
