/* Gets gpusim-cc's result for the units of a program, from the cache or from gpusim-cc. */
#include "runtime/guest/programs/compile.h"

#include "runtime/base/tool.h"
#include "runtime/config/cache.h"
#include "runtime/config/cc_path.h"
#include "runtime/config/log.h"
#include "runtime/format/protocol.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/process/signals.h"
#include "runtime/process/spawn.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_DOMAIN "compile"

/* ---- the request ---- */

/* A device's answer as text, "" when it has none. The caller frees it. */
static char *device_text(cl_device_id device, cl_device_info what)
{
	size_t size = 0;
	if (cl.clGetDeviceInfo(device, what, 0, NULL, &size) != CL_SUCCESS)
		size = 0;
	char *text = calloc(1, size + 1);
	if (text && size && cl.clGetDeviceInfo(device, what, size, text, NULL) != CL_SUCCESS)
		text[0] = 0;
	return text;
}

static cl_uint device_number(cl_device_id device, cl_device_info what)
{
	cl_uint value = 0;
	cl.clGetDeviceInfo(device, what, sizeof value, &value, NULL);
	return value;
}

/* "OpenCL C 1.2 PoCL" or "OpenCL 3.0 ..." as 120 or 300. */
static unsigned version_number(const char *text)
{
	unsigned major = 1, minor = 0;
	const char *digits = text + strcspn(text, "0123456789");
	sscanf(digits, "%u.%u", &major, &minor);
	return major * 100 + minor * 10;
}

static void add_features(cl_device_id device, struct gs_buf *out)
{
	cl_name_version list[64];
	size_t size = 0;
	gs_buf_puts(out, "features=");
	if (cl.clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_FEATURES, sizeof list, list, &size) == CL_SUCCESS)
		for (size_t i = 0; i < size / sizeof *list; i++)
			gs_buf_printf(out, "%s%.*s", i ? " " : "", CL_NAME_VERSION_MAX_NAME_SIZE, list[i].name);
	gs_buf_puts(out, "\n");
}

/* POCL's text is "OpenCL 3.0 PoCL 3.1 ..., LLVM 15.0.6, ...". */
static void add_clang(cl_platform_id platform, struct gs_buf *out)
{
	char version[1024] = "";
	unsigned major, minor, patch;
	cl.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL);
	const char *llvm = strstr(version, "LLVM ");
	if (llvm && sscanf(llvm, "LLVM %u.%u.%u", &major, &minor, &patch) == 3)
		gs_buf_printf(out, "clang=%u.%u.%u\n", major, minor, patch);
}

/* For the reports. */
static void note_host(const char *platform, const char *version, const char *name, const char *driver)
{
	struct run_host *h = &simulation.host;
	lock_for_report(&simulation.stats.lock);
	if (!h->name[0]) {
		snprintf(h->name, sizeof h->name, "%s", name);
		snprintf(h->driver, sizeof h->driver, "%s", driver);
		snprintf(h->platform, sizeof h->platform, "%s", platform);
		snprintf(h->version, sizeof h->version, "%s", version);
	}
	unlock_for_report(&simulation.stats.lock);
}

void describe_device(cl_device_id device, struct gs_buf *out)
{
	cl_device_type type = 0;
	cl_platform_id platform = NULL;
	char platform_name[256] = "", driver[256] = "", name[256] = "", platform_version[512] = "";
	char *c_version = device_text(device, CL_DEVICE_OPENCL_C_VERSION), *version = device_text(device, CL_DEVICE_VERSION),
	     *extensions = device_text(device, CL_DEVICE_EXTENSIONS);
	cl.clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	cl.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
	if (platform)
		cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof platform_name - 1, platform_name, NULL);
	unsigned c = version_number(c_version ? c_version : "");
	bool cpu = type & CL_DEVICE_TYPE_CPU;
	gs_buf_printf(out, "type=%s\naddress_bits=%u\nc_version=%u\ncl_version=%u\nimage_support=%u\nlittle_endian=%u\n",
	              cpu ? "cpu" : type & CL_DEVICE_TYPE_GPU ? "gpu" : "accelerator",
	              device_number(device, CL_DEVICE_ADDRESS_BITS),
	              c > 120 ? 120 : c, /* without -cl-std, at most OpenCL C 1.2 */
	              version_number(version ? version : ""), device_number(device, CL_DEVICE_IMAGE_SUPPORT) != 0,
	              device_number(device, CL_DEVICE_ENDIAN_LITTLE) != 0);
	/* Macros in the text depend on the CPU, which has a name, and on the version of the driver. */
	cl.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
	cl.clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof driver - 1, driver, NULL);
	gs_buf_printf(out, "platform=%s\nname=%s\ndriver=%s\nextensions=%s\n", platform_name, name, driver,
	              extensions ? extensions : "");
	if (platform) {
		cl.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof platform_version - 1, platform_version, NULL);
		add_clang(platform, out);
	}
	note_host(platform_name, platform_version, name, driver);
	add_features(device, out);
	gs_buf_printf(out, "counters=%s\n", cpu ? "plain" : "atomic");
	free(c_version);
	free(version);
	free(extensions);
}

static void add_targets(struct gs_pack *pack)
{
	struct gs_buf text = {0};
	for (size_t i = 0; i < simulation.arch_count; i++)
		gs_buf_printf(&text, "%s\n", simulation.archs[i]);
	gs_pack_add(pack, "targets", text.data, text.len);
	pack->failed |= text.failed;
	gs_buf_free(&text);
}

static int make_request(const struct unit_list *units, cl_device_id device, struct gs_buf *out, struct gs_error *err)
{
	struct gs_pack pack = {0};
	struct gs_buf text = {0};
	gs_pack_puts(&pack, "version", GPUSIM_CC_VERSION);
	describe_device(device, &text);
	gs_pack_add(&pack, "device", text.data, text.len);
	pack.failed |= text.failed;
	add_targets(&pack);
	unit_list_encode(units, &pack);
	int result = gs_pack_encode(&pack, out, err);
	gs_buf_free(&text);
	gs_pack_free(&pack);
	return result;
}

static int make_module_request(const void *image, size_t bytes, struct gs_buf *out, struct gs_error *err)
{
	struct gs_pack pack = {0};
	gs_pack_puts(&pack, "version", GPUSIM_CC_VERSION);
	add_targets(&pack);
	gs_pack_add(&pack, "fatbin", image, bytes);
	if (simulation.options.cuda_host.number == CUDA_HOST_GPU)
		gs_pack_puts(&pack, "count", "");
	int result = gs_pack_encode(&pack, out, err);
	gs_pack_free(&pack);
	return result;
}

/* ---- the cache ---- */

/* "HASH PATH": whether the file still has that hash. */
static bool dependency_holds(const char *line)
{
	enum { HASH_DIGITS = 32 };
	struct gs_buf file = {0};
	char hex[HASH_DIGITS + 1];
	bool holds = strlen(line) > HASH_DIGITS + 1 && !gs_read_regular_file(line + HASH_DIGITS + 1, &file, NULL);
	if (holds) {
		gs_hash_hex(file.data, file.len, hex);
		holds = !strncmp(hex, line, HASH_DIGITS);
	}
	gs_buf_free(&file);
	return holds;
}

bool dependencies_hold(const char *lines)
{
	char *copy = strdup(lines);
	bool hold = copy != NULL;
	for (char *save, *line = hold ? strtok_r(copy, "\n", &save) : NULL; line && hold; line = strtok_r(NULL, "\n", &save))
		hold = dependency_holds(line);
	free(copy);
	return hold;
}

/* A result that was made without an assembler, where there is one now. */
static bool could_be_assembled(const struct gs_pack *result)
{
	for (size_t i = 0; i < result->count; i++)
		if (!strcmp(result->sections[i].name, "target") && strstr(result->sections[i].data, " selected " PROTOCOL_NO_ASSEMBLER "\n"))
			return ptxas_path() != NULL;
	return false;
}

static bool from_cache(const char *key, struct gs_pack *result)
{
	if (cache_get_pack(CACHE_RESULTS, key, result, NULL))
		return false;
	/* A result is stale when a file that it included has changed. */
	if (dependencies_hold(gs_pack_text(result, "dependency")))
		return true;
	gs_pack_free(result);
	cache_remove(CACHE_RESULTS, key);
	return false;
}

/* ---- gpusim-cc ---- */

/* Leaves out variables that would load this library into gpusim-cc or its clang. Adds what the options say about both. */
char **make_cc_environment(void)
{
	extern char **environ;
	const struct { const char *name, *value; } own[] = {
		{"GPUSIM_CLANG", simulation.options.clang.text},
		{"GPUSIM_LIBCLC", simulation.options.libclc.text},
	};
	size_t count = 0, kept = 0;
	while (environ && environ[count])
		count++;
	char **list = calloc(count + GS_ARRAY_LEN(own) + 1, sizeof *list);
	for (size_t i = 0; list && i < count; i++)
		if (strncmp(environ[i], "GPUSIM_", 7) && strncmp(environ[i], "LD_PRELOAD=", 11) &&
		    strncmp(environ[i], "OPENCL_LAYERS=", 14) && !(list[kept++] = strdup(environ[i])))
			return list; /* memory is short: the list ends here */
	for (size_t i = 0; list && i < GS_ARRAY_LEN(own); i++)
		if (*own[i].value && asprintf(&list[kept], "%s=%s", own[i].name, own[i].value) > 0)
			kept++;
	return list;
}

static int read_result(const char *path, const char *said, struct gs_pack *result, struct gs_error *err)
{
	struct gs_buf bytes = {0};
	struct gs_error inner;
	int failed = gs_read_file(path, &bytes, &inner);
	if (failed)
		gs_fail(err, EIO, "gpusim-cc ended without a result%s%.300s", *said ? ": " : "", said);
	else if ((failed = gs_pack_decode(result, bytes.data, bytes.len, &inner)))
		gs_fail(err, EIO, "gpusim-cc: %s", inner.text);
	gs_buf_free(&bytes);
	return failed;
}

static int run_cc_in(const char *folder, const struct gs_buf *request, struct gs_pack *result, struct gs_error *err)
{
	char cc[PATH_MAX], in[PATH_MAX], out[PATH_MAX];
	struct gs_buf said = {0};
	snprintf(in, sizeof in, "%s/request", folder);
	snprintf(out, sizeof out, "%s/result", folder);
	int failed = cc_path(simulation.options.cc.text, simulation.library, cc, err);
	if (!failed)
		failed = gs_write_file(in, request->data, request->len, err);
	if (!failed)
		failed = run_apart(cc, (char *const[]){cc, in, out, NULL}, simulation.cc_environment,
		                   (unsigned)simulation.options.cc_timeout.number, &said, err);
	if (!failed) {
		for (char *p = said.data; p && *p; p++)
			if (*p == '\n')
				*p = p[1] ? ';' : 0;
		failed = read_result(out, said.data ? said.data : "", result, err);
	}
	unlink(in);
	unlink(out);
	gs_buf_free(&said);
	return failed;
}

static int run_cc(const struct gs_buf *request, struct gs_pack *result, struct gs_error *err)
{
	char folder[PATH_MAX - 16];
	snprintf(folder, sizeof folder, "%s/gpusim.XXXXXX", simulation.temporary);
	if (!mkdtemp(folder))
		return gs_fail(err, errno, "cannot make %s: %s", folder, strerror(errno));
	int result_code = run_cc_in(folder, request, result, err);
	rmdir(folder);
	return result_code;
}

/* A machine without clang can ask another one. `gpusim cache wanted` carries the requests that had no answer. */
static void keep_wanted(const char *key, const struct gs_buf *request)
{
	struct gs_pack pack = {0};
	if (!gs_pack_decode(&pack, request->data, request->len, NULL) && !cache_put_pack(CACHE_WANTED, key, &pack, NULL))
		log_info("the request is kept for a machine with clang: gpusim cache wanted FILE writes it to a file");
	gs_pack_free(&pack);
}

/* The result for a request, from the cache or from gpusim-cc. */
static int answer(const struct gs_buf *request, struct gs_pack *result, char key[33], struct gs_error *err)
{
	struct gs_error ignored;
	struct gs_pack before = {0};
	gs_hash_hex(request->data, request->len, key);
	bool found = from_cache(key, &before), again = found && could_be_assembled(&before);
	int failed = found && !again ? 0 : run_cc(request, result, err);
	if (found && (!again || failed)) {
		gs_pack_free(result);
		*result = before;
		simulation.cost.cache_hits++;
		return 0;
	}
	gs_pack_free(&before);
	if (failed || !cache_worth_keeping(result))
		keep_wanted(key, request);
	else if (cache_put_pack(CACHE_RESULTS, key, result, &ignored))
		log_info("not cached: %s", ignored.text);
	else
		cache_remove(CACHE_WANTED, key);
	return failed;
}

static void count_compile(uint64_t begin)
{
	simulation.cost.compiles++;
	simulation.cost.compile_ns += clock_ns() - begin;
}

int compile_units(const struct unit_list *units, cl_device_id device, struct gs_pack *result, char key[33], struct gs_error *err)
{
	struct gs_buf request = {0};
	uint64_t begin = clock_ns();
	if (address_space_is_short())
		return gs_fail(err, ENOMEM, "little of the address space is left (ulimit -v)");
	int failed = make_request(units, device, &request, err);
	if (!failed)
		failed = answer(&request, result, key, err);
	count_compile(begin);
	gs_buf_free(&request);
	return failed;
}

int compile_module(const void *image, size_t bytes, struct gs_pack *result, char key[33], struct gs_error *err)
{
	struct gs_buf request = {0};
	uint64_t begin = clock_ns();
	int failed = make_module_request(image, bytes, &request, err);
	if (!failed)
		failed = answer(&request, result, key, err);
	count_compile(begin);
	gs_buf_free(&request);
	return failed;
}
