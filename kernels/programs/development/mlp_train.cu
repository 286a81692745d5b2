// Training a small 3-layer perceptron: forward, backward, SGD + momentum.
//   x[B,400] -> 320 relu -> 192 relu -> 10 softmax cross entropy
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void cuda_check(cudaError_t e, const char* what, const char* file, int line) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s failed: %s\n", file, line, what, cudaGetErrorString(e));
  std::exit(EXIT_FAILURE);
}
#define CU(x) cuda_check((x), #x, __FILE__, __LINE__)
#define CU_LAUNCH() CU(cudaGetLastError())

constexpr int TM = 32, TN = 32, TK = 16;

// C[M,N] = op(A) * op(B) * alpha.  TA: A stored [K,M];  TB: B stored [N,K].
// 256 threads, each owns a 2x2 micro tile.
template <bool TA, bool TB>
__global__ void __launch_bounds__(256)
gemm(int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B,
     float* __restrict__ C) {
  __shared__ float sa[TK][TM + 2];
  __shared__ float sb[TK][TN + 2];
  const int tid = threadIdx.x;
  const int tx = tid & 15, ty = tid >> 4;
  const int m0 = blockIdx.y * TM, n0 = blockIdx.x * TN;
  float acc[2][2] = {};

  for (int k0 = 0; k0 < K; k0 += TK) {
#pragma unroll
    for (int e = tid; e < TM * TK; e += 256) {
      int m, k;
      if (TA) { m = e % TM; k = e / TM; } else { k = e % TK; m = e / TK; }
      float v = 0.f;
      if (m0 + m < M && k0 + k < K)
        v = TA ? A[(k0 + k) * M + m0 + m] : A[(m0 + m) * K + k0 + k];
      sa[k][m] = v;
    }
#pragma unroll
    for (int e = tid; e < TN * TK; e += 256) {
      int n, k;
      if (TB) { k = e % TK; n = e / TK; } else { n = e % TN; k = e / TN; }
      float v = 0.f;
      if (n0 + n < N && k0 + k < K)
        v = TB ? B[(n0 + n) * K + k0 + k] : B[(k0 + k) * N + n0 + n];
      sb[k][n] = v;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TK; ++k) {
      const float a0 = sa[k][ty * 2], a1 = sa[k][ty * 2 + 1];
      const float b0 = sb[k][tx * 2], b1 = sb[k][tx * 2 + 1];
      acc[0][0] += a0 * b0;
      acc[0][1] += a0 * b1;
      acc[1][0] += a1 * b0;
      acc[1][1] += a1 * b1;
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const int m = m0 + ty * 2 + i, n = n0 + tx * 2 + j;
      if (m < M && n < N) C[m * N + n] = alpha * acc[i][j];
    }
}

__global__ void add_bias_act(float* __restrict__ y, const float* __restrict__ bias, int rows, int cols,
                             bool relu) {
  const int total = rows * cols;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
    float v = y[i] + bias[i % cols];
    y[i] = (relu && v < 0.f) ? 0.f : v;
  }
}

// one warp per sample; writes d(loss)/d(logits) and the loss of the sample
__global__ void softmax_xent(const float* __restrict__ logits, const int* __restrict__ label,
                             float* __restrict__ dlogits, float* __restrict__ loss, int rows, int cols) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  const int lane = threadIdx.x & 31;
  if (warp >= rows) return;
  const float v = lane < cols ? logits[warp * cols + lane] : -INFINITY;
  float mx = v;
  for (int o = 16; o; o >>= 1) mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, o));
  const float e = lane < cols ? expf(v - mx) : 0.f;
  float s = e;
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  const int t = label[warp];
  if (lane < cols) dlogits[warp * cols + lane] = e / s - (lane == t ? 1.f : 0.f);
  if (lane == t) loss[warp] = logf(s) - (v - mx);
}

// db[c] = sum_r dy[r,c] * scale : a 32x8 block sweeps 32 columns
__global__ void col_sum(const float* __restrict__ dy, float* __restrict__ db, int rows, int cols, float scale) {
  __shared__ float part[8][33];
  const int c = blockIdx.x * 32 + threadIdx.x;
  float s = 0.f;
  if (c < cols)
    for (int r = threadIdx.y; r < rows; r += 8) s += dy[r * cols + c];
  part[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.y == 0 && c < cols) {
    float t = 0.f;
    for (int i = 0; i < 8; ++i) t += part[i][threadIdx.x];
    db[c] = t * scale;
  }
}

__global__ void relu_backward(float* __restrict__ dx, const float* __restrict__ act, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && act[i] <= 0.f) dx[i] = 0.f;
}

__global__ void sgd_momentum(float4* __restrict__ w, float4* __restrict__ vel, const float4* __restrict__ g,
                             int n4, float lr, float mu, float decay) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  float4 p = w[i], v = vel[i];
  const float4 d = g[i];
  v.x = mu * v.x + (d.x + decay * p.x);
  v.y = mu * v.y + (d.y + decay * p.y);
  v.z = mu * v.z + (d.z + decay * p.z);
  v.w = mu * v.w + (d.w + decay * p.w);
  p.x -= lr * v.x;
  p.y -= lr * v.y;
  p.z -= lr * v.z;
  p.w -= lr * v.w;
  vel[i] = v;
  w[i] = p;
}

static uint32_t mix(uint32_t a, uint32_t b) {
  uint32_t h = a * 0x9E3779B1u ^ (b + 0x7F4A7C15u) * 0x85EBCA77u;
  h ^= h >> 16; h *= 0x7feb352du; h ^= h >> 15; h *= 0x846ca68bu; h ^= h >> 16;
  return h;
}
static float unit(uint32_t a, uint32_t b) { return (mix(a, b) >> 8) * (1.f / 16777216.f) * 2.f - 1.f; }

template <class T> struct DeviceArray {
  T* p = nullptr;
  size_t n = 0;
  explicit DeviceArray(size_t n_) : n(n_) { CU(cudaMalloc(&p, n * sizeof(T))); CU(cudaMemset(p, 0, n * sizeof(T))); }
  ~DeviceArray() { cudaFree(p); }
  DeviceArray(const DeviceArray&) = delete;
  void upload(const std::vector<T>& h) { CU(cudaMemcpy(p, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice)); }
  std::vector<T> download() const {
    std::vector<T> h(n);
    CU(cudaMemcpy(h.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return h;
  }
};

template <bool TA, bool TB>
static void run_gemm(int M, int N, int K, float alpha, const float* A, const float* B, float* C) {
  dim3 grid((N + TN - 1) / TN, (M + TM - 1) / TM);
  gemm<TA, TB><<<grid, 256>>>(M, N, K, alpha, A, B, C);
  CU_LAUNCH();
}

int main() {
  constexpr int L = 3;
  const int dim[L + 1] = {400, 320, 192, 10};
  const int batch = 300, steps = 3;

  size_t woff[L], boff[L], total = 0;
  for (int l = 0; l < L; ++l) {
    woff[l] = total; total += (size_t)dim[l] * dim[l + 1];
    boff[l] = total; total += (dim[l + 1] + 3) / 4 * 4;
  }
  DeviceArray<float> params(total), grads(total), vel(total);
  {
    std::vector<float> h(total, 0.f);
    for (int l = 0; l < L; ++l) {
      const float sc = std::sqrt(6.f / (dim[l] + dim[l + 1]));
      for (int i = 0; i < dim[l] * dim[l + 1]; ++i) h[woff[l] + i] = unit(i, 100 + l) * sc;
    }
    params.upload(h);
  }
  DeviceArray<float> a0((size_t)batch * dim[0]), a1((size_t)batch * dim[1]), a2((size_t)batch * dim[2]),
      a3((size_t)batch * dim[3]);
  DeviceArray<float> d1((size_t)batch * dim[1]), d2((size_t)batch * dim[2]), d3((size_t)batch * dim[3]);
  DeviceArray<float> loss(batch);
  DeviceArray<int> labels(batch);
  float* act[] = {a0.p, a1.p, a2.p, a3.p};
  float* dact[] = {nullptr, d1.p, d2.p, d3.p};

  for (int step = 0; step < steps; ++step) {
    std::vector<float> x((size_t)batch * dim[0]);
    std::vector<int> y(batch);
    for (int b = 0; b < batch; ++b) {
      y[b] = mix(b, 7000 + step) % 10;
      for (int i = 0; i < dim[0]; ++i)  // class prototype + noise
        x[(size_t)b * dim[0] + i] = 0.5f * unit(i, 31 + y[b]) + 0.5f * unit(b * dim[0] + i, 9000 + step);
    }
    a0.upload(x);
    labels.upload(y);

    for (int l = 0; l < L; ++l) {  // forward
      run_gemm<false, false>(batch, dim[l + 1], dim[l], 1.f, act[l], params.p + woff[l], act[l + 1]);
      const int n = batch * dim[l + 1];
      add_bias_act<<<(n + 511) / 512, 256>>>(act[l + 1], params.p + boff[l], batch, dim[l + 1], l + 1 < L);
      CU_LAUNCH();
    }
    softmax_xent<<<(batch + 3) / 4, 128>>>(act[L], labels.p, dact[L], loss.p, batch, dim[L]);
    CU_LAUNCH();
    for (int l = L - 1; l >= 0; --l) {  // backward
      run_gemm<true, false>(dim[l], dim[l + 1], batch, 1.f / batch, act[l], dact[l + 1], grads.p + woff[l]);
      col_sum<<<(dim[l + 1] + 31) / 32, dim3(32, 8)>>>(dact[l + 1], grads.p + boff[l], batch, dim[l + 1],
                                                       1.f / batch);
      CU_LAUNCH();
      if (l > 0) {
        run_gemm<false, true>(batch, dim[l], dim[l + 1], 1.f, dact[l + 1], params.p + woff[l], dact[l]);
        const int n = batch * dim[l];
        relu_backward<<<(n + 255) / 256, 256>>>(dact[l], act[l], n);
        CU_LAUNCH();
      }
    }
    const int n4 = int(total / 4);
    sgd_momentum<<<(n4 + 127) / 128, 128>>>((float4*)params.p, (float4*)vel.p, (const float4*)grads.p, n4, 0.1f,
                                            0.9f, 1e-4f);
    CU_LAUNCH();
    CU(cudaDeviceSynchronize());

    if (step == 0) {  // the first hidden layer of the first step is exact arithmetic: hash it
      auto h = a1.download();
      uint64_t f = 0xcbf29ce484222325ull;
      for (float v : h) { uint32_t u; std::memcpy(&u, &v, 4); f = (f ^ u) * 0x100000001b3ull; }
      std::printf("hidden1 hash %016llx\n", (unsigned long long)f);
    }
    auto hl = loss.download();
    auto lg = a3.download();
    double s = 0;
    int correct = 0;
    for (int b = 0; b < batch; ++b) {
      s += hl[b];
      int best = 0;
      for (int c = 1; c < 10; ++c) if (lg[b * 10 + c] > lg[b * 10 + best]) best = c;
      correct += best == y[b];
    }
    std::printf("step %d loss %.3f correct %d/%d\n", step, s / batch, correct, batch);
  }
  double norm = 0;
  for (float v : params.download()) norm += std::fabs((double)v);
  std::printf("sum|w| %.1f\n", norm);
  return 0;
}
