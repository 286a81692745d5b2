// Neural network layer training (forward / weight adjust), speckle-reducing
// anisotropic diffusion of an ultrasound-like image and tracking of sample
// points by normalised template matching.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>

#define CK(call)                                                              \
    do {                                                                      \
        cudaError_t e_ = (call);                                              \
        if (e_ != cudaSuccess) {                                              \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                \
                    cudaGetErrorString(e_));                                  \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

static unsigned long long fnv1a(const void *p, size_t n)
{
    const unsigned char *b = (const unsigned char *)p;
    unsigned long long h = 1469598103934665603ULL;
    for (size_t i = 0; i < n; i++) { h ^= b[i]; h *= 1099511628211ULL; }
    return h;
}

static unsigned int rng_state = 7u;
static float frand()
{
    rng_state = rng_state * 1664525u + 1013904223u;
    return (float)(rng_state >> 8) / 16777216.0f;
}

// ---------------------------------------------------------------- backprop
#define TILE 16
#define ETA 0.3f
#define MOMENTUM 0.3f

__global__ void layer_forward(const float *input, float *weights, float *partial,
                              int nin, int nhid)
{
    int by = blockIdx.x;
    int tx = threadIdx.x, ty = threadIdx.y;
    int index = (nhid + 1) * TILE * by + (nhid + 1) * ty + tx + 1 + (nhid + 1);
    int in_idx = TILE * by + ty + 1;

    __shared__ float in_node[TILE];
    __shared__ float w[TILE][TILE];

    if (tx == 0) in_node[ty] = input[in_idx];
    __syncthreads();
    w[ty][tx] = weights[index];
    __syncthreads();
    w[ty][tx] = w[ty][tx] * in_node[ty];
    __syncthreads();
    for (int p = 2; p <= TILE; p *= 2) {
        if (ty % p == 0) w[ty][tx] = w[ty][tx] + w[ty + p / 2][tx];
        __syncthreads();
    }
    weights[index] = weights[index] * 0.9999f;
    if (ty == 0) partial[by * nhid + tx] = w[0][tx];
}

__global__ void adjust_weights(const float *delta, int nhid, const float *ly,
                               float *w, float *oldw)
{
    int by = blockIdx.x;
    int tx = threadIdx.x, ty = threadIdx.y;
    int index = (nhid + 1) * TILE * by + (nhid + 1) * ty + tx + 1 + (nhid + 1);
    int iy = TILE * by + ty + 1;
    int ix = tx + 1;
    float dw = ETA * delta[ix] * ly[iy] + MOMENTUM * oldw[index];
    w[index] += dw;
    oldw[index] = dw;
    if (ty == 0 && by == 0) {
        float d0 = ETA * delta[ix] + MOMENTUM * oldw[ix];
        w[ix] += d0;
        oldw[ix] = d0;
    }
}

// -------------------------------------------------------------------- srad
__global__ void sr_prepare(int n, const float *img, float *s1, float *s2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = img[i];
        s1[i] = v;
        s2[i] = v * v;
    }
}

// one partial sum per block, interleaved addressing
__global__ void sr_reduce(int n, const float *s1, const float *s2, float *o1, float *o2)
{
    __shared__ float a[512];
    __shared__ float b[512];
    int tx = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tx;
    a[tx] = i < n ? s1[i] : 0.0f;
    b[tx] = i < n ? s2[i] : 0.0f;
    __syncthreads();
    for (int s = 2; s <= (int)blockDim.x; s *= 2) {
        if ((tx + 1) % s == 0) {
            a[tx] += a[tx - s / 2];
            b[tx] += b[tx - s / 2];
        }
        __syncthreads();
    }
    if (tx == (int)blockDim.x - 1) {
        o1[blockIdx.x] = a[tx];
        o2[blockIdx.x] = b[tx];
    }
}

__global__ void sr_diffuse(int rows, int cols, float lambda_q, const float *img,
                           float *dN, float *dS, float *dW, float *dE, float *c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    int up = y > 0 ? y - 1 : 0, dn = y < rows - 1 ? y + 1 : rows - 1;
    int lf = x > 0 ? x - 1 : 0, rt = x < cols - 1 ? x + 1 : cols - 1;
    int id = y * cols + x;
    float jc = img[id];
    float n = img[up * cols + x] - jc;
    float s = img[dn * cols + x] - jc;
    float w = img[y * cols + lf] - jc;
    float e = img[y * cols + rt] - jc;
    float g2 = (n * n + s * s + w * w + e * e) / (jc * jc);
    float l = (n + s + w + e) / jc;
    float num = 0.5f * g2 - (1.0f / 16.0f) * (l * l);
    float den = 1.0f + 0.25f * l;
    float q = num / (den * den);
    den = (q - lambda_q) / (lambda_q * (1.0f + lambda_q));
    float cc = 1.0f / (1.0f + den);
    cc = cc < 0.0f ? 0.0f : (cc > 1.0f ? 1.0f : cc);
    dN[id] = n; dS[id] = s; dW[id] = w; dE[id] = e;
    c[id] = cc;
}

__global__ void sr_update(int rows, int cols, float lambda, float *img,
                          const float *dN, const float *dS, const float *dW,
                          const float *dE, const float *c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    int dn = y < rows - 1 ? y + 1 : y, rt = x < cols - 1 ? x + 1 : x;
    int id = y * cols + x;
    float cn = c[id], cs = c[dn * cols + x], ce = c[y * cols + rt];
    float d = cn * dN[id] + cs * dS[id] + cn * dW[id] + ce * dE[id];
    img[id] += 0.25f * lambda * d;
}

// ---------------------------------------------------------------- tracking
#define TW 21
#define RAD 20
#define SW (2 * RAD + TW)
#define NOFF (2 * RAD + 1)
#define TRK_THREADS 256

__global__ void make_frame(float *frame, const float *base, int rows, int cols, int dx, int dy)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows) {
        int sx = (x + cols - dx) % cols, sy = (y + rows - dy) % rows;
        frame[y * cols + x] = base[sy * cols + sx] + (float)((x * 31 + y * 17) % 7) * 0.01f;
    }
}

// one block per point: template in shared memory, search window in shared memory
__global__ void track_points(const float *frame, const float *tmpl, int cols,
                             const int2 *pos, int2 *best_pos, float *best_score)
{
    __shared__ float t[TW * TW];
    __shared__ float win[SW * SW];
    __shared__ float red[TRK_THREADS];
    __shared__ int redi[TRK_THREADS];
    int p = blockIdx.x, tid = threadIdx.x;
    int2 c = pos[p];

    float local = 0.0f;
    for (int i = tid; i < TW * TW; i += blockDim.x) {
        t[i] = tmpl[p * TW * TW + i];
        local += t[i];
    }
    int x0 = c.x - RAD, y0 = c.y - RAD;
    for (int i = tid; i < SW * SW; i += blockDim.x)
        win[i] = frame[(y0 + i / SW) * cols + x0 + i % SW];
    red[tid] = local;
    __syncthreads();
    for (int s = TRK_THREADS / 2; s > 0; s >>= 1) {
        if (tid < s) red[tid] += red[tid + s];
        __syncthreads();
    }
    float tmean = red[0] / (TW * TW);
    __syncthreads();

    float best = -2.0f;
    int besti = 0;
    for (int o = tid; o < NOFF * NOFF; o += blockDim.x) {
        int oy = o / NOFF, ox = o % NOFF;
        float sf = 0.0f, sff = 0.0f, stf = 0.0f, stt = 0.0f;
        for (int y = 0; y < TW; y++)
            for (int x = 0; x < TW; x++) {
                float f = win[(oy + y) * SW + ox + x];
                float tv = t[y * TW + x] - tmean;
                sf += f;
                sff += f * f;
                stf += tv * f;
                stt += tv * tv;
            }
        float var = sff - sf * sf / (TW * TW);
        float sc = stf / sqrtf(fmaxf(var * stt, 1e-12f));
        if (sc > best) { best = sc; besti = o; }
    }
    red[tid] = best;
    redi[tid] = besti;
    __syncthreads();
    for (int s = TRK_THREADS / 2; s > 0; s >>= 1) {
        if (tid < s) {
            float b = red[tid + s];
            int bi = redi[tid + s];
            if (b > red[tid] || (b == red[tid] && bi < redi[tid])) { red[tid] = b; redi[tid] = bi; }
        }
        __syncthreads();
    }
    if (tid == 0) {
        best_pos[p] = make_int2(x0 + redi[0] % NOFF, y0 + redi[0] / NOFF);
        best_score[p] = red[0];
    }
}

static void run_backprop()
{
    const int nin = 16 * 4375, nhid = TILE;
    const int nblk = nin / TILE;
    const size_t wn = (size_t)(nin + 1) * (nhid + 1);
    std::vector<float> in(nin + 1), w(wn), part((size_t)nblk * nhid), delta(nhid + 1);
    in[0] = 1.0f;
    for (int i = 1; i <= nin; i++) in[i] = frand();
    for (size_t i = 0; i < wn; i++) w[i] = (frand() - 0.5f) * 0.01f;
    float *din, *dw, *dold, *dpart, *ddelta;
    CK(cudaMalloc(&din, (nin + 1) * sizeof(float)));
    CK(cudaMalloc(&dw, wn * sizeof(float)));
    CK(cudaMalloc(&dold, wn * sizeof(float)));
    CK(cudaMalloc(&dpart, part.size() * sizeof(float)));
    CK(cudaMalloc(&ddelta, (nhid + 1) * sizeof(float)));
    CK(cudaMemcpy(din, in.data(), (nin + 1) * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dw, w.data(), wn * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemset(dold, 0, wn * sizeof(float)));
    dim3 blk(TILE, TILE);
    double hsum = 0.0;
    for (int epoch = 0; epoch < 2; epoch++) {
        layer_forward<<<nblk, blk>>>(din, dw, dpart, nin, nhid);
        CK(cudaGetLastError());
        CK(cudaMemcpy(part.data(), dpart, part.size() * sizeof(float), cudaMemcpyDeviceToHost));
        delta[0] = 0.0f;
        for (int j = 0; j < nhid; j++) {
            float s = 0.0f;
            for (int k = 0; k < nblk; k++) s += part[(size_t)k * nhid + j];
            float h = s / (1.0f + fabsf(s));        // softsign
            delta[j + 1] = (0.1f * (float)(j % 5) - h) * 0.01f;
            hsum += h;
        }
        CK(cudaMemcpy(ddelta, delta.data(), (nhid + 1) * sizeof(float), cudaMemcpyHostToDevice));
        adjust_weights<<<nblk, blk>>>(ddelta, nhid, din, dw, dold);
        CK(cudaGetLastError());
    }
    CK(cudaMemcpy(w.data(), dw, wn * sizeof(float), cudaMemcpyDeviceToHost));
    printf("backprop: hidden %.5f weights %016llx\n", hsum, fnv1a(w.data(), wn * sizeof(float)));
    cudaFree(din); cudaFree(dw); cudaFree(dold); cudaFree(dpart); cudaFree(ddelta);
}

int main()
{
    run_backprop();

    const int rows = 1102, cols = 1502, n = rows * cols;
    std::vector<float> img(n);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++)
            img[y * cols + x] = 1.0f + 0.5f * (float)(((x / 37) ^ (y / 29)) & 3) + 0.4f * frand();
    float *dimg, *s1, *s2, *o1, *o2, *dN, *dS, *dW, *dE, *dc;
    float **bufs[] = {&dimg, &s1, &s2, &dN, &dS, &dW, &dE, &dc};
    for (float **b : bufs) CK(cudaMalloc(b, n * sizeof(float)));
    int rb = (n + 511) / 512;
    CK(cudaMalloc(&o1, rb * sizeof(float)));
    CK(cudaMalloc(&o2, rb * sizeof(float)));
    CK(cudaMemcpy(dimg, img.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    dim3 b2(32, 8), g2((cols + 31) / 32, (rows + 7) / 8);
    for (int it = 0; it < 3; it++) {
        sr_prepare<<<(n + 511) / 512, 512>>>(n, dimg, s1, s2);
        // shrink the array of partial sums until one value is left
        int m = n;
        const float *p1 = s1, *p2 = s2;
        float *q1 = o1, *q2 = o2;
        while (m > 1) {
            int nb = (m + 511) / 512;
            sr_reduce<<<nb, 512>>>(m, p1, p2, q1, q2);
            p1 = q1; p2 = q2;
            q1 = (p1 == o1) ? s1 : o1;
            q2 = (p2 == o2) ? s2 : o2;
            m = nb;
        }
        CK(cudaGetLastError());
        float t1, t2;
        CK(cudaMemcpy(&t1, p1, sizeof(float), cudaMemcpyDeviceToHost));
        CK(cudaMemcpy(&t2, p2, sizeof(float), cudaMemcpyDeviceToHost));
        float mean = t1 / n, var = t2 / n - mean * mean;
        float q0 = var / (mean * mean);
        sr_diffuse<<<g2, b2>>>(rows, cols, q0, dimg, dN, dS, dW, dE, dc);
        sr_update<<<g2, b2>>>(rows, cols, 0.5f, dimg, dN, dS, dW, dE, dc);
        CK(cudaGetLastError());
    }
    CK(cudaMemcpy(img.data(), dimg, n * sizeof(float), cudaMemcpyDeviceToHost));
    printf("srad: %016llx\n", fnv1a(img.data(), n * sizeof(float)));

    const int npts = 40;
    std::vector<int2> pos(npts);
    std::vector<float> tm((size_t)npts * TW * TW), score(npts);
    for (int p = 0; p < npts; p++) {
        pos[p] = make_int2(100 + (p % 8) * 160, 90 + (p / 8) * 190);
        for (int i = 0; i < TW * TW; i++)
            tm[(size_t)p * TW * TW + i] = img[(pos[p].y + i / TW) * cols + pos[p].x + i % TW];
    }
    int2 *dpos, *dbest;
    float *dtm, *dscore;
    CK(cudaMalloc(&dpos, npts * sizeof(int2)));
    CK(cudaMalloc(&dbest, npts * sizeof(int2)));
    CK(cudaMalloc(&dtm, tm.size() * sizeof(float)));
    CK(cudaMalloc(&dscore, npts * sizeof(float)));
    CK(cudaMemcpy(dpos, pos.data(), npts * sizeof(int2), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dtm, tm.data(), tm.size() * sizeof(float), cudaMemcpyHostToDevice));
    for (int f = 1; f <= 3; f++) {
        int dx = 4 * f, dy = -3 * f + rows;
        make_frame<<<g2, b2>>>(s1, dimg, rows, cols, dx, dy % rows);
        track_points<<<npts, TRK_THREADS>>>(s1, dtm, cols, dpos, dbest, dscore);
        CK(cudaGetLastError());
        CK(cudaMemcpy(pos.data(), dbest, npts * sizeof(int2), cudaMemcpyDeviceToHost));
        CK(cudaMemcpy(score.data(), dscore, npts * sizeof(float), cudaMemcpyDeviceToHost));
        int hit = 0;
        for (int p = 0; p < npts; p++)
            hit += pos[p].x == 100 + (p % 8) * 160 + 4 * f && pos[p].y == 90 + (p / 8) * 190 - 3 * f;
        printf("frame %d: %d of %d points found, score %016llx\n", f, hit, npts,
               fnv1a(score.data(), npts * sizeof(float)));
        int2 *tswap = dpos; dpos = dbest; dbest = tswap;
    }
    for (float **b : bufs) CK(cudaFree(*b));
    CK(cudaFree(o1)); CK(cudaFree(o2)); CK(cudaFree(dpos)); CK(cudaFree(dbest));
    CK(cudaFree(dtm)); CK(cudaFree(dscore));
    return 0;
}
