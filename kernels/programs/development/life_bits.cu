// Cellular automata with bit tricks:
//   - Game of Life, 32 cells per word, naive and temporally blocked (8 steps per launch)
//   - Brian's Brain on bytes, 2 steps per launch, shared tile with halo
//   - HPP lattice gas on four bit planes
//   - elementary 1D automata, one ring per warp
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>
#include <cuda_runtime.h>

#define OK(e) do { cudaError_t r = (e); if (r) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorName(r)); exit(1); } } while (0)

typedef uint32_t W;

// ------------------------------------------------------------------ Life
const int LW = 255, LH = 6133;      // words x rows, torus

// bit 0 is the leftmost cell of a word
__host__ __device__ inline W leftOf(W l, W c)  { return (c << 1) | (l >> 31); }
__host__ __device__ inline W rightOf(W c, W r) { return (c >> 1) | (r << 31); }
__host__ __device__ inline W maj(W a, W b, W c) { return (a & b) | (c & (a ^ b)); }

__host__ __device__ inline W lifeRule(W al, W a, W ar, W cl, W c, W cr, W bl, W b, W br)
{
    W x = leftOf(al, a), y = rightOf(a, ar);
    W a0 = x ^ a ^ y, a1 = maj(x, a, y);
    x = leftOf(bl, b); y = rightOf(b, br);
    W b0 = x ^ b ^ y, b1 = maj(x, b, y);
    x = leftOf(cl, c); y = rightOf(c, cr);
    W m0 = x ^ y, m1 = x & y;
    W ones = a0 ^ b0 ^ m0, c1 = maj(a0, b0, m0);
    W single = (a1 ^ b1 ^ m1 ^ c1) & ~(a1 & b1) & ~(m1 & c1);   // exactly one "two"
    return single & (ones | c);
}

__global__ void lifeNaive(const W *in, W *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= LW || y >= LH) return;
    int xl = (x + LW - 1) % LW, xr = (x + 1) % LW;
    const W *a = in + (size_t)((y + LH - 1) % LH) * LW, *c = in + (size_t)y * LW, *b = in + (size_t)((y + 1) % LH) * LW;
    out[(size_t)y * LW + x] = lifeRule(a[xl], a[x], a[xr], c[xl], c[x], c[xr], b[xl], b[x], b[xr]);
}

const int TS = 8;                   // steps per launch
const int TROWS = 64;               // rows in shared memory, 48 of them stay valid
const int TOUT = TROWS - 2 * TS;

__global__ void __launch_bounds__(256) lifeBlocked(const W *__restrict__ in, W *__restrict__ out)
{
    __shared__ W buf[2][TROWS][34];   // one empty column on each side
    int tx = threadIdx.x, ty = threadIdx.y;
    int gx = (blockIdx.x * 30 + tx + LW - 1) % LW;
    int y0 = blockIdx.y * TOUT - TS;
    for (int r = ty; r < TROWS; r += 8) {
        int gy = (y0 + r + LH) % LH;
        buf[0][r][tx + 1] = in[(size_t)gy * LW + gx];
        if (tx == 0) buf[0][r][0] = buf[0][r][33] = buf[1][r][0] = buf[1][r][33] = 0;
    }
    __syncthreads();
    int cur = 0;
    for (int s = 1; s <= TS; s++) {
        for (int r = ty; r < TROWS; r += 8) {
            if (r < s || r >= TROWS - s) continue;
            W (*p)[34] = &buf[cur][r - 1];
            buf[cur ^ 1][r][tx + 1] = lifeRule(p[0][tx], p[0][tx + 1], p[0][tx + 2], p[1][tx], p[1][tx + 1], p[1][tx + 2],
                                               p[2][tx], p[2][tx + 1], p[2][tx + 2]);
        }
        __syncthreads();
        cur ^= 1;
    }
    int ox = blockIdx.x * 30 + tx - 1;
    if (tx == 0 || tx == 31 || ox >= LW) return;
    for (int r = TS + ty; r < TROWS - TS; r += 8) {
        int oy = y0 + r;
        if (oy < LH) out[(size_t)oy * LW + ox] = buf[cur][r][tx + 1];
    }
}

__global__ void population(const W *in, size_t n, unsigned long long *total)
{
    unsigned c = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) c += __popc(in[i]);
    c = __reduce_add_sync(0xffffffffu, c);
    if (threadIdx.x % 32 == 0) atomicAdd(total, (unsigned long long)c);
}

// ------------------------------------------------------------------ Brian's Brain
const int BW = 1501, BH = 1097;
enum { OFF = 0, ON = 1, DYING = 2 };
__global__ void brain2(const uint8_t *in, uint8_t *out)
{
    const int TX = 32, TY = 16;
    __shared__ uint8_t a[TY + 4][TX + 4];
    __shared__ uint8_t b[TY + 2][TX + 2];
    int bx = blockIdx.x * TX, by = blockIdx.y * TY, tid = threadIdx.y * TX + threadIdx.x;
    for (int i = tid; i < (TY + 4) * (TX + 4); i += TX * TY) {
        int y = i / (TX + 4), x = i % (TX + 4);
        a[y][x] = in[(by + y - 2 + BH) % BH * BW + (bx + x - 2 + BW) % BW];
    }
    __syncthreads();
    for (int i = tid; i < (TY + 2) * (TX + 2); i += TX * TY) {
        int y = i / (TX + 2), x = i % (TX + 2), n = 0;
        for (int dy = 0; dy < 3; dy++)
            for (int dx = 0; dx < 3; dx++) n += a[y + dy][x + dx] == ON;
        uint8_t c = a[y + 1][x + 1];
        b[y][x] = c == ON ? DYING : c == DYING ? OFF : (n == 2 ? ON : OFF);
    }
    __syncthreads();
    int x = bx + threadIdx.x, y = by + threadIdx.y, n = 0;
    if (x >= BW || y >= BH) return;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) n += b[threadIdx.y + dy][threadIdx.x + dx] == ON;
    uint8_t c = b[threadIdx.y + 1][threadIdx.x + 1];
    out[y * BW + x] = c == ON ? DYING : c == DYING ? OFF : (n == 2 ? ON : OFF);
}

// ------------------------------------------------------------------ HPP lattice gas
const int GW = 211, GH = 3001;
struct Gas { W *n, *e, *s, *w; };
struct Cell { W n, e, s, w; };
__device__ inline Cell collide(const Gas &g, int x, int y)
{
    size_t i = (size_t)y * GW + x;
    Cell c = {g.n[i], g.e[i], g.s[i], g.w[i]};
    W flip = (c.n & c.s & ~c.e & ~c.w) | (c.e & c.w & ~c.n & ~c.s);   // head-on pairs turn by 90 degrees
    c.n ^= flip; c.e ^= flip; c.s ^= flip; c.w ^= flip;
    return c;
}
// pull scheme, recomputes the collision of each neighbour
__global__ void hpp(Gas in, Gas out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= GW) return;
    int xl = x == 0 ? GW - 1 : x - 1, xr = x == GW - 1 ? 0 : x + 1, yu = y == 0 ? GH - 1 : y - 1, yd = y == GH - 1 ? 0 : y + 1;
    Cell c = collide(in, x, y);
    size_t i = (size_t)y * GW + x;
    out.n[i] = collide(in, x, yd).n;                       // moving up comes from below
    out.s[i] = collide(in, x, yu).s;
    out.e[i] = leftOf(collide(in, xl, y).e, c.e);          // moving right comes from the left
    out.w[i] = rightOf(c.w, collide(in, xr, y).w);
}

// ------------------------------------------------------------------ elementary rules
const int RINGS = 700, RSTEPS = 160;
__global__ void elementary(W *rings, int n)
{
    int ring = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (ring >= n) return;                                 // whole warps only
    unsigned rule = (ring * 37 + 30) & 255;
    W c = rings[ring * 32 + lane];
    for (int t = 0; t < RSTEPS; t++) {
        W l = leftOf(__shfl_sync(0xffffffffu, c, (lane + 31) & 31), c);
        W r = rightOf(c, __shfl_sync(0xffffffffu, c, (lane + 1) & 31));
        W o = 0;
        for (int k = 0; k < 8; k++) {
            if (!(rule >> k & 1)) continue;
            o |= (k & 4 ? l : ~l) & (k & 2 ? c : ~c) & (k & 1 ? r : ~r);
        }
        c = o;
    }
    rings[ring * 32 + lane] = c;
}

static unsigned long long fnv(const void *p, size_t n)
{
    unsigned long long h = 14695981039346656037ull;
    for (size_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)p)[i]) * 1099511628211ull;
    return h;
}
static uint64_t seed = 1;
static uint32_t rnd() { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; return (uint32_t)(seed >> 24); }

int main()
{
    seed = 0x2545F4914F6CDD1Dull;
    {
        const size_t n = (size_t)LW * LH;
        std::vector<W> h(n), r1(n), r2(n);
        for (W &v : h) v = rnd() & rnd();
        W *a, *b, *start;
        unsigned long long *pop, hpop;
        OK(cudaMalloc(&a, n * 4)); OK(cudaMalloc(&b, n * 4)); OK(cudaMalloc(&start, n * 4)); OK(cudaMalloc(&pop, 8));
        OK(cudaMemcpy(start, h.data(), n * 4, cudaMemcpyHostToDevice));
        OK(cudaMemcpy(a, start, n * 4, cudaMemcpyDeviceToDevice));
        dim3 nb(64, 4), ng((LW + 63) / 64, (LH + 3) / 4);
        for (int s = 0; s < TS; s++) { lifeNaive<<<ng, nb>>>(a, b); W *t = a; a = b; b = t; }
        OK(cudaGetLastError());
        OK(cudaMemcpy(r1.data(), a, n * 4, cudaMemcpyDeviceToHost));
        OK(cudaMemcpy(a, start, n * 4, cudaMemcpyDeviceToDevice));
        dim3 tb(32, 8), tg((LW + 29) / 30, (LH + TOUT - 1) / TOUT);
        for (int l = 0; l < 4; l++) {
            lifeBlocked<<<tg, tb>>>(a, b);
            OK(cudaGetLastError());
            W *t = a; a = b; b = t;
            if (l == 0) {
                OK(cudaMemcpy(r2.data(), a, n * 4, cudaMemcpyDeviceToHost));
                printf("life %d steps: %016llx %s\n", TS, fnv(r2.data(), n * 4), r1 == r2 ? "ok" : "mismatch");
            }
        }
        OK(cudaMemset(pop, 0, 8));
        population<<<132, 512>>>(a, n, pop);
        OK(cudaGetLastError());
        OK(cudaMemcpy(&hpop, pop, 8, cudaMemcpyDeviceToHost));
        OK(cudaMemcpy(r2.data(), a, n * 4, cudaMemcpyDeviceToHost));
        printf("life %d steps: %016llx alive %llu\n", 4 * TS, fnv(r2.data(), n * 4), hpop);
        OK(cudaFree(a)); OK(cudaFree(b)); OK(cudaFree(start)); OK(cudaFree(pop));
    }
    {
        const int n = BW * BH;
        std::vector<uint8_t> h(n);
        for (uint8_t &v : h) { unsigned r = rnd() % 10; v = r < 2 ? ON : r == 2 ? DYING : OFF; }
        uint8_t *a, *b;
        OK(cudaMalloc(&a, n)); OK(cudaMalloc(&b, n));
        OK(cudaMemcpy(a, h.data(), n, cudaMemcpyHostToDevice));
        dim3 bl(32, 16), gr((BW + 31) / 32, (BH + 15) / 16);
        for (int l = 0; l < 4; l++) { brain2<<<gr, bl>>>(a, b); uint8_t *t = a; a = b; b = t; }
        OK(cudaGetLastError());
        OK(cudaMemcpy(h.data(), a, n, cudaMemcpyDeviceToHost));
        int c[3] = {0, 0, 0};
        for (uint8_t v : h) c[v]++;
        printf("brain: %d %d %d %016llx\n", c[0], c[1], c[2], fnv(h.data(), n));
        OK(cudaFree(a)); OK(cudaFree(b));
    }
    {
        const size_t n = (size_t)GW * GH;
        std::vector<W> h(4 * n);
        for (size_t i = 0; i < h.size(); i++) {
            int y = (int)(i % n / GW), x = (int)(i % GW);
            bool dense = x > 80 && x < 130 && y > 1100 && y < 1900;
            h[i] = dense ? rnd() | rnd() : rnd() & rnd() & rnd();
        }
        W *m;
        unsigned long long *pop, p0, p1;
        OK(cudaMalloc(&m, 8 * n * 4)); OK(cudaMalloc(&pop, 16));
        OK(cudaMemset(pop, 0, 16));
        OK(cudaMemcpy(m, h.data(), 4 * n * 4, cudaMemcpyHostToDevice));
        Gas A = {m, m + n, m + 2 * n, m + 3 * n}, B = {m + 4 * n, m + 5 * n, m + 6 * n, m + 7 * n};
        population<<<100, 256>>>(m, 4 * n, pop);
        for (int s = 0; s < 12; s++) { hpp<<<dim3((GW + 127) / 128, GH), 128>>>(A, B); Gas t = A; A = B; B = t; }
        population<<<100, 256>>>(A.n, 4 * n, pop + 1);
        OK(cudaGetLastError());
        OK(cudaMemcpy(&p0, pop, 8, cudaMemcpyDeviceToHost)); OK(cudaMemcpy(&p1, pop + 1, 8, cudaMemcpyDeviceToHost));
        OK(cudaMemcpy(h.data(), A.n, 4 * n * 4, cudaMemcpyDeviceToHost));
        printf("hpp: particles %llu %016llx %s\n", p1, fnv(h.data(), 4 * n * 4), p0 == p1 ? "ok" : "mismatch");
        OK(cudaFree(m)); OK(cudaFree(pop));
    }
    {
        std::vector<W> h(RINGS * 32), ref;
        for (W &v : h) v = rnd();
        ref = h;
        W *d;
        OK(cudaMalloc(&d, h.size() * 4));
        OK(cudaMemcpy(d, h.data(), h.size() * 4, cudaMemcpyHostToDevice));
        elementary<<<(RINGS * 32 + 159) / 160, 160>>>(d, RINGS);
        OK(cudaGetLastError());
        OK(cudaMemcpy(h.data(), d, h.size() * 4, cudaMemcpyDeviceToHost));
        bool good = true;
        for (int ring = 0; ring < RINGS; ring += 99) {
            std::vector<int> c(1024), q(1024);
            unsigned rule = (ring * 37 + 30) & 255;
            for (int i = 0; i < 1024; i++) c[i] = ref[ring * 32 + i / 32] >> (i % 32) & 1;
            for (int t = 0; t < RSTEPS; t++) {
                for (int i = 0; i < 1024; i++) q[i] = rule >> (c[(i + 1023) % 1024] * 4 + c[i] * 2 + c[(i + 1) % 1024]) & 1;
                c.swap(q);
            }
            for (int i = 0; i < 1024; i++) good = good && c[i] == (int)(h[ring * 32 + i / 32] >> (i % 32) & 1);
        }
        printf("rings: %016llx %s\n", fnv(h.data(), h.size() * 4), good ? "ok" : "mismatch");
        OK(cudaFree(d));
    }
    return 0;
}
