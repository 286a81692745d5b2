// Checksums of many packets of uneven length: CRC-32 with one thread a packet (slicing tables in shared memory) and Adler-32 with one warp a packet.
// Hard for a GPU: uncoalesced streams with a dependent table lookup per word, random bank conflicts, and lanes that finish at different times.
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>

static void die_on(cudaError_t rc, const char *file, int line)
{
	if (rc != cudaSuccess) {
		fprintf(stderr, "%s(%d): %s\n", file, line, cudaGetErrorString(rc));
		exit(EXIT_FAILURE);
	}
}
#define TRY(x) die_on((x), __FILE__, __LINE__)

__global__ void make_payload(uint4 *out, size_t words)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x) {
		uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
		uint64_t y = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
		out[i] = make_uint4((uint32_t)z, (uint32_t)(z >> 32), (uint32_t)y, (uint32_t)(y >> 32));
	}
}

// packets start at multiples of 4 bytes
__global__ void crc32(const uint8_t *data, const uint32_t *offset, const uint16_t *length, int packets, const uint32_t *table, uint32_t *crc_out)
{
	__shared__ uint32_t t[4][256];
	for (int i = threadIdx.x; i < 1024; i += blockDim.x)
		((uint32_t *)t)[i] = table[i];
	__syncthreads();
	int p = blockIdx.x * blockDim.x + threadIdx.x;
	if (p >= packets)
		return;
	const uint32_t *words = (const uint32_t *)(data + offset[p]);
	int n = length[p];
	uint32_t crc = 0xffffffffu;
	for (int i = 0; i < n / 4; i++) {
		crc ^= words[i];
		crc = t[3][crc & 255] ^ t[2][crc >> 8 & 255] ^ t[1][crc >> 16 & 255] ^ t[0][crc >> 24];
	}
	const uint8_t *tail = (const uint8_t *)(words + n / 4);
	for (int i = 0; i < (n & 3); i++)
		crc = crc >> 8 ^ t[0][(crc ^ tail[i]) & 255];
	crc_out[p] = ~crc;
}

__global__ void adler32(const uint8_t *data, const uint32_t *offset, const uint16_t *length, int packets, uint32_t *adler_out)
{
	int p = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
	int lane = threadIdx.x & 31;
	if (p >= packets)
		return;
	const uchar4 *src = (const uchar4 *)(data + offset[p]);
	int n = length[p];
	// a = 1 + sum x[i]; b = n + sum (n - i) x[i]
	uint32_t a = 0, b = 0;
	for (int i = lane; i * 4 < n; i += 32) {
		uchar4 c = src[i];
		int rest = n - i * 4;
		a += c.x;
		b += c.x * rest;
		if (rest > 1) {
			a += c.y;
			b += c.y * (rest - 1);
		}
		if (rest > 2) {
			a += c.z;
			b += c.z * (rest - 2);
		}
		if (rest > 3) {
			a += c.w;
			b += c.w * (rest - 3);
		}
	}
	b %= 65521;
	for (int m = 16; m > 0; m >>= 1) {
		a += __shfl_down_sync(0xffffffff, a, m);
		b += __shfl_down_sync(0xffffffff, b, m);
	}
	if (lane == 0)
		adler_out[p] = ((b + n) % 65521) << 16 | (a + 1) % 65521;
}

static uint64_t fnv1a(const void *data, size_t n)
{
	uint64_t h = 0xcbf29ce484222325ull;
	const uint8_t *p = (const uint8_t *)data;
	while (n--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

int main()
{
	const int packets = 48000;
	uint32_t *offset = (uint32_t *)malloc(packets * sizeof *offset), *sums = (uint32_t *)malloc(packets * sizeof *sums), table[4][256];
	uint16_t *length = (uint16_t *)malloc(packets * sizeof *length);
	uint32_t x = 1, at = 0;
	for (int i = 0; i < packets; i++) {
		x = x * 1103515245u + 12345u;
		uint32_t r = x >> 8;
		// the usual mix on a link: small, full and other packets
		length[i] = (uint16_t)(r % 10 < 4 ? 40 + r % 25 : r % 10 < 7 ? 1500 : 64 + (r >> 4) % 1400);
		offset[i] = at;
		at += (length[i] + 3u) & ~3u;
	}
	size_t bytes = ((size_t)at + 15) & ~(size_t)15;
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
		table[0][i] = c;
	}
	for (int i = 0; i < 256; i++)
		for (int k = 1; k < 4; k++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];

	uint8_t *d_data;
	uint32_t *d_offset, *d_table, *d_crc, *d_adler;
	uint16_t *d_length;
	TRY(cudaMalloc(&d_data, bytes));
	TRY(cudaMalloc(&d_offset, packets * 4));
	TRY(cudaMalloc(&d_length, packets * 2));
	TRY(cudaMalloc(&d_table, sizeof table));
	TRY(cudaMalloc(&d_crc, packets * 4));
	TRY(cudaMalloc(&d_adler, packets * 4));
	TRY(cudaMemcpy(d_offset, offset, packets * 4, cudaMemcpyHostToDevice));
	TRY(cudaMemcpy(d_length, length, packets * 2, cudaMemcpyHostToDevice));
	TRY(cudaMemcpy(d_table, table, sizeof table, cudaMemcpyHostToDevice));
	make_payload<<<396, 320>>>((uint4 *)d_data, bytes / 16);
	TRY(cudaGetLastError());
	TRY(cudaDeviceSynchronize());
	cudaStream_t s1, s2;
	TRY(cudaStreamCreate(&s1));
	TRY(cudaStreamCreate(&s2));
	// the second half of the packets goes through the other stream
	int half = packets / 2;
	crc32<<<(half + 127) / 128, 128, 0, s1>>>(d_data, d_offset, d_length, half, d_table, d_crc);
	crc32<<<(half + 63) / 64, 64, 0, s2>>>(d_data, d_offset + half, d_length + half, half, d_table, d_crc + half);
	TRY(cudaGetLastError());
	adler32<<<(packets * 32 + 255) / 256, 256, 0, s1>>>(d_data, d_offset, d_length, packets, d_adler);
	TRY(cudaGetLastError());
	TRY(cudaStreamSynchronize(s1));
	TRY(cudaStreamSynchronize(s2));
	printf("bytes %u\n", at);
	TRY(cudaMemcpy(sums, d_crc, packets * 4, cudaMemcpyDeviceToHost));
	printf("crc32 %016llx\n", (unsigned long long)fnv1a(sums, packets * 4));
	TRY(cudaMemcpy(sums, d_adler, packets * 4, cudaMemcpyDeviceToHost));
	printf("adler32 %016llx\n", (unsigned long long)fnv1a(sums, packets * 4));
	TRY(cudaStreamDestroy(s1));
	TRY(cudaStreamDestroy(s2));
	TRY(cudaFree(d_data));
	TRY(cudaFree(d_offset));
	TRY(cudaFree(d_length));
	TRY(cudaFree(d_table));
	TRY(cudaFree(d_crc));
	TRY(cudaFree(d_adler));
	free(offset);
	free(length);
	free(sums);
	return 0;
}
