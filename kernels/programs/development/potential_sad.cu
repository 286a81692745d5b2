// Direct Coulomb summation on a grid slice, cutoff pair energies with a cell
// grid, and sums of absolute differences for motion estimation.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CUDA_CALL(x) do { cudaError_t err = (x); if (err != cudaSuccess) { \
    fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(err), __FILE__, __LINE__); \
    exit(EXIT_FAILURE); } } while (0)

static uint64_t fnv(const void *data, size_t bytes)
{
    const uint8_t *p = static_cast<const uint8_t *>(data);
    uint64_t h = 14695981039346656037ull;
    for (size_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * 1099511628211ull;
    return h;
}

static uint32_t seed = 12345;
static float urand() { seed = seed * 1103515245u + 12345u; return ((seed >> 9) & 0x3fffff) * (1.0f / 4194304.0f); }

// ------------------------------------------------------ direct Coulomb sum
#define MAXATOMS 320
__constant__ float4 c_atoms[MAXATOMS];

// straightforward: one grid point per thread, atoms in global memory
__global__ void dcs_naive(const float4 *atoms, int natoms, float *grid, int nx, int ny,
                          float spacing, float z)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    float px = x * spacing, py = y * spacing;
    float e = 0.0f;
    for (int a = 0; a < natoms; a++) {
        float4 at = atoms[a];
        float dx = px - at.x, dy = py - at.y, dz = z - at.z;
        e += at.w / sqrtf(dx * dx + dy * dy + dz * dz);
    }
    grid[y * nx + x] += e;
}

// 8 points per thread along x, atoms in constant memory, z part precomputed
#define UNROLLX 8
#define BLOCKX 16
#define BLOCKY 8
__global__ void dcs_unrolled(int natoms, float *grid, int nx, float spacing)
{
    int x = blockIdx.x * BLOCKX * UNROLLX + threadIdx.x;
    int y = blockIdx.y * BLOCKY + threadIdx.y;
    float px = spacing * x, py = spacing * y;
    float e[UNROLLX];
#pragma unroll
    for (int u = 0; u < UNROLLX; u++) e[u] = 0.0f;
    for (int a = 0; a < natoms; a++) {
        float dy = py - c_atoms[a].y;
        float r2 = dy * dy + c_atoms[a].z;
        float dx = px - c_atoms[a].x;
#pragma unroll
        for (int u = 0; u < UNROLLX; u++) {
            e[u] += c_atoms[a].w * rsqrtf(dx * dx + r2);
            dx += spacing * BLOCKX;
        }
    }
#pragma unroll
    for (int u = 0; u < UNROLLX; u++) grid[y * nx + x + u * BLOCKX] += e[u];
}

// ------------------------------------------------------ cutoff pairs
#define CELLCAP 12
__global__ void bin_atoms(const float4 *atoms, int n, int nc, float inv, int *count, int *cell_of)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = atoms[i];
    int cx = min((int)(a.x * inv), nc - 1), cy = min((int)(a.y * inv), nc - 1), cz = min((int)(a.z * inv), nc - 1);
    int c = (cz * nc + cy) * nc + cx;
    cell_of[i] = c;
    atomicAdd(&count[c], 1);
}

__global__ void cutoff_energy(const float4 *atoms, const int *start, int n, int nc,
                              const int *cell_of, float rc2, float *energy, int *nbr)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = atoms[i];
    int c = cell_of[i];
    int cx = c % nc, cy = (c / nc) % nc, cz = c / (nc * nc);
    float e = 0.0f;
    int cnt = 0;
    for (int z = max(cz - 1, 0); z <= min(cz + 1, nc - 1); z++)
        for (int y = max(cy - 1, 0); y <= min(cy + 1, nc - 1); y++)
            for (int x = max(cx - 1, 0); x <= min(cx + 1, nc - 1); x++) {
                int cc = (z * nc + y) * nc + x;
                for (int j = start[cc]; j < start[cc + 1]; j++) {
                    if (j == i) continue;
                    float4 b = atoms[j];
                    float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
                    float r2 = dx * dx + dy * dy + dz * dz;
                    if (r2 < rc2) {
                        float s = 1.0f - r2 / rc2;
                        e += a.w * b.w * s * s / sqrtf(r2 + 1e-4f);
                        cnt++;
                    }
                }
            }
    energy[i] = e;
    nbr[i] = cnt;
}

// ------------------------------------------------------ SAD
#define SRANGE 8
#define SDIM (2 * SRANGE + 1)
#define NPOS (SDIM * SDIM)

// one thread block per 4x4 image block, one thread per search position (strided)
__global__ void sad_4x4(const uint8_t *cur, const uint8_t *ref, int w, int h, uint16_t *sad)
{
    __shared__ uint8_t blk[16];
    int bx = blockIdx.x * 4, by = blockIdx.y * 4;
    int bid = blockIdx.y * gridDim.x + blockIdx.x;
    if (threadIdx.x < 16)
        blk[threadIdx.x] = cur[(by + threadIdx.x / 4) * w + bx + threadIdx.x % 4];
    __syncthreads();
    for (int p = threadIdx.x; p < NPOS; p += blockDim.x) {
        int ox = p % SDIM - SRANGE, oy = p / SDIM - SRANGE;
        int s = 0;
#pragma unroll
        for (int y = 0; y < 4; y++) {
            int yy = min(max(by + y + oy, 0), h - 1);
#pragma unroll
            for (int x = 0; x < 4; x++) {
                int xx = min(max(bx + x + ox, 0), w - 1);
                s += abs((int)blk[y * 4 + x] - (int)ref[yy * w + xx]);
            }
        }
        sad[(size_t)bid * NPOS + p] = (uint16_t)s;
    }
}

// combine 2x2 smaller blocks
__global__ void sad_merge(const uint16_t *in, int bw, uint16_t *out, int ow)
{
    int ob = blockIdx.y * ow + blockIdx.x;
    size_t b00 = (size_t)(2 * blockIdx.y * bw + 2 * blockIdx.x) * NPOS;
    for (int p = threadIdx.x; p < NPOS; p += blockDim.x) {
        int s = in[b00 + p] + in[b00 + NPOS + p] + in[b00 + (size_t)bw * NPOS + p] +
                in[b00 + (size_t)(bw + 1) * NPOS + p];
        out[(size_t)ob * NPOS + p] = (uint16_t)min(s, 65535);
    }
}

__global__ void best_vector(const uint16_t *sad, int nblk, uint32_t *best)
{
    // one warp per block of pixels
    int wid = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (wid >= nblk) return;
    uint32_t m = 0xffffffffu;
    for (int p = lane; p < NPOS; p += 32)
        m = min(m, ((uint32_t)sad[(size_t)wid * NPOS + p] << 16) | (uint32_t)p);
    for (int o = 16; o > 0; o >>= 1) m = min(m, __shfl_xor_sync(0xffffffffu, m, o));
    if (lane == 0) best[wid] = m;
}

static void run_coulomb()
{
    const int nx = 640, ny = 360, natoms = 270, nslices = 2;
    const float spacing = 0.1f;
    std::vector<float4> at(natoms), pre(natoms);
    for (auto &a : at) a = make_float4(urand() * nx * spacing, urand() * ny * spacing, 1.0f + urand() * 8, urand() - 0.5f);
    float4 *d_at;
    float *d_grid, *d_grid2;
    CUDA_CALL(cudaMalloc(&d_at, natoms * sizeof(float4)));
    CUDA_CALL(cudaMalloc(&d_grid, nx * ny * sizeof(float)));
    CUDA_CALL(cudaMalloc(&d_grid2, nx * ny * sizeof(float)));
    CUDA_CALL(cudaMemcpy(d_at, at.data(), natoms * sizeof(float4), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemset(d_grid, 0, nx * ny * sizeof(float)));
    CUDA_CALL(cudaMemset(d_grid2, 0, nx * ny * sizeof(float)));
    dcs_naive<<<dim3((nx + 31) / 32, (ny + 3) / 4), dim3(32, 4)>>>(d_at, natoms, d_grid, nx, ny, spacing, 0.3f);
    CUDA_CALL(cudaGetLastError());
    for (int s = 0; s < nslices; s++) {
        float z = 0.3f + 0.2f * s;
        for (int i = 0; i < natoms; i++) {
            pre[i] = at[i];
            pre[i].z = (z - at[i].z) * (z - at[i].z);
        }
        CUDA_CALL(cudaMemcpyToSymbol(c_atoms, pre.data(), natoms * sizeof(float4)));
        dcs_unrolled<<<dim3(nx / (BLOCKX * UNROLLX), ny / BLOCKY), dim3(BLOCKX, BLOCKY)>>>(natoms, d_grid2, nx, spacing);
        CUDA_CALL(cudaGetLastError());
    }
    std::vector<float> g(nx * ny), g2(nx * ny);
    CUDA_CALL(cudaMemcpy(g.data(), d_grid, g.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaMemcpy(g2.data(), d_grid2, g2.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double s2 = 0;
    for (float v : g2) s2 += v;
    printf("coulomb: naive %016llx  unrolled sum %.3e\n", (unsigned long long)fnv(g.data(), g.size() * sizeof(float)), s2);
    cudaFree(d_at); cudaFree(d_grid); cudaFree(d_grid2);
}

static void run_cutoff()
{
    const int n = 61000, nc = 23;
    const float box = 46.0f, rc = 2.0f, inv = nc / box;
    std::vector<float4> at(n);
    for (auto &a : at) a = make_float4(urand() * box, urand() * box, urand() * box, (float)((seed >> 20) % 5) * 0.2f - 0.4f);
    auto cell = [&](const float4 &a) {
        int cx = std::min((int)(a.x * inv), nc - 1), cy = std::min((int)(a.y * inv), nc - 1), cz = std::min((int)(a.z * inv), nc - 1);
        return (cz * nc + cy) * nc + cx;
    };
    std::stable_sort(at.begin(), at.end(), [&](const float4 &a, const float4 &b) { return cell(a) < cell(b); });
    const int ncell = nc * nc * nc;
    float4 *d_at;
    int *d_cnt, *d_cell, *d_nbr;
    float *d_e;
    CUDA_CALL(cudaMalloc(&d_at, n * sizeof(float4)));
    CUDA_CALL(cudaMalloc(&d_cnt, (ncell + 1) * sizeof(int)));
    CUDA_CALL(cudaMalloc(&d_cell, n * sizeof(int)));
    CUDA_CALL(cudaMalloc(&d_nbr, n * sizeof(int)));
    CUDA_CALL(cudaMalloc(&d_e, n * sizeof(float)));
    CUDA_CALL(cudaMemcpy(d_at, at.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemset(d_cnt, 0, (ncell + 1) * sizeof(int)));
    bin_atoms<<<(n + 255) / 256, 256>>>(d_at, n, nc, inv, d_cnt, d_cell);
    CUDA_CALL(cudaGetLastError());
    std::vector<int> cnt(ncell + 1);
    CUDA_CALL(cudaMemcpy(cnt.data(), d_cnt, cnt.size() * sizeof(int), cudaMemcpyDeviceToHost));
    int run = 0, over = 0;
    for (int c = 0; c <= ncell; c++) { int t = cnt[c]; over += t > CELLCAP; cnt[c] = run; run += t; }
    CUDA_CALL(cudaMemcpy(d_cnt, cnt.data(), cnt.size() * sizeof(int), cudaMemcpyHostToDevice));
    cutoff_energy<<<(n + 95) / 96, 96>>>(d_at, d_cnt, n, nc, d_cell, rc * rc, d_e, d_nbr);
    CUDA_CALL(cudaGetLastError());
    std::vector<float> e(n);
    std::vector<int> nb(n);
    CUDA_CALL(cudaMemcpy(e.data(), d_e, n * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaMemcpy(nb.data(), d_nbr, n * sizeof(int), cudaMemcpyDeviceToHost));
    long long pairs = 0;
    for (int v : nb) pairs += v;
    printf("cutoff: pairs %lld cells over %d energy %016llx\n", pairs / 2, over, (unsigned long long)fnv(e.data(), n * sizeof(float)));
    cudaFree(d_at); cudaFree(d_cnt); cudaFree(d_cell); cudaFree(d_nbr); cudaFree(d_e);
}

static void run_sad()
{
    const int w = 496, h = 304;
    std::vector<uint8_t> cur(w * h), ref(w * h);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) ref[y * w + x] = (uint8_t)((x * x / 50 + y * 3 + (int)(urand() * 40)) & 255);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            cur[y * w + x] = ref[std::min(y + 2 + x / 240, h - 1) * w + std::max(x - 3 - y / 200, 0)];
    const int bw = w / 4, bh = h / 4, nb = bw * bh;
    const int bw8 = bw / 2, bh8 = bh / 2, bw16 = bw8 / 2, bh16 = bh8 / 2;
    uint8_t *d_cur, *d_ref;
    uint16_t *d4, *d8, *d16;
    uint32_t *d_best;
    CUDA_CALL(cudaMalloc(&d_cur, w * h));
    CUDA_CALL(cudaMalloc(&d_ref, w * h));
    CUDA_CALL(cudaMalloc(&d4, (size_t)nb * NPOS * 2));
    CUDA_CALL(cudaMalloc(&d8, (size_t)bw8 * bh8 * NPOS * 2));
    CUDA_CALL(cudaMalloc(&d16, (size_t)bw16 * bh16 * NPOS * 2));
    CUDA_CALL(cudaMalloc(&d_best, nb * sizeof(uint32_t)));
    CUDA_CALL(cudaMemcpy(d_cur, cur.data(), w * h, cudaMemcpyHostToDevice));
    CUDA_CALL(cudaMemcpy(d_ref, ref.data(), w * h, cudaMemcpyHostToDevice));
    sad_4x4<<<dim3(bw, bh), 96>>>(d_cur, d_ref, w, h, d4);
    sad_merge<<<dim3(bw8, bh8), 128>>>(d4, bw, d8, bw8);
    sad_merge<<<dim3(bw16, bh16), 128>>>(d8, bw8, d16, bw16);
    CUDA_CALL(cudaGetLastError());
    const uint16_t *lv[3] = {d4, d8, d16};
    const int cnt[3] = {nb, bw8 * bh8, bw16 * bh16};
    std::vector<uint32_t> best(nb);
    for (int l = 0; l < 3; l++) {
        best_vector<<<(cnt[l] + 7) / 8, 256>>>(lv[l], cnt[l], d_best);
        CUDA_CALL(cudaGetLastError());
        CUDA_CALL(cudaMemcpy(best.data(), d_best, cnt[l] * sizeof(uint32_t), cudaMemcpyDeviceToHost));
        printf("sad level %d: %d blocks %016llx\n", 4 << l, cnt[l], (unsigned long long)fnv(best.data(), cnt[l] * sizeof(uint32_t)));
    }
    cudaFree(d_cur); cudaFree(d_ref); cudaFree(d4); cudaFree(d8); cudaFree(d16); cudaFree(d_best);
}

int main()
{
    run_coulomb();
    run_cutoff();
    run_sad();
    CUDA_CALL(cudaDeviceSynchronize());
    return 0;
}
