// Sparse matrix-vector product on a matrix with very uneven rows: CSR thread-per-row, CSR warp-per-row,
// and the transposed product (the CSR arrays read as CSC) with atomic scatter.
// Hard for a GPU: a few long rows keep single threads busy, gathers are scattered, atomics pile up on popular columns.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(func)                                                       \
{                                                                              \
    cudaError_t status = (func);                                               \
    if (status != cudaSuccess) {                                               \
        printf("CUDA API failed at line %d with error: %s (%d)\n",             \
               __LINE__, cudaGetErrorString(status), status);                  \
        return EXIT_FAILURE;                                                   \
    }                                                                          \
}

__host__ __device__ inline unsigned hash32(unsigned a)
{
    a = (a + 0x7ed55d16) + (a << 12);
    a = (a ^ 0xc761c23c) ^ (a >> 19);
    a = (a + 0x165667b1) + (a << 5);
    a = (a + 0xd3a2646c) ^ (a << 9);
    a = (a + 0xfd7046c5) + (a << 3);
    a = (a ^ 0xb55a4f09) ^ (a >> 16);
    return a;
}

__global__ void fill(int nnz, int cols, int *__restrict__ col, int *__restrict__ val, int *__restrict__ x)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nnz; i += gridDim.x * blockDim.x) {
        unsigned h = hash32(i);
        // one entry in eight goes to the popular first 500 columns
        col[i] = (h & 7) == 0 ? (h >> 3) % 500u : (h >> 3) % (unsigned)cols;
        val[i] = (int)(hash32(i + 0x1234567) % 201u) - 100;
        if (i < cols) x[i] = (int)(hash32(~i) & 63) - 31;
    }
}

__global__ void spmv_csr_scalar(int rows, const int *row_ptr, const int *col, const int *val, const int *x, long long *y)
{
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < rows) {
        long long dot = 0;
        int row_start = row_ptr[row];
        int row_end = row_ptr[row + 1];
        for (int jj = row_start; jj < row_end; jj++)
            dot += val[jj] * x[col[jj]];
        y[row] += dot;
    }
}

__global__ void spmv_csr_vector(int rows, const int *__restrict__ row_ptr, const int *__restrict__ col,
                                const int *__restrict__ val, const int *__restrict__ x, long long *y)
{
    int warp = (blockDim.x * blockIdx.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    int nwarps = gridDim.x * blockDim.x / 32;
    for (int row = warp; row < rows; row += nwarps) {
        int sum = 0;
        for (int j = row_ptr[row] + lane; j < row_ptr[row + 1]; j += 32)
            sum += val[j] * __ldg(x + col[j]);
        for (int o = 16; o > 0; o /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, o);
        if (lane == 0)
            y[row] += sum;
    }
}

__global__ void spmv_transposed(int rows, const int *__restrict__ ptr, const int *__restrict__ idx,
                                const int *__restrict__ val, const int *__restrict__ x, int *y)
{
    int c = blockDim.x * blockIdx.x + threadIdx.x;
    if (c >= rows)
        return;
    int xv = x[c];
    for (int j = ptr[c]; j < ptr[c + 1]; j++)
        atomicAdd(&y[idx[j]], val[j] * xv);
}

int main()
{
    const int rows = 150001, cols = 180000;
    std::vector<int> ptr(rows + 1);
    for (int r = 0; r < rows; r++) {
        unsigned h = hash32(r * 5 + 3);
        int len = 3 + (h & 7);
        if ((h >> 3) % 64 == 0) len += (h >> 9) % 128;          // some medium rows
        if ((h >> 3) % 4001 == 0) len += 300 + (h >> 16) % 1500; // very few long rows
        ptr[r + 1] = ptr[r] + len;
    }
    const int nnz = ptr[rows];
    int *d_ptr, *d_col, *d_val, *d_x, *d_yt;
    long long *d_y;
    CHECK_CUDA(cudaMalloc((void **)&d_ptr, (rows + 1) * sizeof(int)))
    CHECK_CUDA(cudaMalloc((void **)&d_col, nnz * sizeof(int)))
    CHECK_CUDA(cudaMalloc((void **)&d_val, nnz * sizeof(int)))
    CHECK_CUDA(cudaMalloc((void **)&d_x, cols * sizeof(int)))
    CHECK_CUDA(cudaMalloc((void **)&d_y, rows * sizeof(long long)))
    CHECK_CUDA(cudaMalloc((void **)&d_yt, cols * sizeof(int)))
    CHECK_CUDA(cudaMemcpy(d_ptr, ptr.data(), (rows + 1) * sizeof(int), cudaMemcpyHostToDevice))
    CHECK_CUDA(cudaMemset(d_y, 0, rows * sizeof(long long)))
    CHECK_CUDA(cudaMemset(d_yt, 0, cols * sizeof(int)))

    fill<<<528, 256>>>(nnz, cols, d_col, d_val, d_x);
    for (int it = 0; it < 2; it++)
        spmv_csr_scalar<<<(rows + 127) / 128, 128>>>(rows, d_ptr, d_col, d_val, d_x, d_y);
    for (int it = 0; it < 2; it++)
        spmv_csr_vector<<<1056, 256>>>(rows, d_ptr, d_col, d_val, d_x, d_y);
    for (int it = 0; it < 2; it++)
        spmv_transposed<<<(rows + 191) / 192, 192>>>(rows, d_ptr, d_col, d_val, d_x, d_yt);
    CHECK_CUDA(cudaGetLastError())

    std::vector<long long> y(rows);
    std::vector<int> yt(cols);
    CHECK_CUDA(cudaMemcpy(y.data(), d_y, rows * sizeof(long long), cudaMemcpyDeviceToHost))
    CHECK_CUDA(cudaMemcpy(yt.data(), d_yt, cols * sizeof(int), cudaMemcpyDeviceToHost))
    unsigned long long h1 = 0, h2 = 0;
    for (long long v : y) h1 = h1 * 6364136223846793005ull + (unsigned long long)v;
    for (int v : yt) h2 = h2 * 6364136223846793005ull + (unsigned)v;
    printf("nnz %d  y %016llx  yt %016llx\n", nnz, h1, h2);
    cudaFree(d_ptr); cudaFree(d_col); cudaFree(d_val); cudaFree(d_x); cudaFree(d_y); cudaFree(d_yt);
    return 0;
}
