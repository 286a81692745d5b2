// SHA-256 of many messages of different lengths, a Merkle tree over the digests, and ChaCha20 keystream encryption.
// Hard for a GPU: long unrolled chains of 32-bit rotates and adds, register pressure from the message schedule, byte loads at uneven strides,
// and tree levels that shrink to a single warp.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

typedef unsigned char BYTE;
typedef unsigned int WORD;

#define checkCudaErrors(x) \
{ \
    cudaError_t err = (x); \
    if (err != cudaSuccess) { printf("checkCudaErrors: %s (line %d)\n", cudaGetErrorString(err), __LINE__); return 1; } \
}

__constant__ WORD dev_k[64];

static const WORD host_k[64] = {
	0x428a2f98,0x71374491,0xb5c0fbcf,0xe9b5dba5,0x3956c25b,0x59f111f1,0x923f82a4,0xab1c5ed5,
	0xd807aa98,0x12835b01,0x243185be,0x550c7dc3,0x72be5d74,0x80deb1fe,0x9bdc06a7,0xc19bf174,
	0xe49b69c1,0xefbe4786,0x0fc19dc6,0x240ca1cc,0x2de92c6f,0x4a7484aa,0x5cb0a9dc,0x76f988da,
	0x983e5152,0xa831c66d,0xb00327c8,0xbf597fc7,0xc6e00bf3,0xd5a79147,0x06ca6351,0x14292967,
	0x27b70a85,0x2e1b2138,0x4d2c6dfc,0x53380d13,0x650a7354,0x766a0abb,0x81c2c92e,0x92722c85,
	0xa2bfe8a1,0xa81a664b,0xc24b8b70,0xc76c51a3,0xd192e819,0xd6990624,0xf40e3585,0x106aa070,
	0x19a4c116,0x1e376c08,0x2748774c,0x34b0bcb5,0x391c0cb3,0x4ed8aa4a,0x5b9cca4f,0x682e6ff3,
	0x748f82ee,0x78a5636f,0x84c87814,0x8cc70208,0x90befffa,0xa4506ceb,0xbef9a3f7,0xc67178f2
};

#define ROTRIGHT(a,b) (((a) >> (b)) | ((a) << (32-(b))))
#define CH(x,y,z) (((x) & (y)) ^ (~(x) & (z)))
#define MAJ(x,y,z) (((x) & (y)) ^ ((x) & (z)) ^ ((y) & (z)))
#define EP0(x) (ROTRIGHT(x,2) ^ ROTRIGHT(x,13) ^ ROTRIGHT(x,22))
#define EP1(x) (ROTRIGHT(x,6) ^ ROTRIGHT(x,11) ^ ROTRIGHT(x,25))
#define SIG0(x) (ROTRIGHT(x,7) ^ ROTRIGHT(x,18) ^ ((x) >> 3))
#define SIG1(x) (ROTRIGHT(x,17) ^ ROTRIGHT(x,19) ^ ((x) >> 10))

__device__ __forceinline__ void sha256_init(WORD s[8])
{
	s[0] = 0x6a09e667; s[1] = 0xbb67ae85; s[2] = 0x3c6ef372; s[3] = 0xa54ff53a;
	s[4] = 0x510e527f; s[5] = 0x9b05688c; s[6] = 0x1f83d9ab; s[7] = 0x5be0cd19;
}

// schedule kept as a rolling window of 16 words, fully unrolled
__device__ __forceinline__ void sha256_block(WORD s[8], WORD w[16])
{
	WORD a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma unroll
	for (int i = 0; i < 64; ++i) {
		if (i >= 16) w[i & 15] += SIG1(w[(i - 2) & 15]) + w[(i - 7) & 15] + SIG0(w[(i - 15) & 15]);
		WORD t1 = h + EP1(e) + CH(e, f, g) + dev_k[i] + w[i & 15];
		WORD t2 = EP0(a) + MAJ(a, b, c);
		h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
	}
	s[0] += a; s[1] += b; s[2] += c; s[3] += d; s[4] += e; s[5] += f; s[6] += g; s[7] += h;
}

// the textbook one: 64-word schedule in a local array, loops not unrolled, message read byte by byte
__device__ void sha256_transform_naive(WORD state[8], const BYTE *data)
{
	WORD m[64];
	int i, j;
	for (i = 0, j = 0; i < 16; ++i, j += 4)
		m[i] = ((WORD)data[j] << 24) | ((WORD)data[j + 1] << 16) | ((WORD)data[j + 2] << 8) | (WORD)data[j + 3];
#pragma unroll 1
	for (; i < 64; ++i)
		m[i] = SIG1(m[i - 2]) + m[i - 7] + SIG0(m[i - 15]) + m[i - 16];
	WORD a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
#pragma unroll 1
	for (i = 0; i < 64; ++i) {
		WORD t1 = h + EP1(e) + CH(e, f, g) + dev_k[i] + m[i];
		WORD t2 = EP0(a) + MAJ(a, b, c);
		h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
	}
	state[0] += a; state[1] += b; state[2] += c; state[3] += d; state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

__global__ void make_bytes(WORD *data, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		WORD x = i * 0x9E3779B1u + 7;
		x ^= x >> 15; x *= 0x2c1b3c6du; x ^= x >> 12; x *= 0x297a2d39u; x ^= x >> 15;
		data[i] = x;
	}
}

__host__ __device__ inline int message_length(int i) { return 8 + (int)(((unsigned)i * 2654435761u) >> 24) % 248; }

// messages of 8..255 bytes at stride 256
__global__ void sha256_naive(const BYTE *data, WORD *digest, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	const BYTE *msg = data + (size_t)i * 256;
	int len = message_length(i);
	WORD st[8];
	sha256_init(st);
	int pos = 0;
	while (len - pos >= 64) {
		sha256_transform_naive(st, msg + pos);
		pos += 64;
	}
	BYTE last[64];
	int rest = len - pos;
	for (int k = 0; k < 64; k++) last[k] = k < rest ? msg[pos + k] : (k == rest ? 0x80 : 0);
	if (rest >= 56) {
		sha256_transform_naive(st, last);
		for (int k = 0; k < 64; k++) last[k] = 0;
	}
	unsigned bits = len * 8;
	last[62] = bits >> 8;
	last[63] = bits;
	sha256_transform_naive(st, last);
	for (int k = 0; k < 8; k++) digest[i * 8 + k] = st[k];
}

// fixed 64-byte messages, 16-byte loads
__global__ void __launch_bounds__(128) sha256_fixed64(const uint4 *__restrict__ data, uint4 *__restrict__ digest, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	WORD w[16], st[8];
#pragma unroll
	for (int k = 0; k < 4; k++) {
		uint4 v = __ldg(data + (size_t)i * 4 + k);
		w[4 * k] = __byte_perm(v.x, 0, 0x0123);
		w[4 * k + 1] = __byte_perm(v.y, 0, 0x0123);
		w[4 * k + 2] = __byte_perm(v.z, 0, 0x0123);
		w[4 * k + 3] = __byte_perm(v.w, 0, 0x0123);
	}
	sha256_init(st);
	sha256_block(st, w);
#pragma unroll
	for (int k = 0; k < 16; k++) w[k] = 0;
	w[0] = 0x80000000u;
	w[15] = 512;
	sha256_block(st, w);
	digest[2 * i] = make_uint4(st[0], st[1], st[2], st[3]);
	digest[2 * i + 1] = make_uint4(st[4], st[5], st[6], st[7]);
}

// parent = compress(left || right), a single block without padding
__global__ void merkle_level(const uint4 *__restrict__ in, uint4 *__restrict__ out, int parents)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= parents) return;
	WORD w[16], st[8];
#pragma unroll
	for (int k = 0; k < 4; k++) {
		uint4 v = in[4 * i + k];
		w[4 * k] = v.x; w[4 * k + 1] = v.y; w[4 * k + 2] = v.z; w[4 * k + 3] = v.w;
	}
	sha256_init(st);
	sha256_block(st, w);
	out[2 * i] = make_uint4(st[0], st[1], st[2], st[3]);
	out[2 * i + 1] = make_uint4(st[4], st[5], st[6], st[7]);
}

#define ROTL(a,b) __funnelshift_l((a), (a), (b))
#define QR(a, b, c, d) ( \
	a += b, d ^= a, d = ROTL(d, 16), \
	c += d, b ^= c, b = ROTL(b, 12), \
	a += b, d ^= a, d = ROTL(d, 8), \
	c += d, b ^= c, b = ROTL(b, 7))

template <int ROUNDS>
__global__ void chacha_xor(uint4 *buf, const WORD *key, WORD nonce, int blocks)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= blocks) return;
	WORD in[16], x[16];
	in[0] = 0x61707865; in[1] = 0x3320646e; in[2] = 0x79622d32; in[3] = 0x6b206574;
#pragma unroll
	for (int k = 0; k < 8; k++) in[4 + k] = key[k];
	in[12] = i; in[13] = nonce; in[14] = nonce * 3; in[15] = nonce ^ 0x55aa55aa;
#pragma unroll
	for (int k = 0; k < 16; k++) x[k] = in[k];
#pragma unroll
	for (int r = 0; r < ROUNDS; r += 2) {
		QR(x[0], x[4], x[8], x[12]);
		QR(x[1], x[5], x[9], x[13]);
		QR(x[2], x[6], x[10], x[14]);
		QR(x[3], x[7], x[11], x[15]);
		QR(x[0], x[5], x[10], x[15]);
		QR(x[1], x[6], x[11], x[12]);
		QR(x[2], x[7], x[8], x[13]);
		QR(x[3], x[4], x[9], x[14]);
	}
#pragma unroll
	for (int k = 0; k < 4; k++) {
		uint4 v = buf[(size_t)i * 4 + k];
		v.x ^= x[4 * k] + in[4 * k];
		v.y ^= x[4 * k + 1] + in[4 * k + 1];
		v.z ^= x[4 * k + 2] + in[4 * k + 2];
		v.w ^= x[4 * k + 3] + in[4 * k + 3];
		buf[(size_t)i * 4 + k] = v;
	}
}

static unsigned long long fold(const std::vector<WORD> &v)
{
	unsigned long long h = 0;
	for (WORD w : v) h = h * 0x5851F42D4C957F2Dull + w + 1;
	return h;
}

int main()
{
	const int messages = 20000, leaves = 1 << 16, chacha_blocks = 300000;
	const int words = chacha_blocks * 16;
	WORD *data, *digest, *level[2], *key;
	checkCudaErrors(cudaMalloc(&data, (size_t)words * 4 + 256));
	checkCudaErrors(cudaMalloc(&digest, messages * 32));
	checkCudaErrors(cudaMalloc(&level[0], leaves * 32));
	checkCudaErrors(cudaMalloc(&level[1], leaves * 16));
	checkCudaErrors(cudaMalloc(&key, 32));
	checkCudaErrors(cudaMemcpyToSymbol(dev_k, host_k, sizeof(host_k)));
	checkCudaErrors(cudaMemcpy(key, host_k + 20, 32, cudaMemcpyHostToDevice));

	make_bytes<<<(words + 255) / 256, 256>>>(data, words);
	checkCudaErrors(cudaGetLastError());

	std::vector<WORD> h(messages * 8);
	// 20000 * 256 bytes at the head of the data
	sha256_naive<<<(messages + 63) / 64, 64>>>((const BYTE *)data, digest, messages);
	checkCudaErrors(cudaGetLastError());
	checkCudaErrors(cudaMemcpy(h.data(), digest, messages * 32, cudaMemcpyDeviceToHost));
	printf("naive %016llx\n", fold(h));

	sha256_fixed64<<<leaves / 128, 128>>>((const uint4 *)data, (uint4 *)level[0], leaves);
	const int cur = 0;   // two levels per turn, so the result is always in level[0]
	for (int parents = leaves / 2; parents >= 128; parents /= 4) {
		merkle_level<<<(parents + 127) / 128, 128>>>((const uint4 *)level[cur], (uint4 *)level[cur ^ 1], parents);
		merkle_level<<<(parents / 2 + 127) / 128, 128>>>((const uint4 *)level[cur ^ 1], (uint4 *)level[cur], parents / 2);
	}
	checkCudaErrors(cudaGetLastError());
	h.resize(32 * 8);
	checkCudaErrors(cudaMemcpy(h.data(), level[cur], 32 * 32, cudaMemcpyDeviceToHost));
	printf("tree %016llx\n", fold(h));

	chacha_xor<20><<<(chacha_blocks + 255) / 256, 256>>>((uint4 *)data, key, 0x01020304, chacha_blocks);
	chacha_xor<8><<<(chacha_blocks + 511) / 512, 512>>>((uint4 *)data, key, 0x0a0b0c0d, chacha_blocks);
	checkCudaErrors(cudaGetLastError());
	h.resize(words);
	checkCudaErrors(cudaMemcpy(h.data(), data, (size_t)words * 4, cudaMemcpyDeviceToHost));
	printf("chacha %016llx\n", fold(h));
	checkCudaErrors(cudaDeviceSynchronize());
	return 0;
}
