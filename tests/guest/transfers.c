/*
 * transfers - every way to move data, once each. All byte counts are different, so a report of the transfers can be compared
 * with the output of this program.
 */
#include "guest.h"

enum { SIZE = 65536, SIZE_B = 61440 };

static struct guest g;
static unsigned char host[SIZE], back[SIZE];

static void moved(const char *what, size_t bytes)
{
	printf("%s: %zu bytes\n", what, bytes);
}

static void check_back(const char *what, size_t offset, size_t bytes)
{
	EXPECT(!memcmp(back, host + offset, bytes), "%s: wrong data", what);
	memset(back, 0, sizeof back);
}

static void test_buffers(cl_mem a, cl_mem b)
{
	OK(clEnqueueWriteBuffer(g.queue, a, CL_TRUE, 0, SIZE, host, 0, NULL, NULL));
	moved("write", SIZE);
	OK(clEnqueueReadBuffer(g.queue, a, CL_TRUE, 100, 1000, back, 0, NULL, NULL));
	moved("read", 1000);
	check_back("read", 100, 1000);
	OK(clEnqueueCopyBuffer(g.queue, a, b, 0, 0, 60000, 0, NULL, NULL));
	moved("copy", 60000);
	OK(clEnqueueReadBuffer(g.queue, b, CL_FALSE, 0, 2000, back, 0, NULL, NULL));
	OK(clFinish(g.queue));
	moved("read without blocking", 2000);
	check_back("read without blocking", 0, 2000);
	cl_uint pattern = 0x01020304;
	OK(clEnqueueFillBuffer(g.queue, b, &pattern, sizeof pattern, 1024, 4096, 0, NULL, NULL));
	moved("fill", 4096);
	OK(clEnqueueReadBuffer(g.queue, b, CL_TRUE, 1020, 8, back, 0, NULL, NULL));
	moved("read", 8);
	EXPECT(!memcmp(back, host + 1020, 4) && !memcmp(back + 4, &pattern, 4), "fill: wrong data");
	OK(clEnqueueMigrateMemObjects(g.queue, 1, &b, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
	moved("migrate", SIZE_B);
	OK(clFinish(g.queue));
}

/* A box of 16 x 8 x 2 bytes in rows of 64 and slices of 1024. */
static void test_rectangles(cl_mem a, cl_mem b)
{
	const size_t at[3] = {4, 2, 1}, zero[3] = {0, 0, 0}, box[3] = {16, 8, 2};

	OK(clEnqueueWriteBufferRect(g.queue, a, CL_TRUE, at, zero, box, 64, 1024, 16, 128, host, 0, NULL, NULL));
	moved("write of a box", 16 * 8 * 2);
	OK(clEnqueueCopyBufferRect(g.queue, a, b, at, at, (const size_t[3]){12, 8, 2}, 64, 1024, 64, 1024, 0, NULL,
	                           NULL));
	moved("copy of a box", 12 * 8 * 2);
	OK(clEnqueueReadBufferRect(g.queue, b, CL_TRUE, at, zero, (const size_t[3]){12, 4, 2}, 64, 1024, 12, 48, back,
	                           0, NULL, NULL));
	moved("read of a box", 12 * 4 * 2);
	for (int z = 0; z < 2; z++)
		for (int y = 0; y < 4; y++)
			EXPECT(!memcmp(back + z * 48 + y * 12, host + z * 128 + y * 16, 12), "box: row %d of %d", y, z);
}

static void test_maps(cl_mem a)
{
	cl_int err;
	unsigned char *at = clEnqueueMapBuffer(g.queue, a, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 512, 3000, 0, NULL,
	                                       NULL, &err);

	CREATED(err);
	memcpy(at, host, 3000);
	OK(clEnqueueUnmapMemObject(g.queue, a, at, 0, NULL, NULL));
	moved("map to write", 3000);
	at = clEnqueueMapBuffer(g.queue, a, CL_TRUE, CL_MAP_READ, 512, 2900, 0, NULL, NULL, &err);
	CREATED(err);
	memcpy(back, at, 2900);
	OK(clEnqueueUnmapMemObject(g.queue, a, at, 0, NULL, NULL));
	OK(clFinish(g.queue));
	moved("map to read", 2900);
	check_back("map", 0, 2900);
}

static cl_mem create_image(void)
{
	cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 32, .image_height = 16};
	cl_int err;
	cl_mem image = clCreateImage(g.context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err);

	CREATED(err);
	return image;
}

static void test_images(cl_mem buffer)
{
	const size_t zero[3] = {0, 0, 0}, whole[3] = {32, 16, 1};
	cl_uint color[4] = {1, 2, 3, 4};
	size_t row;
	cl_int err;

	if (!guest_has(g.device, CL_DEVICE_IMAGE_SUPPORT)) {
		puts("images unsupported");
		return;
	}
	cl_mem a = create_image(), b = create_image();
	OK(clEnqueueWriteImage(g.queue, a, CL_TRUE, zero, whole, 0, 0, host, 0, NULL, NULL));
	moved("write of an image", 32 * 16 * 4);
	OK(clEnqueueCopyImage(g.queue, a, b, zero, zero, (const size_t[3]){32, 15, 1}, 0, NULL, NULL));
	moved("copy of an image", 32 * 15 * 4);
	OK(clEnqueueReadImage(g.queue, b, CL_TRUE, zero, (const size_t[3]){32, 14, 1}, 0, 0, back, 0, NULL, NULL));
	moved("read of an image", 32 * 14 * 4);
	check_back("image", 0, 32 * 14 * 4);
	OK(clEnqueueCopyImageToBuffer(g.queue, a, buffer, zero, (const size_t[3]){32, 13, 1}, 0, 0, NULL, NULL));
	moved("copy of an image to a buffer", 32 * 13 * 4);
	OK(clEnqueueCopyBufferToImage(g.queue, buffer, b, 0, zero, (const size_t[3]){32, 12, 1}, 0, NULL, NULL));
	moved("copy of a buffer to an image", 32 * 12 * 4);
	OK(clEnqueueFillImage(g.queue, a, color, zero, (const size_t[3]){32, 11, 1}, 0, NULL, NULL));
	moved("fill of an image", 32 * 11 * 4);
	unsigned char *at = clEnqueueMapImage(g.queue, a, CL_TRUE, CL_MAP_READ, zero, (const size_t[3]){32, 10, 1}, &row,
	                                      NULL, 0, NULL, NULL, &err);
	CREATED(err);
	EXPECT(at[0] == 1 && at[3] == 4 && at[9 * row + 31 * 4 + 1] == 2, "fill of an image: wrong data");
	OK(clEnqueueUnmapMemObject(g.queue, a, at, 0, NULL, NULL));
	OK(clFinish(g.queue));
	moved("map of an image", 32 * 10 * 4);
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
}

static void test_svm(void)
{
	cl_device_svm_capabilities can = 0;

	if (clGetDeviceInfo(g.device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL) ||
	    !(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) {
		puts("SVM unsupported");
		return;
	}
	unsigned char *a = clSVMAlloc(g.context, CL_MEM_READ_WRITE, 8192, 0), fill = 7;
	EXPECT(a, "clSVMAlloc gave NULL");
	OK(clEnqueueSVMMemFill(g.queue, a, &fill, 1, 7001, 0, NULL, NULL));
	moved("SVM fill", 7001);
	OK(clEnqueueSVMMemcpy(g.queue, CL_TRUE, a, host, 5003, 0, NULL, NULL));
	moved("SVM copy", 5003);
	OK(clEnqueueSVMMap(g.queue, CL_TRUE, CL_MAP_READ, a, 6002, 0, NULL, NULL));
	memcpy(back, a, 5003);
	EXPECT(a[6001] == 7, "SVM fill: wrong data");
	OK(clEnqueueSVMUnmap(g.queue, a, 0, NULL, NULL));
	moved("SVM map", 6002);
	check_back("SVM", 0, 5003);
	OK(clFinish(g.queue));
	clSVMFree(g.context, a);
}

int main(void)
{
	for (size_t i = 0; i < SIZE; i++)
		host[i] = (unsigned char)(i * 7 + i / 251);
	guest_open(&g);
	cl_mem a = guest_buffer(&g, SIZE, NULL), b = guest_buffer(&g, SIZE_B, NULL);
	test_buffers(a, b);
	test_rectangles(a, b);
	test_maps(a);
	test_images(a);
	test_svm();
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	guest_close(&g);
	puts("transfers done");
	return 0;
}
