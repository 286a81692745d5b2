// AES-128 in counter mode with the four 1 KiB round tables in shared memory, one 16-byte block per thread and step.
// Hard for a GPU: sixteen data-dependent shared-memory lookups per round hit the banks at random.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { \
	fprintf(stderr, "aes_tables %d: %s\n", __LINE__, cudaGetErrorString(e)); exit(1); } } while (0)

typedef uint32_t u32;

__constant__ u32 round_keys[44];

__device__ __forceinline__ u32 byte_of(u32 w, int k) { return (w >> (8 * k)) & 0xff; }

__global__ void __launch_bounds__(256) encrypt_counter(const u32 *__restrict__ tables, const unsigned char *__restrict__ sbox,
	const uint4 *in, uint4 *out, u32 nonce, int blocks)
{
	__shared__ u32 table[4][256];
	__shared__ u32 last[256];
	int tid = threadIdx.x;
	for (int k = 0; k < 4; k++)
		table[k][tid] = tables[k * 256 + tid];
	last[tid] = sbox[tid];
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + tid; i < blocks; i += gridDim.x * blockDim.x) {
		u32 s[4] = {nonce ^ round_keys[0], 0x01234567u ^ round_keys[1], round_keys[2], (u32)i ^ round_keys[3]};
#pragma unroll 3
		for (int r = 1; r < 10; r++) {
			u32 t[4];
#pragma unroll
			for (int c = 0; c < 4; c++)
				t[c] = table[0][byte_of(s[c], 0)] ^ table[1][byte_of(s[(c + 1) & 3], 1)] ^
					table[2][byte_of(s[(c + 2) & 3], 2)] ^ table[3][byte_of(s[(c + 3) & 3], 3)] ^ round_keys[4 * r + c];
#pragma unroll
			for (int c = 0; c < 4; c++)
				s[c] = t[c];
		}
		u32 key[4];
#pragma unroll
		for (int c = 0; c < 4; c++)
			key[c] = (last[byte_of(s[c], 0)] | last[byte_of(s[(c + 1) & 3], 1)] << 8 | last[byte_of(s[(c + 2) & 3], 2)] << 16 |
				last[byte_of(s[(c + 3) & 3], 3)] << 24) ^ round_keys[40 + c];
		uint4 text = in[i];
		out[i] = make_uint4(text.x ^ key[0], text.y ^ key[1], text.z ^ key[2], text.w ^ key[3]);
	}
}

static unsigned char times2(unsigned char a) { return (unsigned char)(a << 1 ^ (a & 0x80 ? 0x1b : 0)); }

static unsigned char multiply(unsigned char a, unsigned char b)
{
	unsigned char p = 0;
	for (; b; b >>= 1, a = times2(a))
		if (b & 1)
			p ^= a;
	return p;
}

int main()
{
	unsigned char sbox[256];
	u32 tables[1024], keys[44] = {0x16157e2bu, 0xa6d2ae28u, 0x8815f7abu, 0x3c4fcf09u};
	for (int a = 0; a < 256; a++) {
		// the inverse in the field is the 254th power
		unsigned char inverse = 1;
		for (int k = 0; k < 254; k++)
			inverse = multiply(inverse, (unsigned char)a);
		unsigned b = inverse, rotated = b | b << 8;
		sbox[a] = (unsigned char)(b ^ rotated >> 7 ^ rotated >> 6 ^ rotated >> 5 ^ rotated >> 4 ^ 0x63);
		unsigned char s = sbox[a], s2 = times2(s), s3 = s2 ^ s;
		u32 t = (u32)s2 | (u32)s << 8 | (u32)s << 16 | (u32)s3 << 24;
		for (int k = 0; k < 4; k++)
			tables[k * 256 + a] = k ? t << 8 * k | t >> (32 - 8 * k) : t;
	}
	unsigned char rcon = 1;
	for (int k = 4; k < 44; k++) {
		u32 w = keys[k - 1];
		if (k % 4 == 0) {
			w = w >> 8 | w << 24;
			w = ((u32)sbox[w & 255] | (u32)sbox[w >> 8 & 255] << 8 | (u32)sbox[w >> 16 & 255] << 16 | (u32)sbox[w >> 24] << 24) ^ rcon;
			rcon = times2(rcon);
		}
		keys[k] = keys[k - 4] ^ w;
	}
	const int blocks = 300000;
	std::vector<u32> text(blocks * 4);
	for (int i = 0; i < blocks * 4; i++)
		text[i] = (u32)i * 2654435761u;
	u32 *d_tables;
	unsigned char *d_sbox;
	uint4 *d_text;
	CHECK(cudaMemcpyToSymbol(round_keys, keys, sizeof(keys)));
	CHECK(cudaMalloc(&d_tables, sizeof(tables)));
	CHECK(cudaMalloc(&d_sbox, sizeof(sbox)));
	CHECK(cudaMalloc(&d_text, blocks * sizeof(uint4)));
	CHECK(cudaMemcpy(d_tables, tables, sizeof(tables), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_sbox, sbox, sizeof(sbox), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_text, text.data(), blocks * sizeof(uint4), cudaMemcpyHostToDevice));
	for (u32 pass = 0; pass < 4; pass++) {
		encrypt_counter<<<528, 256>>>(d_tables, d_sbox, d_text, d_text, 0xfeed0000u + pass, blocks);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaMemcpy(text.data(), d_text, blocks * sizeof(uint4), cudaMemcpyDeviceToHost));
	uint64_t h = 0;
	for (u32 w : text)
		h = (h ^ w) * 0x100000001b3ull + (h >> 41);
	printf("text: %016llx\n", (unsigned long long)h);
	printf("sbox53 %u last_key %u\n", sbox[0x53], keys[43]);
	CHECK(cudaFree(d_tables));
	CHECK(cudaFree(d_sbox));
	CHECK(cudaFree(d_text));
	return 0;
}
