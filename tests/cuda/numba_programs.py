"""A Python program whose kernels Numba compiles and launches by the CUDA driver's functions. It prints PASS, or FAIL and what is wrong.
   CUDA_HOME=FOLDER python3 numba_programs.py
FOLDER has nvvm/lib64/libnvvm.so, nvvm/libdevice and lib64/libcudart.so: tests/cuda/run.sh makes it of an installed toolkit. Numba 0.56, which is
Debian's, says to the compiler of CUDA 13 that its code is of version 1.6. That one takes 2.0 alone, and the code is the same."""
import math
import sys
import warnings

import numba.cuda.cudadrv.nvvm as nvvm
import numpy as np
from llvmlite import ir

warnings.simplefilter("ignore")


def add_ir_version(module):
    i32 = ir.IntType(32)
    module.add_named_metadata("nvvmir.version", module.add_metadata([i32(n) for n in (2, 0, 3, 1)]))


nvvm.add_ir_version = add_ir_version
from numba import cuda, float32  # noqa: E402

TILE = 16


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = a * x[i] + y[i]


@cuda.jit
def multiply(a, b, c):
    of_a = cuda.shared.array((TILE, TILE), dtype=float32)
    of_b = cuda.shared.array((TILE, TILE), dtype=float32)
    row, column = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range(a.shape[1] // TILE):
        of_a[i, j] = a[row, j + tile * TILE]
        of_b[i, j] = b[i + tile * TILE, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += of_a[i, k] * of_b[k, j]
        cuda.syncthreads()
    c[row, column] = total


@cuda.reduce
def add_up(a, b):
    return a + b


@cuda.jit
def count(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, values[i], 1)


@cuda.jit(device=True)
def damped(x):
    return math.sin(x) * math.exp(-x)


@cuda.jit(max_registers=32)
def damp(x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = damped(x[i])


def near(got, wanted, by):
    return bool(np.abs(got - wanted).max() <= by)


def sums(random):
    x, y = random.random(100000, dtype=np.float32), random.random(100000, dtype=np.float32)
    out = np.zeros_like(x)
    saxpy[(x.size + 255) // 256, 256](np.float32(2), x, y, out)
    return near(out, 2 * x + y, 1e-6)


def products(random):
    a, b = random.random((64, 64), dtype=np.float32), random.random((64, 64), dtype=np.float32)
    c = cuda.device_array((64, 64), np.float32)
    multiply[(4, 4), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
    return near(c.copy_to_host(), a @ b, 1e-4)


def reductions(_):
    return add_up(np.arange(10000.0)) == 10000 * 9999 / 2


def counts(random):
    values, found = random.integers(0, 16, 50000), np.zeros(16, np.int64)
    count[200, 256](values, found)
    return near(found, np.bincount(values, minlength=16), 0)


def streams(random):
    x = random.random(20000, dtype=np.float32)
    on_device, stream, begin, end = cuda.to_device(x), cuda.stream(), cuda.event(), cuda.event()
    begin.record(stream)
    damp[32, 128, stream](on_device)
    end.record(stream)
    end.synchronize()
    registers = max(damp.get_regs_per_thread().values())
    return near(on_device.copy_to_host(), np.sin(x) * np.exp(-x), 1e-6) and cuda.event_elapsed_time(begin, end) >= 0 and registers <= 32


def contexts(random):
    on_device = cuda.to_device(random.random(100))
    cuda.close()  # frees without a current context
    del on_device
    return cuda.to_device(np.ones(3)).copy_to_host().sum() == 3


failed = [part.__name__ for part in (sums, products, reductions, counts, streams, contexts) if not part(np.random.default_rng(1))]
print("FAIL " + ", ".join(failed) if failed else "PASS")
sys.exit(bool(failed))
