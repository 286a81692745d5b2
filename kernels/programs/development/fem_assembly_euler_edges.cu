// Unstructured mesh: stiffness matrix assembly by element (atomicAdd on doubles into CSR), CSR SpMV, and edge-based Euler fluxes scattered to nodes.
// Hard for a GPU: indirect gathers and double atomics with renumbered nodes, row searches of different lengths, double-precision division and sqrt.
// Contributions are snapped to a power-of-two grid, so the atomic sums are exact in any order.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cstring>
#include <vector>
#include <algorithm>

constexpr int NX = 401, NY = 397;
constexpr int NODES = NX * NY;
constexpr int ELEMENTS = 2 * (NX - 1) * (NY - 1);
constexpr int NVAR = 4;
constexpr double GAMMA = 1.4;

static void check(cudaError_t e, const char *what)
{
    if (e == cudaSuccess) return;
    std::fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(e));
    std::exit(2);
}
#define CK(x) check((x), #x)

__device__ __forceinline__ double snap(double v)
{
    return rint(v * 4294967296.0) * (1.0 / 4294967296.0);
}

// P1 triangles, array-of-structures connectivity as a mesh generator would leave it
struct Tri { int n[3]; };

__global__ void assemble_stiffness(const Tri *__restrict__ tris, const double2 *__restrict__ xy, const int *__restrict__ rowptr,
                                   const int *__restrict__ colind, double *__restrict__ val, double *__restrict__ rhs, int ne)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= ne) return;
    Tri t = tris[e];
    double2 p[3];
#pragma unroll
    for (int k = 0; k < 3; k++) p[k] = xy[t.n[k]];
    double b[3], c[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        b[k] = p[i].y - p[j].y;
        c[k] = p[j].x - p[i].x;
    }
    double area2 = fabs(b[0] * c[1] - b[1] * c[0]);
    double inv = 0.5 / area2;
    double kappa = 1.0 + 0.5 * (p[0].x + p[1].x + p[2].x) / NX;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        int lo = rowptr[t.n[i]], end = rowptr[t.n[i] + 1];
#pragma unroll
        for (int j = 0; j < 3; j++) {
            // columns of a row are sorted
            int l = lo, h = end;
            while (l < h) {
                int m = (l + h) >> 1;
                if (colind[m] < t.n[j]) l = m + 1;
                else h = m;
            }
            atomicAdd(&val[l], snap(kappa * (b[i] * b[j] + c[i] * c[j]) * inv));
        }
        atomicAdd(&rhs[t.n[i]], snap(area2 / 6.0));
    }
}

// four lanes per row
__global__ void spmv_csr_vector4(const int *__restrict__ rowptr, const int *__restrict__ colind, const double *__restrict__ val,
                                 const double *__restrict__ x, double *__restrict__ y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 2;
    int lane = threadIdx.x & 3;
    double s = 0;
    if (row < n)
        for (int k = rowptr[row] + lane; k < rowptr[row + 1]; k += 4) s += val[k] * __ldg(&x[colind[k]]);
    s += __shfl_xor_sync(0xffffffffu, s, 1);
    s += __shfl_xor_sync(0xffffffffu, s, 2);
    if (row < n && lane == 0) y[row] = s;
}

__global__ void init_state(double *q, double *r, const double2 *xy, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double dx = xy[i].x - 0.5 * NX, dy = xy[i].y - 0.5 * NY;
    double rr = (dx * dx + dy * dy) * (1.0 / 2500.0);
    double pressure = rr < 1.0 ? 2.0 : 1.0;
    double rho = rr < 1.0 ? 1.5 : 1.0;
    double u = 0.25, v = 0.125;
    q[0 * n + i] = rho;
    q[1 * n + i] = rho * u;
    q[2 * n + i] = rho * v;
    q[3 * n + i] = pressure / (GAMMA - 1) + 0.5 * rho * (u * u + v * v);
    for (int k = 0; k < NVAR; k++) r[k * n + i] = 0;
}

__device__ inline void physical_flux(const double q[NVAR], double nx, double ny, double f[NVAR], double &un, double &a)
{
    double ir = 1.0 / q[0];
    double u = q[1] * ir, v = q[2] * ir;
    double p = (GAMMA - 1) * (q[3] - 0.5 * (q[1] * u + q[2] * v));
    un = u * nx + v * ny;
    a = sqrt(GAMMA * p * ir);
    f[0] = q[0] * un;
    f[1] = q[1] * un + p * nx;
    f[2] = q[2] * un + p * ny;
    f[3] = (q[3] + p) * un;
}

// Rusanov flux for every edge, residual scattered to both end nodes
__global__ void __launch_bounds__(192) edge_flux(const int2 *__restrict__ edges, const double2 *__restrict__ normal,
                                                 const double *__restrict__ q, double *__restrict__ res, int n, int m)
{
    int e = blockIdx.x * 192 + threadIdx.x;
    if (e >= m) return;
    int2 ab = edges[e];
    double2 nn = normal[e];
    double len = sqrt(nn.x * nn.x + nn.y * nn.y);
    double nx = nn.x / len, ny = nn.y / len;
    double ql[NVAR], qr[NVAR], fl[NVAR], fr[NVAR];
#pragma unroll
    for (int k = 0; k < NVAR; k++) {
        ql[k] = q[k * n + ab.x];
        qr[k] = q[k * n + ab.y];
    }
    double ul, ur, al, ar;
    physical_flux(ql, nx, ny, fl, ul, al);
    physical_flux(qr, nx, ny, fr, ur, ar);
    double lam = fmax(fabs(ul) + al, fabs(ur) + ar);
#pragma unroll
    for (int k = 0; k < NVAR; k++) {
        double f = snap(0.5 * len * (fl[k] + fr[k] - lam * (qr[k] - ql[k])));
        atomicAdd(&res[k * n + ab.x], -f);
        atomicAdd(&res[k * n + ab.y], f);
    }
}

__global__ void update_state(double *q, double *res, const unsigned char *boundary, double dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool fixed = boundary[i];
    for (int k = 0; k < NVAR; k++) {
        if (!fixed) q[k * n + i] += dt * res[k * n + i];
        res[k * n + i] = 0;
    }
}

static unsigned rnd(unsigned &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }

static unsigned long long hash_doubles(const double *d, size_t n)
{
    std::vector<double> h(n);
    CK(cudaMemcpy(h.data(), d, n * 8, cudaMemcpyDeviceToHost));
    unsigned long long s = 0;
    for (double v : h) {
        unsigned long long b;
        std::memcpy(&b, &v, 8);
        if (v == 0) b = 0;
        s = (s ^ b) * 0x9E3779B97F4A7C15ull;
        s ^= s >> 29;
    }
    return s;
}

template <class T>
static T *upload(const std::vector<T> &v)
{
    T *d;
    CK(cudaMalloc(&d, v.size() * sizeof(T)));
    CK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}

int main()
{
    // renumber the nodes by shuffling within windows of 512: local disorder, like a poor mesh ordering
    std::vector<int> number(NODES);
    unsigned s = 2463534242u;
    for (int i = 0; i < NODES; i++) number[i] = i;
    for (int w = 0; w < NODES; w += 512)
        for (int i = std::min(511, NODES - 1 - w); i > 0; i--) std::swap(number[w + i], number[w + rnd(s) % (i + 1)]);
    std::vector<double2> xy(NODES);
    std::vector<unsigned char> boundary(NODES);
    std::vector<double> x(NODES);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            int k = number[j * NX + i];
            xy[k] = make_double2(i + (rnd(s) % 1024) / 4096.0, j + (rnd(s) % 1024) / 4096.0);
            boundary[k] = i == 0 || j == 0 || i == NX - 1 || j == NY - 1;
            x[k] = (rnd(s) % 4096) / 4096.0;
        }
    std::vector<Tri> tris;
    std::vector<int2> edges;
    std::vector<double2> normals;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            int a = number[j * NX + i];
            auto edge = [&](int b, double nx, double ny) { edges.push_back(make_int2(a, b)); normals.push_back(make_double2(nx, ny)); };
            if (i + 1 < NX) edge(number[j * NX + i + 1], 0.625, 0.0);
            if (j + 1 < NY) edge(number[(j + 1) * NX + i], 0.0, 0.625);
            if (i + 1 < NX && j + 1 < NY) {
                int b = number[j * NX + i + 1], c = number[(j + 1) * NX + i + 1], d = number[(j + 1) * NX + i];
                edge(c, 0.375, 0.375);
                tris.push_back({{a, b, c}});
                tris.push_back({{a, c, d}});
            }
        }
    int m = (int)edges.size();
    std::vector<int> rowptr(NODES + 1, 0), colind;
    for (auto &e : edges) { rowptr[e.x + 1]++; rowptr[e.y + 1]++; }
    for (int i = 0; i < NODES; i++) rowptr[i + 1] += rowptr[i] + 1;
    colind.resize(rowptr[NODES]);
    std::vector<int> fill(rowptr.begin(), rowptr.end() - 1);
    for (int i = 0; i < NODES; i++) colind[fill[i]++] = i;
    for (auto &e : edges) { colind[fill[e.x]++] = e.y; colind[fill[e.y]++] = e.x; }
    for (int i = 0; i < NODES; i++) std::sort(colind.begin() + rowptr[i], colind.begin() + rowptr[i + 1]);

    Tri *d_tris = upload(tris);
    double2 *d_xy = upload(xy), *d_normals = upload(normals);
    int2 *d_edges = upload(edges);
    int *d_rowptr = upload(rowptr), *d_colind = upload(colind);
    unsigned char *d_boundary = upload(boundary);
    double *d_x = upload(x), *d_y, *d_val, *d_rhs, *d_q, *d_res;
    CK(cudaMalloc(&d_y, NODES * 8));
    CK(cudaMalloc(&d_rhs, NODES * 8));
    CK(cudaMalloc(&d_val, colind.size() * 8));
    CK(cudaMalloc(&d_q, (size_t)NVAR * NODES * 8));
    CK(cudaMalloc(&d_res, (size_t)NVAR * NODES * 8));
    CK(cudaMemset(d_val, 0, colind.size() * 8));
    CK(cudaMemset(d_rhs, 0, NODES * 8));

    assemble_stiffness<<<(ELEMENTS + 127) / 128, 128>>>(d_tris, d_xy, d_rowptr, d_colind, d_val, d_rhs, ELEMENTS);
    spmv_csr_vector4<<<(NODES * 4 + 255) / 256, 256>>>(d_rowptr, d_colind, d_val, d_x, d_y, NODES);
    spmv_csr_vector4<<<(NODES * 4 + 255) / 256, 256>>>(d_rowptr, d_colind, d_val, d_y, d_x, NODES);
    CK(cudaGetLastError());
    std::printf("matrix %016llx rhs %016llx spmv %016llx\n", hash_doubles(d_val, colind.size()), hash_doubles(d_rhs, NODES), hash_doubles(d_x, NODES));

    init_state<<<(NODES + 255) / 256, 256>>>(d_q, d_res, d_xy, NODES);
    for (int step = 0; step < 3; step++) {
        edge_flux<<<(m + 191) / 192, 192>>>(d_edges, d_normals, d_q, d_res, NODES, m);
        update_state<<<(NODES + 255) / 256, 256>>>(d_q, d_res, d_boundary, 0.0625, NODES);
    }
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    std::printf("euler %016llx\n", hash_doubles(d_q, (size_t)NVAR * NODES));
    return 0;
}
