// All-pairs shortest paths of many graphs of 256 vertices with the blocked Floyd-Warshall algorithm (tiles of 64, three phases a round).
// Hard for a GPU: the pivot tile is serial in k with a barrier each step, and the three phases depend on each other.
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <vector>

static const int V = 256;
static const int T = 64;
static const int ROUNDS = V / T;
static const int GRAPHS = 64;
static const int FAR = 1 << 28;

static void check(cudaError_t err, const char *what)
{
    if (err == cudaSuccess)
        return;
    fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(err));
    exit(1);
}

// the pivot tile of each graph: 1024 threads, four cells each, one barrier per intermediate vertex
__global__ void pivot_phase(int *dist, int round)
{
    __shared__ int tile[T][T];
    int *base = dist + (size_t)blockIdx.x * V * V + (size_t)round * T * V + round * T;
    int c = threadIdx.x & (T - 1);
    int r0 = threadIdx.x / T;
    int v[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        tile[r0 + 16 * i][c] = v[i] = base[(r0 + 16 * i) * V + c];
    __syncthreads();
    for (int k = 0; k < T; k++) {
        int across = tile[k][c];
        // row k and column k do not change in step k, so the writes below touch nothing that is read
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int d = tile[r0 + 16 * i][k] + across;
            if (d < v[i]) {
                v[i] = d;
                tile[r0 + 16 * i][c] = d;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        base[(r0 + 16 * i) * V + c] = v[i];
}

// tiles of the pivot row (blockIdx.y == 0) and the pivot column (1)
__global__ void cross_phase(int *dist, int round)
{
    __shared__ int pivot[T][T + 1];
    __shared__ int own[T][T + 1];
    int other = blockIdx.x + (blockIdx.x >= (unsigned)round);
    int *g = dist + (size_t)blockIdx.z * V * V;
    const int *p = g + (size_t)round * T * V + round * T;
    int *o = blockIdx.y == 0 ? g + (size_t)round * T * V + other * T : g + (size_t)other * T * V + round * T;
    int c = threadIdx.x, r0 = threadIdx.y;
    for (int r = r0; r < T; r += 8) {
        pivot[r][c] = p[r * V + c];
        own[r][c] = o[r * V + c];
    }
    __syncthreads();
    for (int k = 0; k < T; k++) {
        if (blockIdx.y == 0) {
            int ok = own[k][c];
            for (int r = r0; r < T; r += 8)
                if (r != k)
                    own[r][c] = min(own[r][c], pivot[r][k] + ok);
        } else {
            int pk = pivot[k][c];
            if (c != k)
                for (int r = r0; r < T; r += 8)
                    own[r][c] = min(own[r][c], own[r][k] + pk);
        }
        __syncthreads();
    }
    for (int r = r0; r < T; r += 8)
        o[r * V + c] = own[r][c];
}

// everything else: a min-plus product of two finished tiles, 4x4 cells per thread
__global__ void rest_phase(int *dist, int round)
{
    __shared__ int left[T][T + 1];
    __shared__ __align__(16) int top[T][T];
    int tr = blockIdx.y + (blockIdx.y >= (unsigned)round);
    int tc = blockIdx.x + (blockIdx.x >= (unsigned)round);
    int *g = dist + (size_t)blockIdx.z * V * V;
    int tid = threadIdx.y * 16 + threadIdx.x;
    for (int i = tid; i < T * T / 4; i += 256) {
        int r = i / (T / 4), c = i % (T / 4) * 4;
        int4 l = *(const int4 *)(g + (size_t)(tr * T + r) * V + round * T + c);
        left[r][c] = l.x, left[r][c + 1] = l.y, left[r][c + 2] = l.z, left[r][c + 3] = l.w;
        *(int4 *)&top[r][c] = *(const int4 *)(g + (size_t)(round * T + r) * V + tc * T + c);
    }
    __syncthreads();
    int row = threadIdx.y * 4, col = threadIdx.x * 4;
    int best[4][4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int4 b = *(const int4 *)(g + (size_t)(tr * T + row + i) * V + tc * T + col);
        best[i][0] = b.x, best[i][1] = b.y, best[i][2] = b.z, best[i][3] = b.w;
    }
#pragma unroll 8
    for (int k = 0; k < T; k++) {
        int4 t = *(const int4 *)&top[k][col];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int l = left[row + i][k];
            best[i][0] = min(best[i][0], l + t.x);
            best[i][1] = min(best[i][1], l + t.y);
            best[i][2] = min(best[i][2], l + t.z);
            best[i][3] = min(best[i][3], l + t.w);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        *(int4 *)(g + (size_t)(tr * T + row + i) * V + tc * T + col) = make_int4(best[i][0], best[i][1], best[i][2], best[i][3]);
}

int main()
{
    size_t cells = (size_t)GRAPHS * V * V;
    std::vector<int> host(cells);
    uint32_t s = 2463534242u;
    for (size_t i = 0; i < cells; i++) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        int from = i / V % V, to = i % V;
        // a sparse graph: about 12 edges leave each vertex
        host[i] = from == to ? 0 : (s % 256 < 12 ? 1 + (int)(s >> 8) % 1000 : FAR);
    }
    int *dist;
    check(cudaMalloc(&dist, cells * sizeof(int)), "malloc");
    check(cudaMemcpy(dist, host.data(), cells * sizeof(int), cudaMemcpyHostToDevice), "upload");
    for (int r = 0; r < ROUNDS; r++) {
        pivot_phase<<<GRAPHS, 1024>>>(dist, r);
        cross_phase<<<dim3(ROUNDS - 1, 2, GRAPHS), dim3(T, 8)>>>(dist, r);
        rest_phase<<<dim3(ROUNDS - 1, ROUNDS - 1, GRAPHS), dim3(16, 16)>>>(dist, r);
        check(cudaGetLastError(), "launch");
    }
    check(cudaDeviceSynchronize(), "run");
    std::vector<int> result(cells);
    check(cudaMemcpy(result.data(), dist, cells * sizeof(int), cudaMemcpyDeviceToHost), "download");
    check(cudaFree(dist), "free");

    // the first graph again on the host
    std::vector<int> ref(host.begin(), host.begin() + V * V);
    for (int k = 0; k < V; k++)
        for (int i = 0; i < V; i++)
            for (int j = 0; j < V; j++)
                if (ref[i * V + k] + ref[k * V + j] < ref[i * V + j])
                    ref[i * V + j] = ref[i * V + k] + ref[k * V + j];
    int bad = 0;
    for (int i = 0; i < V * V; i++)
        bad += ref[i] != result[i];
    uint64_t h = 14695981039346656037ull;
    for (size_t i = 0; i < cells; i++)
        h = (h ^ (uint32_t)result[i]) * 1099511628211ull;
    printf("distances %016llx, %d wrong\n", (unsigned long long)h, bad);
    return bad != 0;
}
