// Compression pieces: run-length encoding with block scans, LZ77 parsing of independent chunks, Huffman histogram/encode/bit-pack and a decoder.
// Hard for a GPU: scans with barriers, byte-granular compaction, variable-length codes that straddle words (shared atomicOr),
// and one-thread-per-chunk parsing or decoding with data-dependent branches.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cstring>
#include <vector>
#include <queue>
#include <algorithm>
#include <functional>

#define CUDA_OK(e)                                                             \
  if (cudaError_t _s = (e)) {                                                  \
    std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(_s));    \
    std::exit(1);                                                              \
  }

constexpr int SIZE = 3 << 19;               // 1.5 MB
constexpr int BLOCK = 256;
constexpr int PER_THREAD = 8;
constexpr int TILE = BLOCK * PER_THREAD;    // 2048 bytes
constexpr int TILES = SIZE / TILE;
constexpr int MAX_BITS = 16;
constexpr int CHUNK = 512;                  // LZ chunk

__device__ __host__ inline uint32_t h(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  return x ^ (x >> 16);
}

// text-like: words from a small dictionary, separated by runs of a filler byte; four bytes per thread
__global__ void make_text(uchar4 *out, int n4) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  uint8_t b[4];
  for (int k = 0; k < 4; k++) {
    uint32_t at = i * 4 + k;
    uint32_t word = h(at / 8) % 97, run = h(at / 40 + 1000000) % 4;
    uint32_t c = h(word * 8 + at % 8) & 0xff;
    // skew: product of two nibbles-ish values
    c = (c & 15) * (c >> 4) / 2 + 32;
    if (run == 0) c = ' ';
    if (h(at ^ 0x1234567) % 50 == 0) c = h(at) & 0xff;
    b[k] = (uint8_t)c;
  }
  out[i] = make_uchar4(b[0], b[1], b[2], b[3]);
}

__global__ void __launch_bounds__(512) histogram256(const uint32_t *__restrict__ data, uint32_t *hist, int words) {
  // four sub-histograms against contention
  __shared__ uint32_t s[4][257];
  for (int i = threadIdx.x; i < 4 * 257; i += 512) (&s[0][0])[i] = 0;
  __syncthreads();
  uint32_t *mine = s[threadIdx.x & 3];
  for (int i = blockIdx.x * 512 + threadIdx.x; i < words; i += gridDim.x * 512) {
    uint32_t w = __ldg(data + i);
    atomicAdd(&mine[w & 255], 1u);
    atomicAdd(&mine[w >> 8 & 255], 1u);
    atomicAdd(&mine[w >> 16 & 255], 1u);
    atomicAdd(&mine[w >> 24], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 256) {
    uint32_t t = s[0][threadIdx.x] + s[1][threadIdx.x] + s[2][threadIdx.x] + s[3][threadIdx.x];
    if (t) atomicAdd(&hist[threadIdx.x], t);
  }
}

// exclusive scan over the block, total in *total
template <int THREADS>
__device__ int block_scan(int v, int *total) {
  __shared__ int sums[THREADS / 32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, inc = v;
#pragma unroll
  for (int o = 1; o < 32; o <<= 1) {
    int u = __shfl_up_sync(0xffffffffu, inc, o);
    if (lane >= o) inc += u;
  }
  if (lane == 31) sums[warp] = inc;
  __syncthreads();
  int before = 0, all = 0;
  for (int w = 0; w < THREADS / 32; w++) {
    if (w < warp) before += sums[w];
    all += sums[w];
  }
  __syncthreads();
  *total = all;
  return before + inc - v;
}

// code table entry: length << 16 | bits, most significant bit first
__global__ void __launch_bounds__(BLOCK) huffman_lengths(const uint8_t *__restrict__ data, const uint32_t *__restrict__ codes, int *tile_bits) {
  __shared__ uint8_t len[256];
  len[threadIdx.x] = codes[threadIdx.x] >> 16;
  __syncthreads();
  uint2 raw = *reinterpret_cast<const uint2 *>(data + blockIdx.x * TILE + threadIdx.x * PER_THREAD);
  int bits = 0;
#pragma unroll
  for (int k = 0; k < 4; k++) bits += len[raw.x >> (8 * k) & 255] + len[raw.y >> (8 * k) & 255];
  for (int o = 16; o; o >>= 1) bits += __shfl_xor_sync(0xffffffffu, bits, o);
  __shared__ int parts[BLOCK / 32];
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = bits;
  __syncthreads();
  if (threadIdx.x == 0) {
    int t = 0;
    for (int w = 0; w < BLOCK / 32; w++) t += parts[w];
    tile_bits[blockIdx.x] = t;
  }
}

// one block scans everything; each tile's size is first rounded up to `align`
__global__ void __launch_bounds__(1024) scan_tiles(const int *__restrict__ in, int *__restrict__ out, int n, int align) {
  int carry = 0;
  for (int base = 0; base < n; base += 1024) {
    int i = base + threadIdx.x;
    int v = i < n ? (in[i] + align - 1) / align : 0;
    int total, ex = block_scan<1024>(v, &total);
    if (i < n) out[i] = carry + ex;
    carry += total;
  }
  if (threadIdx.x == 0) out[n] = carry;
}

__global__ void __launch_bounds__(BLOCK) huffman_pack(const uint8_t *__restrict__ data, const uint32_t *__restrict__ codes,
                                                      const int *__restrict__ tile_word, uint32_t *__restrict__ packed,
                                                      uint16_t *__restrict__ seek) {
  __shared__ uint32_t table[256];
  __shared__ uint32_t buffer[TILE * MAX_BITS / 32 + 1];
  table[threadIdx.x] = codes[threadIdx.x];
  for (int i = threadIdx.x; i < TILE * MAX_BITS / 32 + 1; i += BLOCK) buffer[i] = 0;
  __syncthreads();
  uint2 raw = *reinterpret_cast<const uint2 *>(data + blockIdx.x * TILE + threadIdx.x * PER_THREAD);
  uint32_t e[PER_THREAD];
  int bits = 0;
#pragma unroll
  for (int k = 0; k < PER_THREAD; k++) {
    e[k] = table[(k < 4 ? raw.x >> (8 * k) : raw.y >> (8 * (k - 4))) & 255];
    bits += e[k] >> 16;
  }
  int total, pos = block_scan<BLOCK>(bits, &total);
  if (threadIdx.x % 4 == 0) seek[blockIdx.x * (BLOCK / 4) + threadIdx.x / 4] = (uint16_t)pos;
#pragma unroll
  for (int k = 0; k < PER_THREAD; k++) {
    int len = e[k] >> 16;
    uint64_t wide = (uint64_t)(e[k] & 0xffff) << (64 - len - (pos & 31));
    uint32_t hi = (uint32_t)(wide >> 32), lo = (uint32_t)wide;
    atomicOr(&buffer[pos >> 5], hi);
    if (lo) atomicOr(&buffer[(pos >> 5) + 1], lo);
    pos += len;
  }
  __syncthreads();
  int words = (total + 31) / 32;
  uint32_t *dst = packed + tile_word[blockIdx.x];
  for (int i = threadIdx.x; i < words; i += BLOCK) dst[i] = buffer[i];
}

// thread per 32 symbols, table of the next 16 bits replaced by canonical first-code limits
__global__ void __launch_bounds__(64) huffman_decode(const uint32_t *__restrict__ packed, const int *__restrict__ tile_word,
                                                     const uint16_t *__restrict__ seek, const uint32_t *__restrict__ limit,
                                                     const int *__restrict__ offset, const uint8_t *__restrict__ symbols,
                                                     uint32_t *__restrict__ out) {
  __shared__ uint32_t s_limit[MAX_BITS + 2];
  __shared__ int s_offset[MAX_BITS + 2];
  __shared__ uint8_t s_symbols[256];
  if (threadIdx.x < MAX_BITS + 2) {
    s_limit[threadIdx.x] = limit[threadIdx.x];
    s_offset[threadIdx.x] = offset[threadIdx.x];
  }
  for (int i = threadIdx.x; i < 256; i += 64) s_symbols[i] = symbols[i];
  __syncthreads();
  const uint32_t *src = packed + tile_word[blockIdx.x];
  int segment = blockIdx.x * 64 + threadIdx.x;
  int pos = seek[segment];
  uint32_t word = 0;
  for (int k = 0; k < 32; k++) {
    uint32_t w0 = src[pos >> 5], w1 = src[(pos >> 5) + 1];
    uint32_t top = __funnelshift_l(w1, w0, pos & 31) >> 16;
    int len = 1;
    while (len < MAX_BITS && top >= s_limit[len]) len++;
    uint8_t sym = s_symbols[((top >> (MAX_BITS - len)) + s_offset[len]) & 255];
    pos += len;
    word = word >> 8 | (uint32_t)sym << 24;
    if (k % 4 == 3) out[segment * 8 + k / 4] = word;
  }
}

// runs that start in each tile
__global__ void __launch_bounds__(BLOCK) rle_count(const uint8_t *__restrict__ data, int *counts) {
  int base = blockIdx.x * TILE, n = 0;
  for (int k = 0; k < PER_THREAD; k++) {
    int i = base + k * BLOCK + threadIdx.x;
    n += __syncthreads_count(i == 0 || data[i] != data[i - 1]);
  }
  if (threadIdx.x == 0) counts[blockIdx.x] = n;
}

__global__ void __launch_bounds__(BLOCK) rle_emit(const uint8_t *__restrict__ data, const int *__restrict__ first, int *__restrict__ starts, uint8_t *__restrict__ values) {
  int base = blockIdx.x * TILE, at = first[blockIdx.x];
  for (int k = 0; k < PER_THREAD; k++) {
    int i = base + k * BLOCK + threadIdx.x;
    int head = i == 0 || data[i] != data[i - 1];
    int total, where = block_scan<BLOCK>(head, &total);
    if (head) {
      starts[at + where] = i;
      values[at + where] = data[i];
    }
    at += total;
  }
}

// greedy parse of one chunk per thread with a small hash of last positions; token: literal or (distance, length)
__global__ void __launch_bounds__(64) lz_parse(const uint8_t *__restrict__ data, uint32_t *__restrict__ tokens, int *__restrict__ n_tokens, int chunks) {
  __shared__ uint16_t last[64][65];
  int c = blockIdx.x * 64 + threadIdx.x;
  uint16_t *table = last[threadIdx.x];
  for (int i = 0; i < 64; i++) table[i] = 0xffff;
  if (c >= chunks) return;
  const uint8_t *p = data + (size_t)c * CHUNK;
  uint32_t *t = tokens + (size_t)c * CHUNK;
  int n = 0, i = 0;
  while (i < CHUNK) {
    int length = 0, distance = 0;
    if (i + 3 <= CHUNK) {
      uint32_t three = p[i] | p[i + 1] << 8 | p[i + 2] << 16;
      uint32_t slot = three * 2654435761u >> 26;
      int candidate = table[slot];
      table[slot] = (uint16_t)i;
      if (candidate != 0xffff) {
        while (length < 63 && i + length < CHUNK && p[candidate + length] == p[i + length]) length++;
        distance = i - candidate;
      }
    }
    if (length >= 3) {
      t[n++] = 0x80000000u | distance << 8 | length;
      i += length;
    } else {
      t[n++] = p[i];
      i++;
    }
  }
  n_tokens[c] = n;
}

// length-limited code by scaling the counts until the depth fits
static void build_code(std::vector<uint32_t> freq, std::vector<int> &len) {
  for (;;) {
    struct Node { int left, right; };
    std::vector<Node> nodes(256, {-1, -1});
    typedef std::pair<uint64_t, int> Item;
    std::priority_queue<Item, std::vector<Item>, std::greater<Item>> q;
    for (int s = 0; s < 256; s++) q.push({freq[s], s});
    while (q.size() > 1) {
      Item a = q.top(); q.pop();
      Item b = q.top(); q.pop();
      nodes.push_back({a.second, b.second});
      q.push({a.first + b.first, (int)nodes.size() - 1});
    }
    std::vector<int> depth(nodes.size(), 0);
    int deepest = 0;
    for (int i = (int)nodes.size() - 1; i >= 256; i--) depth[nodes[i].left] = depth[nodes[i].right] = depth[i] + 1;
    for (int s = 0; s < 256; s++) deepest = std::max(deepest, len[s] = depth[s]);
    if (deepest <= MAX_BITS) return;
    for (auto &f : freq) f = f / 2 + 1;
  }
}

template <class T>
static T *dev(size_t n) {
  void *p;
  CUDA_OK(cudaMalloc(&p, n * sizeof(T)));
  CUDA_OK(cudaMemset(p, 0, n * sizeof(T)));
  return (T *)p;
}

static uint64_t hash_bytes(const void *d, size_t n) {
  std::vector<uint8_t> b(n);
  CUDA_OK(cudaMemcpy(b.data(), d, n, cudaMemcpyDeviceToHost));
  uint64_t x = 0xcbf29ce484222325ull;
  for (uint8_t v : b) x = (x ^ v) * 0x100000001b3ull;
  return x;
}

int main() {
  const int chunks = SIZE / CHUNK;
  uint8_t *data = dev<uint8_t>(SIZE), *back = dev<uint8_t>(SIZE), *values = dev<uint8_t>(SIZE);
  uint32_t *hist = dev<uint32_t>(256), *codes = dev<uint32_t>(256), *packed = dev<uint32_t>((size_t)TILES * (TILE * MAX_BITS / 32 + 1) + 2);
  int *tile_size = dev<int>(TILES), *tile_at = dev<int>(TILES + 1), *starts = dev<int>(SIZE);
  uint16_t *seek = dev<uint16_t>(TILES * (BLOCK / 4));
  uint32_t *limit = dev<uint32_t>(MAX_BITS + 2), *tokens = dev<uint32_t>(SIZE);
  int *offset = dev<int>(MAX_BITS + 2), *n_tokens = dev<int>(chunks);
  uint8_t *symbols = dev<uint8_t>(256);

  make_text<<<SIZE / 4 / 256, 256>>>((uchar4 *)data, SIZE / 4);
  histogram256<<<132, 512>>>((const uint32_t *)data, hist, SIZE / 4);
  CUDA_OK(cudaGetLastError());
  std::vector<uint32_t> freq(256);
  CUDA_OK(cudaMemcpy(freq.data(), hist, 1024, cudaMemcpyDeviceToHost));
  for (auto &f : freq) f++;

  // canonical codes
  std::vector<int> len(256);
  build_code(freq, len);
  std::vector<int> order(256);
  for (int s = 0; s < 256; s++) order[s] = s;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return len[a] < len[b]; });
  std::vector<uint32_t> code_table(256), limits(MAX_BITS + 2, 0);
  std::vector<int> offsets(MAX_BITS + 2, 0);
  std::vector<uint8_t> syms(256);
  uint32_t code = 0;
  int k = 0;
  for (int l = 1; l <= MAX_BITS; l++) {
    offsets[l] = k - (int)code;
    while (k < 256 && len[order[k]] == l) {
      code_table[order[k]] = (uint32_t)l << 16 | code;
      syms[k] = (uint8_t)order[k];
      code++;
      k++;
    }
    limits[l] = code << (MAX_BITS - l);
    code <<= 1;
  }
  CUDA_OK(cudaMemcpy(codes, code_table.data(), 1024, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(limit, limits.data(), limits.size() * 4, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(offset, offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(symbols, syms.data(), 256, cudaMemcpyHostToDevice));

  huffman_lengths<<<TILES, BLOCK>>>(data, codes, tile_size);
  scan_tiles<<<1, 1024>>>(tile_size, tile_at, TILES, 32);
  huffman_pack<<<TILES, BLOCK>>>(data, codes, tile_at, packed, seek);
  huffman_decode<<<TILES, 64>>>(packed, tile_at, seek, limit, offset, symbols, (uint32_t *)back);
  CUDA_OK(cudaGetLastError());
  int words;
  CUDA_OK(cudaMemcpy(&words, tile_at + TILES, 4, cudaMemcpyDeviceToHost));
  std::printf("huffman %d -> %d bytes, %016llx, round trip %s\n", SIZE, words * 4, (unsigned long long)hash_bytes(packed, (size_t)words * 4),
              hash_bytes(data, SIZE) == hash_bytes(back, SIZE) ? "equal" : "DIFFERENT");

  rle_count<<<TILES, BLOCK>>>(data, tile_size);
  scan_tiles<<<1, 1024>>>(tile_size, tile_at, TILES, 1);
  rle_emit<<<TILES, BLOCK>>>(data, tile_at, starts, values);
  CUDA_OK(cudaGetLastError());
  int runs;
  CUDA_OK(cudaMemcpy(&runs, tile_at + TILES, 4, cudaMemcpyDeviceToHost));
  std::printf("rle %d runs %016llx %016llx\n", runs, (unsigned long long)hash_bytes(starts, (size_t)runs * 4), (unsigned long long)hash_bytes(values, runs));

  lz_parse<<<(chunks + 63) / 64, 64>>>(data, tokens, n_tokens, chunks);
  CUDA_OK(cudaGetLastError());
  std::printf("lz tokens %016llx counts %016llx\n", (unsigned long long)hash_bytes(tokens, (size_t)SIZE * 4), (unsigned long long)hash_bytes(n_tokens, (size_t)chunks * 4));
  CUDA_OK(cudaDeviceSynchronize());
  return 0;
}
