// Particle-in-cell step: push particles in a field, deposit charge in 8-bit fixed-point weights: straight to global memory, then binned by tile in shared memory.
// Hard for a GPU: scattered atomics, half of the particles crowd into a few clumps, so tiles (and blocks) have very different amounts of work.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>

#define OK(e) do { cudaError_t c_ = (e); if (c_) { fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(c_)); exit(1); } } while (0)

constexpr int GRID = 512;                  // cells a side, periodic
constexpr int TILE = 16;                   // cells a side of a bin
constexpr int BINS = (GRID / TILE) * (GRID / TILE);
constexpr int PARTICLES = 1 << 21;
constexpr uint32_t ONE = 1u << 16;         // positions: 16.16 fixed point in cells
constexpr uint32_t WRAP = GRID * ONE - 1;

struct Particle {
    uint32_t x, y;
    int32_t vx, vy;
};

__device__ inline uint32_t scramble(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

__global__ void create(Particle *p, float2 *field)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t r = scramble(i), q = scramble(r + 0x9e3779b9u);
    Particle n;
    if (i & 1) {
        n.x = r & WRAP;
        n.y = q & WRAP;
    } else {
        // clump: sum of uniform numbers around one of 20 centres
        uint32_t centre = scramble((i >> 1) % 20 + 777);
        n.x = (centre % GRID * ONE + (r & 0xfffff) + (r >> 12 & 0xfffff)) & WRAP;
        n.y = (centre / GRID % GRID * ONE + (q & 0xfffff) + (q >> 12 & 0xfffff)) & WRAP;
    }
    n.vx = (int)(scramble(q) >> 16) - 32768;
    n.vy = (int)(scramble(q + 1) >> 16) - 32768;
    p[i] = n;
    if (i < GRID * GRID) {
        float fx = (i % GRID) * (1.0f / GRID), fy = (i / GRID) * (1.0f / GRID);
        field[i] = make_float2(4000.0f * sinpif(4 * fx) * cospif(2 * fy), -3000.0f * cospif(2 * fx) * sinpif(6 * fy));
    }
}

__device__ inline void weights(uint32_t x, uint32_t y, uint32_t w[4])
{
    uint32_t fx = x >> 8 & 255, fy = y >> 8 & 255;
    w[0] = (256 - fx) * (256 - fy);
    w[1] = fx * (256 - fy);
    w[2] = (256 - fx) * fy;
    w[3] = fx * fy;
}

__global__ void push(Particle *particles, const float2 *__restrict__ field)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 raw = reinterpret_cast<const int4 *>(particles)[i];
    uint32_t x = raw.x, y = raw.y;
    int cx = x / ONE, cy = y / ONE, nx = (cx + 1) % GRID, ny = (cy + 1) % GRID;
    uint32_t w[4];
    weights(x, y, w);
    float2 a = field[cy * GRID + cx], b = field[cy * GRID + nx], c = field[ny * GRID + cx], d = field[ny * GRID + nx];
    const float scale = 1.0f / 65536;
    float ex = (a.x * w[0] + b.x * w[1] + c.x * w[2] + d.x * w[3]) * scale;
    float ey = (a.y * w[0] + b.y * w[1] + c.y * w[2] + d.y * w[3]) * scale;
    raw.z += __float2int_rn(ex);
    raw.w += __float2int_rn(ey);
    raw.x = (x + raw.z) & WRAP;
    raw.y = (y + raw.w) & WRAP;
    reinterpret_cast<int4 *>(particles)[i] = raw;
}

__global__ void deposit_global(const Particle *particles, uint32_t *charge)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x = particles[i].x, y = particles[i].y, w[4];
    int cx = x / ONE, cy = y / ONE, nx = (cx + 1) % GRID, ny = (cy + 1) % GRID;
    weights(x, y, w);
    atomicAdd(&charge[cy * GRID + cx], w[0] >> 4);
    atomicAdd(&charge[cy * GRID + nx], w[1] >> 4);
    atomicAdd(&charge[ny * GRID + cx], w[2] >> 4);
    atomicAdd(&charge[ny * GRID + nx], w[3] >> 4);
}

__device__ inline int bin_of(const Particle &p)
{
    return p.y / (TILE * ONE) * (GRID / TILE) + p.x / (TILE * ONE);
}

__global__ void count_bins(const Particle *particles, uint32_t *count)
{
    __shared__ uint32_t local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < PARTICLES; i += gridDim.x * blockDim.x)
        atomicAdd(&local[bin_of(particles[i])], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (local[b])
            atomicAdd(&count[b], local[b]);
}

__global__ void scan_bins(const uint32_t *count, uint32_t *start, uint32_t *cursor)
{
    __shared__ uint32_t t[BINS];
    int b = threadIdx.x;
    uint32_t own = count[b];
    t[b] = own;
    __syncthreads();
    for (int d = 1; d < BINS; d *= 2) {
        uint32_t add = b >= d ? t[b - d] : 0;
        __syncthreads();
        t[b] += add;
        __syncthreads();
    }
    start[b] = cursor[b] = t[b] - own;
    if (b == BINS - 1)
        start[BINS] = t[b];
}

__global__ void scatter(const Particle *in, uint2 *out, uint32_t *cursor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Particle p = in[i];
    int b = bin_of(p);
    // lanes of the same bin take their places with one atomic
    uint32_t same = __match_any_sync(0xffffffffu, b);
    int lane = threadIdx.x & 31, leader = __ffs(same) - 1;
    uint32_t at = 0;
    if (lane == leader)
        at = atomicAdd(&cursor[b], __popc(same));
    at = __shfl_sync(0xffffffffu, at, leader) + __popc(same & ((1u << lane) - 1));
    out[at] = make_uint2(p.x, p.y);
}

// one block per tile: charges in shared memory with a rim for the neighbours
__global__ void deposit_tiles(const uint2 *pos, const uint32_t *start, uint32_t *charge)
{
    __shared__ uint32_t c[TILE + 1][TILE + 1];
    int b = blockIdx.x, x0 = b % (GRID / TILE) * TILE, y0 = b / (GRID / TILE) * TILE;
    for (int i = threadIdx.x; i < (TILE + 1) * (TILE + 1); i += blockDim.x)
        (&c[0][0])[i] = 0;
    __syncthreads();
    for (uint32_t i = start[b] + threadIdx.x; i < start[b + 1]; i += blockDim.x) {
        uint2 p = pos[i];
        int cx = p.x / ONE - x0, cy = p.y / ONE - y0;
        uint32_t w[4];
        weights(p.x, p.y, w);
        atomicAdd(&c[cy][cx], w[0] >> 4);
        atomicAdd(&c[cy][cx + 1], w[1] >> 4);
        atomicAdd(&c[cy + 1][cx], w[2] >> 4);
        atomicAdd(&c[cy + 1][cx + 1], w[3] >> 4);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (TILE + 1) * (TILE + 1); i += blockDim.x) {
        int x = (x0 + i % (TILE + 1)) % GRID, y = (y0 + i / (TILE + 1)) % GRID;
        uint32_t v = (&c[0][0])[i];
        if (v)
            atomicAdd(&charge[y * GRID + x], v);
    }
}

int main()
{
    Particle *p;
    float2 *field;
    uint32_t *charge[2], *count, *start, *cursor;
    uint2 *pos;
    const size_t cells = GRID * GRID;
    OK(cudaMalloc(&p, PARTICLES * sizeof(Particle)));
    OK(cudaMalloc(&pos, PARTICLES * sizeof(uint2)));
    OK(cudaMalloc(&field, cells * sizeof(float2)));
    OK(cudaMalloc(&charge[0], cells * 4));
    OK(cudaMalloc(&charge[1], cells * 4));
    OK(cudaMalloc(&count, BINS * 4));
    OK(cudaMalloc(&start, (BINS + 1) * 4));
    OK(cudaMalloc(&cursor, BINS * 4));
    OK(cudaMemset(charge[0], 0, cells * 4));
    OK(cudaMemset(charge[1], 0, cells * 4));
    OK(cudaMemset(count, 0, BINS * 4));
    create<<<PARTICLES / 256, 256>>>(p, field);
    for (int step = 0; step < 2; step++)
        push<<<PARTICLES / 128, 128>>>(p, field);
    deposit_global<<<PARTICLES / 256, 256>>>(p, charge[0]);
    OK(cudaGetLastError());
    count_bins<<<132 * 2, 512>>>(p, count);
    scan_bins<<<1, BINS>>>(count, start, cursor);
    scatter<<<PARTICLES / 256, 256>>>(p, pos, cursor);
    deposit_tiles<<<BINS, 128>>>(pos, start, charge[1]);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    std::vector<uint32_t> a(cells), b(cells);
    OK(cudaMemcpy(a.data(), charge[0], cells * 4, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(b.data(), charge[1], cells * 4, cudaMemcpyDeviceToHost));
    uint64_t h = 0xcbf29ce484222325ull, total = 0;
    for (uint32_t v : a) {
        h = (h ^ v) * 0x100000001b3ull;
        total += v;
    }
    printf("charge %016llx total %llu, both ways %s\n", (unsigned long long)h, (unsigned long long)total, a == b ? "equal" : "DIFFERENT");
    OK(cudaFree(p));
    OK(cudaFree(pos));
    OK(cudaFree(field));
    OK(cudaFree(charge[0]));
    OK(cudaFree(charge[1]));
    OK(cudaFree(count));
    OK(cudaFree(start));
    OK(cudaFree(cursor));
    return 0;
}
