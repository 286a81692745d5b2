// Per-cell linked lists built with atomicExch on the list heads, traversal of
// these lists, records guarded by spin locks, ticket locks, and pointer jumping.
//
//   build_lists     push-front of every particle on the list of its cell
//   list_stats      walk a cell's list (thread per cell)
//   neighbour_walk  per particle: walk the 3x3 cells around it
//   locked_update   several words of a cell's record under a spin lock
//   ticket_log      blocks append to a shared log under a ticket lock
//   rank_step       Wyllie list ranking, one doubling step
//   relink          second hash dictionary: chained insert, then lookups

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define N        110017
#define G        112            // cells per side
#define CELLS    (G * G)
#define WORLD    65536          // coordinates are integers
#define LISTLEN  65521          // pointer jumping problem
#define LOGSIZE  8192

typedef unsigned int uint;
typedef unsigned long long ull;

#define TRY(call) do { cudaError_t rc = call; if (rc != cudaSuccess) { \
    printf("%s -> %s (line %d)\n", #call, cudaGetErrorString(rc), __LINE__); return 1; } } while (0)
#define TRY_KERNEL() TRY(cudaGetLastError())

struct Record {                // 32 bytes, protected by its lock
    int  count;
    int  first_id, last_id;    // smallest and largest particle number
    uint top[3];               // three largest keys, descending
    ull  key_sum;
};

__device__ __host__ inline uint hash32(uint x)
{
    x += 0x9e3779b9u;
    x ^= x >> 16;  x *= 0x21f0aaadu;
    x ^= x >> 15;  x *= 0x735a2d97u;
    x ^= x >> 15;
    return x;
}

__device__ inline int cell_of(int2 p) { return (int)((uint)p.y * G >> 16) * G + (int)((uint)p.x * G >> 16); }

__global__ void build_lists(int2 *pos, int *head, int *next)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    uint h = hash32(i), g = hash32(i ^ 0x5bd1e995);
    int2 p = make_int2(h & 0xffff, h >> 16);
    if ((g & 3) == 0) {                       // a denser band along the diagonal
        int d = (int)(g >> 4 & 4095) - 2048;
        p.y = min(max(p.x + d, 0), WORLD - 1);
    }
    pos[i] = p;
    next[i] = atomicExch(&head[cell_of(p)], i);
}

__global__ void list_stats(const int2 *pos, const int *head, const int *next, int *length, uint *digest, int *longest)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int len = 0;
    if (c < CELLS) {
        uint sum = 0;
        for (int i = head[c]; i >= 0; i = next[i]) {
            ++len;
            sum += hash32(i) ^ (uint)(pos[i].x * 3 + pos[i].y);
        }
        length[c] = len;
        digest[c] = sum;
    }
    len = __reduce_max_sync(0xffffffff, len);
    if ((threadIdx.x & 31) == 0) atomicMax(longest, len);
}

// All quantities are integers: the order within the lists does not matter.
__global__ void neighbour_walk(const int2 *__restrict__ pos, const int *__restrict__ head, const int *__restrict__ next,
                               int reach, int *near, int2 *push)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int2 p = pos[i];
    int cx = (uint)p.x * G >> 16, cy = (uint)p.y * G >> 16;
    int n = 0, fx = 0, fy = 0;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, G - 1); ++y)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, G - 1); ++x)
            for (int j = head[y * G + x]; j >= 0; j = next[j]) {
                int2 q = pos[j];
                int dx = p.x - q.x, dy = p.y - q.y;
                int r2 = dx * dx + dy * dy;
                if (r2 < reach * reach && j != i) {
                    ++n;
                    int w = reach - max(abs(dx), abs(dy));
                    fx += dx * w >> 4;
                    fy += dy * w >> 4;
                }
            }
    near[i] = n;
    push[i] = make_int2(fx, fy);
}

__global__ void locked_update(const int2 *pos, const int *near, int *lock, Record *rec, uint salt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int c = cell_of(pos[i]);
    uint key = hash32(i * 7 + salt) + near[i];
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock[c], 0, 1) == 0) {
            __threadfence();
            volatile Record *r = &rec[c];
            r->count = r->count + 1;
            if (i < r->first_id) r->first_id = i;
            if (i > r->last_id)  r->last_id = i;
            uint k = key;
            for (int t = 0; t < 3; ++t) {
                uint o = r->top[t];
                if (k > o) { r->top[t] = k; k = o; }
            }
            r->key_sum = r->key_sum + key;
            __threadfence();
            atomicExch(&lock[c], 0);
            done = true;
        }
    }
}

// Every block summarises its particles and appends one entry to a log whose tail
// is guarded by a ticket lock taken by thread 0 only.
__global__ void ticket_log(const int *near, uint *ticket, uint *serving, int *tail, uint *log)
{
    __shared__ uint warp_part[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint v = i < N ? (uint)near[i] * 2654435761u + i : 0;
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
    if ((threadIdx.x & 31) == 0) warp_part[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint s = 0;
        for (int w = 0; w < 8; ++w) s += warp_part[w];
        uint mine = atomicAdd(ticket, 1);
        while (atomicAdd(serving, 0) != mine) __nanosleep(64);
        __threadfence();
        int at = *(volatile int *)tail;
        if (at < LOGSIZE) ((volatile uint *)log)[at] = s;
        *(volatile int *)tail = at + 1;
        __threadfence();
        atomicExch(serving, mine + 1);
    }
}

__global__ void rank_step(const int2 *in, int2 *out)      // x: successor, y: distance
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= LISTLEN) return;
    int2 a = in[i];
    if (a.x >= 0) {
        int2 b = in[a.x];
        a.y += b.y;
        a.x = b.x;
    }
    out[i] = a;
}

// mode 0: insert key i of the first set; mode 1: look up keys, half are present
__global__ void dictionary(int *bucket, int2 *chain, int buckets, int mode, uint *found, ull *steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint hit = 0;
    ull walked = 0;
    if (i < N) {
        if (mode == 0) {
            int key = i * 2;
            int2 node;
            node.x = key;
            node.y = atomicExch(&bucket[hash32(key) % buckets], i);
            chain[i] = node;
        } else {
            int key = (int)(hash32(i + 12345) % (4u * N));
            for (int e = bucket[hash32(key) % buckets]; e >= 0;) {
                int2 node = chain[e];
                ++walked;
                hit |= (node.x == key);          // whole chain: cost is order independent
                e = node.y;
            }
        }
    }
    uint votes = __popc(__ballot_sync(0xffffffff, hit != 0));
    for (int d = 16; d; d >>= 1) walked += __shfl_xor_sync(0xffffffff, walked, d);
    if ((threadIdx.x & 31) == 0 && walked) {
        atomicAdd(found, votes);
        atomicAdd(steps, walked);
    }
}

static ull fold(ull h, ull v) { return (h ^ v) * 1099511628211ull; }

int main()
{
    int2 *pos, *push, *chain, *la, *lb;
    int *head, *next, *length, *near, *lock, *bucket, *small;
    uint *digest, *log;
    Record *rec;
    const int buckets = 30011;
    TRY(cudaMalloc(&pos, N * sizeof(int2)));
    TRY(cudaMalloc(&push, N * sizeof(int2)));
    TRY(cudaMalloc(&chain, N * sizeof(int2)));
    TRY(cudaMalloc(&la, LISTLEN * sizeof(int2)));
    TRY(cudaMalloc(&lb, LISTLEN * sizeof(int2)));
    TRY(cudaMalloc(&head, CELLS * sizeof(int)));
    TRY(cudaMalloc(&next, N * sizeof(int)));
    TRY(cudaMalloc(&length, CELLS * sizeof(int)));
    TRY(cudaMalloc(&near, N * sizeof(int)));
    TRY(cudaMalloc(&lock, CELLS * sizeof(int)));
    TRY(cudaMalloc(&bucket, buckets * sizeof(int)));
    TRY(cudaMalloc(&digest, CELLS * sizeof(uint)));
    TRY(cudaMalloc(&log, LOGSIZE * sizeof(uint)));
    TRY(cudaMalloc(&rec, CELLS * sizeof(Record)));
    TRY(cudaMalloc(&small, 256));
    TRY(cudaMemset(small, 0, 256));
    TRY(cudaMemset(head, 0xff, CELLS * sizeof(int)));
    TRY(cudaMemset(bucket, 0xff, buckets * sizeof(int)));
    TRY(cudaMemset(lock, 0, CELLS * sizeof(int)));
    TRY(cudaMemset(log, 0, LOGSIZE * sizeof(uint)));
    Record *hrec = (Record *)calloc(CELLS, sizeof(Record));
    for (int c = 0; c < CELLS; ++c) { hrec[c].first_id = N; hrec[c].last_id = -1; }
    TRY(cudaMemcpy(rec, hrec, CELLS * sizeof(Record), cudaMemcpyHostToDevice));

    int *longest = small, *tail = small + 1;
    uint *ticket = (uint *)small + 2, *serving = (uint *)small + 3, *found = (uint *)small + 4;
    ull *steps = (ull *)(small + 6);

    const int blocks = (N + 255) / 256;
    build_lists<<<blocks, 256>>>(pos, head, next);                                         TRY_KERNEL();
    list_stats<<<(CELLS + 127) / 128, 128>>>(pos, head, next, length, digest, longest);    TRY_KERNEL();
    neighbour_walk<<<blocks, 256>>>(pos, head, next, 560, near, push);                     TRY_KERNEL();
    for (uint salt = 0; salt < 3; ++salt) {
        locked_update<<<blocks, 256>>>(pos, near, lock, rec, salt * 1000003u);             TRY_KERNEL();
    }
    ticket_log<<<blocks, 256>>>(near, ticket, serving, tail, log);                         TRY_KERNEL();

    // one long list through all elements with a stride coprime to the prime length
    int2 *hl = (int2 *)malloc(LISTLEN * sizeof(int2));
    for (int k = 0, at = 0; k < LISTLEN; ++k) {
        int to = (int)((at + 40503ll) % LISTLEN);
        hl[at] = k == LISTLEN - 1 ? make_int2(-1, 0) : make_int2(to, 1);
        at = to;
    }
    TRY(cudaMemcpy(la, hl, LISTLEN * sizeof(int2), cudaMemcpyHostToDevice));
    for (int s = 0; s < 16; ++s) {
        rank_step<<<(LISTLEN + 127) / 128, 128>>>(la, lb);                                 TRY_KERNEL();
        int2 *t = la; la = lb; lb = t;
    }
    for (int mode = 0; mode < 2; ++mode) {
        dictionary<<<blocks, 256>>>(bucket, chain, buckets, mode, found, steps);           TRY_KERNEL();
    }
    TRY(cudaDeviceSynchronize());

    int hs[64];
    int *hlen = (int *)malloc(CELLS * sizeof(int)), *hnear = (int *)malloc(N * sizeof(int));
    uint *hdig = (uint *)malloc(CELLS * sizeof(uint)), *hlog = (uint *)malloc(LOGSIZE * sizeof(uint));
    int2 *hpush = (int2 *)malloc(N * sizeof(int2));
    TRY(cudaMemcpy(hs, small, 256, cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(hlen, length, CELLS * sizeof(int), cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(hdig, digest, CELLS * sizeof(uint), cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(hlog, log, LOGSIZE * sizeof(uint), cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(hnear, near, N * sizeof(int), cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(hpush, push, N * sizeof(int2), cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(hrec, rec, CELLS * sizeof(Record), cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(hl, la, LISTLEN * sizeof(int2), cudaMemcpyDeviceToHost));

    ull h = 14695981039346656037ull, hn = h, hr = h, hk = h;
    long total = 0;
    int wrong = 0;
    for (int c = 0; c < CELLS; ++c) {
        h = fold(fold(h, hlen[c]), hdig[c]);
        total += hlen[c];
        wrong += hrec[c].count != 3 * hlen[c];
        hr = fold(fold(fold(hr, hrec[c].first_id), hrec[c].last_id), hrec[c].key_sum);
        for (int t = 0; t < 3; ++t) hr = fold(hr, hrec[c].top[t]);
    }
    long pairs = 0;
    for (int i = 0; i < N; ++i) {
        hn = fold(fold(fold(hn, hnear[i]), (uint)hpush[i].x), (uint)hpush[i].y);
        pairs += hnear[i];
    }
    uint logsum = 0, logxor = 0;
    for (int i = 0; i < LOGSIZE; ++i) { logsum += hlog[i]; logxor ^= hlog[i]; }
    for (int i = 0; i < LISTLEN; ++i) { hk = fold(hk, (uint)hl[i].y); wrong += hl[i].x != -1; }
    printf("listed %ld longest %d lists %016llx\n", total, hs[0], h);
    printf("pairs %ld neighbours %016llx\n", pairs, hn);
    printf("records %016llx wrong %d\n", hr, wrong);
    printf("log entries %d sum %08x xor %08x tickets %d\n", hs[1], logsum, logxor, hs[2]);
    printf("list ranks %016llx head rank %d\n", hk, hl[0].y);
    printf("dictionary hits %d steps %llu\n", hs[4], *(ull *)(hs + 6));
    free(hrec); free(hl); free(hlen); free(hnear); free(hdig); free(hlog); free(hpush);
    void *dev[] = {pos, push, chain, la, lb, head, next, length, near, lock, bucket, digest, log, rec, small};
    for (void *p : dev) TRY(cudaFree(p));
    return 0;
}
