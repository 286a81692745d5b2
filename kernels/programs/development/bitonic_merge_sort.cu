// Key/value sorting: bitonic sort in shared memory, bitonic merges across global memory, and merge-path merge passes with shared staging.
// Hard for a GPU: log^2 passes with barriers and strided shared accesses, then binary searches over global memory and uneven merge inputs.
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef unsigned int uint;

#define CHECK_CUDA(func)                                                       \
{                                                                              \
    cudaError_t status = (func);                                               \
    if (status != cudaSuccess) {                                               \
        printf("CUDA API failed at line %d with error: %s (%d)\n",             \
               __LINE__, cudaGetErrorString(status), status);                  \
        return EXIT_FAILURE;                                                   \
    }                                                                          \
}

#define SHARED_SIZE_LIMIT 1024U
#define TILE 1024
#define MERGE_THREADS 128
#define ITEMS 8

__device__ uint wang(uint seed) {
    seed = (seed ^ 61) ^ (seed >> 16);
    seed *= 9;
    seed = seed ^ (seed >> 4);
    seed *= 0x27d4eb2d;
    return seed ^ (seed >> 15);
}

__global__ void fillKeys(uint *key, uint *val, uint n, uint range, uint salt) {
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        key[i] = wang(i + salt) % range;
        val[i] = i;
    }
}

// ties are ordered by value so that the result is unique
__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir) {
    bool greater = keyA > keyB || (keyA == keyB && valA > valB);
    if (greater == (bool)dir) {
        uint t = keyA; keyA = keyB; keyB = t;
        t = valA; valA = valB; valB = t;
    }
}

// every block of 1024 elements sorted; alternate = 1 makes odd blocks descend
__global__ void __launch_bounds__(512) bitonicSortShared(uint *d_key, uint *d_val, int alternate) {
    __shared__ uint s_key[SHARED_SIZE_LIMIT];
    __shared__ uint s_val[SHARED_SIZE_LIMIT];
    uint base = blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    s_key[threadIdx.x] = d_key[base];
    s_val[threadIdx.x] = d_val[base];
    s_key[threadIdx.x + 512] = d_key[base + 512];
    s_val[threadIdx.x + 512] = d_val[base + 512];
    for (uint size = 2; size < SHARED_SIZE_LIMIT; size <<= 1) {
        uint ddd = (threadIdx.x & (size / 2)) == 0;
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    uint ddd = alternate ? (blockIdx.x & 1) == 0 : 1;
    for (uint stride = SHARED_SIZE_LIMIT / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
    }
    __syncthreads();
    d_key[base] = s_key[threadIdx.x];
    d_val[base] = s_val[threadIdx.x];
    d_key[base + 512] = s_key[threadIdx.x + 512];
    d_val[base + 512] = s_val[threadIdx.x + 512];
}

__global__ void bitonicMergeGlobal(uint *d_key, uint *d_val, uint arrayLength, uint size, uint stride) {
    uint global_comparatorI = blockIdx.x * blockDim.x + threadIdx.x;
    uint comparatorI = global_comparatorI & (arrayLength / 2 - 1);
    uint ddd = (comparatorI & (size / 2)) == 0;
    uint pos = 2 * global_comparatorI - (global_comparatorI & (stride - 1));
    uint keyA = d_key[pos], valA = d_val[pos];
    uint keyB = d_key[pos + stride], valB = d_val[pos + stride];
    Comparator(keyA, valA, keyB, valB, ddd);
    d_key[pos] = keyA; d_val[pos] = valA;
    d_key[pos + stride] = keyB; d_val[pos + stride] = valB;
}

__global__ void bitonicMergeShared(uint *d_key, uint *d_val, uint arrayLength, uint size) {
    __shared__ uint2 s[SHARED_SIZE_LIMIT];
    uint base = blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    s[threadIdx.x] = make_uint2(d_key[base], d_val[base]);
    s[threadIdx.x + 512] = make_uint2(d_key[base + 512], d_val[base + 512]);
    uint comparatorI = (blockIdx.x * blockDim.x + threadIdx.x) & (arrayLength / 2 - 1);
    uint ddd = (comparatorI & (size / 2)) == 0;
    for (uint stride = SHARED_SIZE_LIMIT / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        uint2 a = s[pos], b = s[pos + stride];
        Comparator(a.x, a.y, b.x, b.y, ddd);
        s[pos] = a;
        s[pos + stride] = b;
    }
    __syncthreads();
    d_key[base] = s[threadIdx.x].x; d_val[base] = s[threadIdx.x].y;
    d_key[base + 512] = s[threadIdx.x + 512].x; d_val[base + 512] = s[threadIdx.x + 512].y;
}

// number of elements taken from a among the first `diag` merged ones (ties to a)
__device__ int mergePath(const uint *a, int na, const uint *b, int nb, int diag) {
    int lo = max(0, diag - nb), hi = min(diag, na);
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (a[mid] <= b[diag - 1 - mid]) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

// each block writes TILE outputs of some pair of runs
__global__ void __launch_bounds__(MERGE_THREADS) mergePass(const uint *__restrict__ srcKey, const uint *__restrict__ srcVal,
                                                           uint *__restrict__ dstKey, uint *__restrict__ dstVal, int n, int run) {
    __shared__ uint sk[TILE + 1];
    __shared__ uint sv[TILE];
    __shared__ int split[2];
    int out0 = blockIdx.x * TILE;
    int pair = out0 / (2 * run) * (2 * run);
    int na = min(run, n - pair), nb = max(0, min(run, n - pair - run));
    const uint *a = srcKey + pair, *b = srcKey + pair + run;
    int diag0 = out0 - pair, diag1 = min(diag0 + TILE, na + nb);
    if (threadIdx.x < 2) split[threadIdx.x] = mergePath(a, na, b, nb, threadIdx.x ? diag1 : diag0);
    __syncthreads();
    int a0 = split[0], ca = split[1] - a0;
    int b0 = diag0 - a0, total = diag1 - diag0, cb = total - ca;
    for (int i = threadIdx.x; i < total; i += MERGE_THREADS) {
        int from = i < ca ? pair + a0 + i : pair + run + b0 + i - ca;
        sk[i] = srcKey[from];
        sv[i] = srcVal[from];
    }
    __syncthreads();
    int d = min((int)threadIdx.x * ITEMS, total);
    int i = mergePath(sk, ca, sk + ca, cb, d), j = d - i;
    uint keys[ITEMS], vals[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        bool takeA = j >= cb || (i < ca && sk[i] <= sk[ca + j]);
        int at = takeA ? min(i, TILE - 1) : ca + j;
        keys[k] = sk[at];
        vals[k] = sv[at];
        if (takeA) i++; else j++;
    }
    __syncthreads();
    // back through shared memory for coalesced stores
#pragma unroll
    for (int k = 0; k < ITEMS; k++)
        if (d + k < total) { sk[d + k] = keys[k]; sv[d + k] = vals[k]; }
    __syncthreads();
    for (int k = threadIdx.x; k < total; k += MERGE_THREADS) {
        dstKey[out0 + k] = sk[k];
        dstVal[out0 + k] = sv[k];
    }
}

static int report(const char *name, const uint *d_key, const uint *d_val, uint n, uint arrayLength) {
    std::vector<uint> k(n), v(n);
    CHECK_CUDA(cudaMemcpy(k.data(), d_key, n * sizeof(uint), cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaMemcpy(v.data(), d_val, n * sizeof(uint), cudaMemcpyDeviceToHost));
    unsigned long long h = 0;
    uint bad = 0;
    for (uint i = 0; i < n; i++) {
        h = h * 1000003ull + k[i] * 31ull + v[i];
        if (i % arrayLength && k[i - 1] > k[i]) bad++;
    }
    printf("%s: hash %016llx, out of order %u\n", name, h, bad);
    return 0;
}

int main() {
    const uint arrayLength = 4096, batch = 48, nb = arrayLength * batch;
    const uint n = 300 * 1024;      // 300 runs, so passes leave odd runs over
    uint *key, *val, *key2, *val2;
    CHECK_CUDA(cudaMalloc(&key, n * sizeof(uint)));
    CHECK_CUDA(cudaMalloc(&val, n * sizeof(uint)));
    CHECK_CUDA(cudaMalloc(&key2, n * sizeof(uint)));
    CHECK_CUDA(cudaMalloc(&val2, n * sizeof(uint)));

    // 1: batch of bitonic sorts
    fillKeys<<<96, 256>>>(key, val, nb, 65536, 1);
    bitonicSortShared<<<nb / SHARED_SIZE_LIMIT, 512>>>(key, val, 1);
    for (uint size = 2 * SHARED_SIZE_LIMIT; size <= arrayLength; size <<= 1)
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            if (stride >= SHARED_SIZE_LIMIT) {
                // the last size must come out ascending in every array
                bitonicMergeGlobal<<<nb / 512, 256>>>(key, val, arrayLength, size, stride);
            } else {
                bitonicMergeShared<<<nb / SHARED_SIZE_LIMIT, 512>>>(key, val, arrayLength, size);
                break;
            }
        }
    CHECK_CUDA(cudaGetLastError());
    if (report("bitonic", key, val, nb, arrayLength)) return 1;

    // 2: block sort, then merge passes
    fillKeys<<<300, 256>>>(key, val, n, 1u << 30, 2);
    bitonicSortShared<<<n / SHARED_SIZE_LIMIT, 512>>>(key, val, 0);
    uint *sk = key, *sv = val, *dk = key2, *dv = val2;
    for (uint run = 1024; run < n; run *= 2) {
        mergePass<<<(n + TILE - 1) / TILE, MERGE_THREADS>>>(sk, sv, dk, dv, (int)n, (int)run);
        uint *t = sk; sk = dk; dk = t;
        t = sv; sv = dv; dv = t;
    }
    CHECK_CUDA(cudaGetLastError());
    if (report("merge", sk, sv, n, n)) return 1;
    CHECK_CUDA(cudaFree(key)); CHECK_CUDA(cudaFree(val)); CHECK_CUDA(cudaFree(key2)); CHECK_CUDA(cudaFree(val2));
    return EXIT_SUCCESS;
}
