/* Runs gpusim-cc on a source file, for a device in place of the host's; see explain.h. */
#include "runtime/cmd/explain/explain.h"

#include "runtime/format/protocol.h"
#include "runtime/cmd/cc_run.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A device like POCL's, without the macros of a CPU. */
static const char device[] =
    "type=gpu\naddress_bits=64\nc_version=120\ncl_version=300\nimage_support=1\nlittle_endian=1\n"
    "platform=Portable Computing Language\nname=gpusim\ndriver=gpusim\nquotes=shell\n"
    "extensions=cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_3d_image_writes "
    "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_fp64\n"
    "features=__opencl_c_3d_image_writes __opencl_c_images __opencl_c_atomic_order_acq_rel "
    "__opencl_c_atomic_order_seq_cst __opencl_c_atomic_scope_device __opencl_c_read_write_images __opencl_c_int64 "
    "__opencl_c_fp64\n"
    "counters=atomic\n";

/* Adds "-IFOLDER" in quotes, because a folder's name may have blanks. */
static void add_folder(struct gs_buf *options, const char *file)
{
	const char *slash = strrchr(file, '/');
	gs_buf_puts(options, " \"-I");
	for (const char *p = file; slash && p < slash + (slash == file); p++) {
		if (*p == '"' || *p == '\\')
			gs_buf_puts(options, "\\");
		gs_buf_add(options, p, 1);
	}
	gs_buf_puts(options, slash ? "\"" : ".\"");
}

static int make_request(const char *file, const struct gs_buf *source, const char *options, const char *target,
                        struct gs_buf *out, struct gs_error *err)
{
	struct gs_pack pack = {0};
	struct gs_buf all = {0};
	char cwd[PATH_MAX];
	gs_buf_puts(&all, options);
	add_folder(&all, file);
	gs_pack_puts(&pack, "version", GPUSIM_CC_VERSION);
	gs_pack_puts(&pack, "device", device);
	gs_pack_puts(&pack, "targets", target);
	gs_pack_puts(&pack, "cwd", getcwd(cwd, sizeof cwd) ? cwd : "/");
	gs_pack_puts(&pack, "options", all.data ? all.data : "");
	gs_pack_add(&pack, "source", source->data ? source->data : "", source->len);
	int result = all.failed ? gs_fail(err, ENOMEM, "out of memory") : gs_pack_encode(&pack, out, err);
	gs_buf_free(&all);
	gs_pack_free(&pack);
	return result;
}

/* The error is "STAGE: program.cl:LINE:COLUMN: what", with the user's file in place of program.cl, or the message of the
 * target's compile. */
static int check_result(const struct gs_pack *result, const char *file, struct gs_error *err)
{
	static const char own_name[] = "program.cl";
	const char *failure = gs_pack_text(result, "failure"), *text = failure + strcspn(failure, " ");
	const char *target = strstr(gs_pack_text(result, "target"), "\nfailure ");
	if (!*failure && !target)
		return 0;
	text = *failure ? text + (*text == ' ') : target + strlen("\nfailure ");
	int length = (int)strcspn(text, "\n");
	if (!strncmp(text, own_name, strlen(own_name)))
		return gs_fail(err, EINVAL, "%s%.*s", file, length - (int)strlen(own_name), text + strlen(own_name));
	return gs_fail(err, EINVAL, "%s: %.*s", file, length, text);
}

int explain_compile_ptx(const char *file, const struct gs_buf *ptx, const char *target, struct gs_pack *result, struct gs_error *err)
{
	struct gs_buf request = {0};
	struct gs_pack pack = {0};
	gs_pack_puts(&pack, "version", GPUSIM_CC_VERSION);
	gs_pack_puts(&pack, "targets", target);
	gs_pack_add(&pack, "fatbin", ptx->data ? ptx->data : "", ptx->len);
	int failed = gs_pack_encode(&pack, &request, err);
	if (!failed)
		failed = cc_run(&request, result, err);
	if (!failed)
		failed = check_result(result, file, err);
	gs_pack_free(&pack);
	gs_buf_free(&request);
	return failed;
}

int explain_compile(const char *file, const struct gs_buf *source, const char *options, const char *target,
                    struct gs_pack *result, struct gs_error *err)
{
	struct gs_buf request = {0};
	int failed = make_request(file, source, options, target, &request, err);
	if (!failed)
		failed = cc_run(&request, result, err);
	if (!failed)
		failed = check_result(result, file, err);
	gs_buf_free(&request);
	return failed;
}
