// Small Lagrangian hydrodynamics mini-app on an (unstructured) hexahedral mesh.
// Node data are gathered to elements, forces are scattered back with atomics.
// Force contributions are rounded to a multiple of 2^-30 before they are added,
// so that the sums do not depend on the order of the atomics.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>
#include <cuda_runtime.h>

static void check(cudaError_t e, const char *what)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(e));
        exit(1);
    }
}
#define CHECK(x) check((x), #x)

typedef double Real;

static unsigned long long fnv_hash(const void *p, size_t n)
{
    const unsigned char *c = (const unsigned char *)p;
    unsigned long long h = 14695981039346656037ULL;
    for (size_t i = 0; i < n; i++) h = (h ^ c[i]) * 1099511628211ULL;
    return h;
}

struct Mesh {
    int nelem, nnode;
    int *conn;              // 8 nodes per element, element-major
    int *nbr;               // 6 face neighbours, -1 at the boundary, face-major
    unsigned char *bc;      // bit 0,1,2: fixed in x,y,z
    Real *x, *y, *z, *xd, *yd, *zd, *fx, *fy, *fz, *nmass;
    Real *vol, *vol0, *delv, *p, *q, *e, *ss, *emass, *vdiv;
};

__constant__ int c_face[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};

__device__ __forceinline__ Real quantise(Real v) { return rint(v * 1073741824.0) * (1.0 / 1073741824.0); }

__device__ Real tet6(Real ax, Real ay, Real az, Real bx, Real by, Real bz, Real cx, Real cy, Real cz)
{
    return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
}

__device__ Real hex_volume(const Real *x, const Real *y, const Real *z)
{
    const int ring[7] = {1, 2, 3, 7, 4, 5, 1};
    Real dx = x[6] - x[0], dy = y[6] - y[0], dz = z[6] - z[0];
    Real v = 0.0;
#pragma unroll
    for (int k = 0; k < 6; k++) {
        int a = ring[k], b = ring[k + 1];
        v += tet6(x[a] - x[0], y[a] - y[0], z[a] - z[0], x[b] - x[0], y[b] - y[0], z[b] - z[0], dx, dy, dz);
    }
    return v * (1.0 / 6.0);
}

__global__ void init_elements(Mesh m, Real rho0)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m.nelem) return;
    Real x[8], y[8], z[8];
    for (int k = 0; k < 8; k++) {
        int n = m.conn[e * 8 + k];
        x[k] = m.x[n]; y[k] = m.y[n]; z[k] = m.z[n];
    }
    Real v = hex_volume(x, y, z);
    m.vol[e] = v;
    m.vol0[e] = v;
    m.emass[e] = rho0 * v;
    Real share = quantise(rho0 * v * 0.125);
    for (int k = 0; k < 8; k++) atomicAdd(&m.nmass[m.conn[e * 8 + k]], share);
}

__global__ void zero_forces(int n, Real *fx, Real *fy, Real *fz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { fx[i] = 0.0; fy[i] = 0.0; fz[i] = 0.0; }
}

__global__ void calc_force(Mesh m)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m.nelem) return;
    Real x[8], y[8], z[8], fx[8], fy[8], fz[8];
    const int4 *c4 = (const int4 *)(m.conn + (size_t)e * 8);
    int4 lo = c4[0], hi = c4[1];
    int nd[8] = {lo.x, lo.y, lo.z, lo.w, hi.x, hi.y, hi.z, hi.w};
#pragma unroll
    for (int k = 0; k < 8; k++) {
        x[k] = m.x[nd[k]]; y[k] = m.y[nd[k]]; z[k] = m.z[nd[k]];
        fx[k] = fy[k] = fz[k] = 0.0;
    }
    Real sig = m.p[e] + m.q[e];
#pragma unroll
    for (int f = 0; f < 6; f++) {
        const int a = c_face[f][0], b = c_face[f][1], c = c_face[f][2], d = c_face[f][3];
        Real ux = x[c] - x[a], uy = y[c] - y[a], uz = z[c] - z[a];
        Real vx = x[d] - x[b], vy = y[d] - y[b], vz = z[d] - z[b];
        Real s = 0.125 * sig;
        Real gx = s * (uy * vz - uz * vy), gy = s * (uz * vx - ux * vz), gz = s * (ux * vy - uy * vx);
        fx[a] += gx; fx[b] += gx; fx[c] += gx; fx[d] += gx;
        fy[a] += gy; fy[b] += gy; fy[c] += gy; fy[d] += gy;
        fz[a] += gz; fz[b] += gz; fz[c] += gz; fz[d] += gz;
    }
#pragma unroll
    for (int k = 0; k < 8; k++) {
        atomicAdd(&m.fx[nd[k]], quantise(fx[k]));
        atomicAdd(&m.fy[nd[k]], quantise(fy[k]));
        atomicAdd(&m.fz[nd[k]], quantise(fz[k]));
    }
}

__global__ void move_nodes(Mesh m, Real dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m.nnode) return;
    Real im = 1.0 / m.nmass[i];
    unsigned char b = m.bc[i];
    Real ax = (b & 1) ? 0.0 : m.fx[i] * im;
    Real ay = (b & 2) ? 0.0 : m.fy[i] * im;
    Real az = (b & 4) ? 0.0 : m.fz[i] * im;
    Real vx = m.xd[i] + ax * dt, vy = m.yd[i] + ay * dt, vz = m.zd[i] + az * dt;
    if (fabs(vx) < 1e-9) vx = 0.0;
    if (fabs(vy) < 1e-9) vy = 0.0;
    if (fabs(vz) < 1e-9) vz = 0.0;
    m.xd[i] = vx; m.yd[i] = vy; m.zd[i] = vz;
    m.x[i] += vx * dt; m.y[i] += vy * dt; m.z[i] += vz * dt;
}

__global__ void calc_kinematics(Mesh m, Real dt)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m.nelem) return;
    Real x[8], y[8], z[8];
    for (int k = 0; k < 8; k++) {
        int n = m.conn[e * 8 + k];
        x[k] = m.x[n]; y[k] = m.y[n]; z[k] = m.z[n];
    }
    Real v = hex_volume(x, y, z);
    Real old = m.vol[e];
    m.delv[e] = v - old;
    m.vdiv[e] = (v - old) / (0.5 * (v + old) * dt);
    m.vol[e] = v;
}

// artificial viscosity with a limiter that looks at the face neighbours
__global__ void calc_viscosity(Mesh m, Real qlin, Real qquad)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m.nelem) return;
    Real d = m.vdiv[e];
    Real q = 0.0;
    if (d < 0.0) {
        Real phi = 1.0;
        for (int f = 0; f < 6; f += 2) {
            int l = m.nbr[(size_t)f * m.nelem + e], r = m.nbr[(size_t)(f + 1) * m.nelem + e];
            Real dl = l >= 0 ? m.vdiv[l] : d, dr = r >= 0 ? m.vdiv[r] : d;
            Real a = 0.5 * (dl + dr) / d;
            a = fmin(a, fmin(2.0 * dl / d, 2.0 * dr / d));
            a = fmax(0.0, fmin(1.0, a));
            phi = fmin(phi, a);
        }
        Real h = cbrt(m.vol[e]);
        Real rho = m.emass[e] / m.vol[e];
        Real du = h * d * (1.0 - phi);
        q = rho * (qquad * du * du - qlin * m.ss[e] * du);
    }
    m.q[e] = q;
}

__global__ void eos(int n, const Real *emass, const Real *vol, const Real *delv, const Real *q,
                    Real *p, Real *en, Real *ss, Real gamma)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Real mass = emass[i], v = vol[i], dv = delv[i], pold = p[i], e0 = en[i];
    Real rho = mass / v;
    Real pn = pold, e = e0;
    for (int it = 0; it < 3; it++) {            // fixed-point iteration for p(e)
        e = e0 - (0.5 * (pold + pn) + q[i]) * dv / mass;
        if (e < 1e-8) e = 1e-8;
        pn = (gamma - 1.0) * rho * e;
    }
    p[i] = pn;
    en[i] = e;
    ss[i] = sqrt(gamma * pn / rho);
}

__global__ void courant_dt(int n, const Real *vol, const Real *vdiv, const Real *ss, unsigned long long *dtbits)
{
    __shared__ Real s[256];
    Real best = 1e20;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Real h = cbrt(vol[i]);
        Real c = ss[i] + h * fabs(vdiv[i]);
        Real t = h / fmax(c, 1e-12);
        best = fmin(best, t);
    }
    s[threadIdx.x] = best;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if ((int)threadIdx.x < k) s[threadIdx.x] = fmin(s[threadIdx.x], s[threadIdx.x + k]);
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicMin(dtbits, (unsigned long long)__double_as_longlong(s[0]));
}

template <class T> static T *dalloc(size_t n)
{
    T *p;
    CHECK(cudaMalloc((void **)&p, n * sizeof(T)));
    CHECK(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}

int main(int argc, char **argv)
{
    const int nx = 57, ny = 49, nz = 53;
    const int steps = argc > 1 ? atoi(argv[1]) : 6;
    const int px = nx + 1, py = ny + 1;
    Mesh m;
    m.nelem = nx * ny * nz;
    m.nnode = px * py * (nz + 1);

    // elements are numbered in a shuffled order inside runs of 512
    std::vector<int> perm(m.nelem);
    for (int i = 0; i < m.nelem; i++) perm[i] = i;
    unsigned int s = 99;
    for (int b = 0; b < m.nelem; b += 512) {
        int len = m.nelem - b < 512 ? m.nelem - b : 512;
        for (int i = len - 1; i > 0; i--) {
            s = s * 1664525u + 1013904223u;
            std::swap(perm[b + i], perm[b + (s >> 8) % (unsigned)(i + 1)]);
        }
    }
    std::vector<int> conn((size_t)m.nelem * 8), nbr((size_t)m.nelem * 6, -1);
    std::vector<unsigned char> bc(m.nnode, 0);
    std::vector<Real> X(m.nnode), Y(m.nnode), Z(m.nnode), E(m.nelem, 0.01), P(m.nelem), SS(m.nelem);
    for (int k = 0; k <= nz; k++)
        for (int j = 0; j <= ny; j++)
            for (int i = 0; i <= nx; i++) {
                int n = (k * py + j) * px + i;
                X[n] = i + 0.05 * ((j * 3 + k) % 5);
                Y[n] = j + 0.05 * ((k * 2 + i) % 3);
                Z[n] = k + 0.03 * ((i + j) % 7);
                bc[n] = (unsigned char)((i == 0 || i == nx ? 1 : 0) | (j == 0 || j == ny ? 2 : 0) | (k == 0 || k == nz ? 4 : 0));
            }
    auto eid = [&](int i, int j, int k) {
        return (i < 0 || j < 0 || k < 0 || i >= nx || j >= ny || k >= nz) ? -1 : perm[(k * ny + j) * nx + i];
    };
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) {
                int e = eid(i, j, k), n = (k * py + j) * px + i;
                int c[8] = {n, n + 1, n + px + 1, n + px, n + px * py, n + px * py + 1, n + px * py + px + 1, n + px * py + px};
                memcpy(&conn[(size_t)e * 8], c, sizeof c);
                int nb[6] = {eid(i - 1, j, k), eid(i + 1, j, k), eid(i, j - 1, k), eid(i, j + 1, k), eid(i, j, k - 1), eid(i, j, k + 1)};
                for (int f = 0; f < 6; f++) nbr[(size_t)f * m.nelem + e] = nb[f];
                if (i < 8 && j < 8 && k < 8) E[e] = 2.5;
            }
    const Real gamma = 1.4, rho0 = 1.0;
    for (int e = 0; e < m.nelem; e++) { P[e] = (gamma - 1.0) * rho0 * E[e]; SS[e] = std::sqrt(gamma * P[e] / rho0); }

    m.conn = dalloc<int>(conn.size());
    m.nbr = dalloc<int>(nbr.size());
    m.bc = dalloc<unsigned char>(m.nnode);
    Real **nodal[] = {&m.x, &m.y, &m.z, &m.xd, &m.yd, &m.zd, &m.fx, &m.fy, &m.fz, &m.nmass};
    Real **elemental[] = {&m.vol, &m.vol0, &m.delv, &m.p, &m.q, &m.e, &m.ss, &m.emass, &m.vdiv};
    for (Real **a : nodal) *a = dalloc<Real>(m.nnode);
    for (Real **a : elemental) *a = dalloc<Real>(m.nelem);
    unsigned long long *d_dt = dalloc<unsigned long long>(1);
    CHECK(cudaMemcpy(m.conn, conn.data(), conn.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(m.nbr, nbr.data(), nbr.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(m.bc, bc.data(), m.nnode, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(m.x, X.data(), m.nnode * sizeof(Real), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(m.y, Y.data(), m.nnode * sizeof(Real), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(m.z, Z.data(), m.nnode * sizeof(Real), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(m.e, E.data(), m.nelem * sizeof(Real), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(m.p, P.data(), m.nelem * sizeof(Real), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(m.ss, SS.data(), m.nelem * sizeof(Real), cudaMemcpyHostToDevice));

    const int eb = (m.nelem + 127) / 128, nb = (m.nnode + 255) / 256;
    init_elements<<<eb, 128>>>(m, rho0);
    CHECK(cudaGetLastError());

    Real dt = 0.02, time = 0.0;
    for (int step = 0; step < steps; step++) {
        zero_forces<<<nb, 256>>>(m.nnode, m.fx, m.fy, m.fz);
        calc_force<<<eb, 128>>>(m);
        move_nodes<<<nb, 256>>>(m, dt);
        calc_kinematics<<<eb, 128>>>(m, dt);
        calc_viscosity<<<(m.nelem + 191) / 192, 192>>>(m, 0.5, 1.5);
        eos<<<(m.nelem + 511) / 512, 512>>>(m.nelem, m.emass, m.vol, m.delv, m.q, m.p, m.e, m.ss, gamma);
        CHECK(cudaMemset(d_dt, 0x7f, sizeof(unsigned long long)));
        courant_dt<<<120, 256>>>(m.nelem, m.vol, m.vdiv, m.ss, d_dt);
        CHECK(cudaGetLastError());
        Real lim;
        CHECK(cudaMemcpy(&lim, d_dt, sizeof lim, cudaMemcpyDeviceToHost));
        time += dt;
        dt = std::fmin(0.3 * lim, dt * 1.1);
        printf("cycle %d time %.6f dt %.6f\n", step + 1, time, dt);
    }

    CHECK(cudaMemcpy(X.data(), m.x, m.nnode * sizeof(Real), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(E.data(), m.e, m.nelem * sizeof(Real), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(P.data(), m.p, m.nelem * sizeof(Real), cudaMemcpyDeviceToHost));
    std::vector<Real> mass(m.nelem), nm(m.nnode);
    CHECK(cudaMemcpy(mass.data(), m.emass, m.nelem * sizeof(Real), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(nm.data(), m.nmass, m.nnode * sizeof(Real), cudaMemcpyDeviceToHost));
    Real te = 0.0, me = 0.0, mn = 0.0;
    for (int i = 0; i < m.nelem; i++) { te += E[i] * mass[i]; me += mass[i]; }
    for (int i = 0; i < m.nnode; i++) mn += nm[i];
    printf("internal energy %.9e, mass %s\n", te, std::fabs(me - mn) < 1e-6 * me ? "ok" : "mismatch");
    printf("x %016llx e %016llx\n", fnv_hash(X.data(), m.nnode * sizeof(Real)), fnv_hash(E.data(), m.nelem * sizeof(Real)));
    printf("p %016llx nmass %016llx\n", fnv_hash(P.data(), m.nelem * sizeof(Real)), fnv_hash(nm.data(), m.nnode * sizeof(Real)));

    for (Real **a : nodal) CHECK(cudaFree(*a));
    for (Real **a : elemental) CHECK(cudaFree(*a));
    CHECK(cudaFree(m.conn)); CHECK(cudaFree(m.nbr)); CHECK(cudaFree(m.bc)); CHECK(cudaFree(d_dt));
    return 0;
}
