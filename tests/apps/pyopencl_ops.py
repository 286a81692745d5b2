#!/usr/bin/python3
"""PyOpenCL's own kernel generators and a program of the user's, checked against numpy."""
import sys

import numpy as np
import pyopencl as cl
import pyopencl.array
import pyopencl.elementwise
import pyopencl.reduction
import pyopencl.scan

COUNT = 5000

SOURCE = """
__kernel void blur(__global const int *in, __global int *out, int count)
{
    int i = get_global_id(0);
    out[i] = in[max(i - 1, 0)] + 2 * in[i] + in[min(i + 1, count - 1)];
}
"""


def show(name, got, want):
    if not np.array_equal(got, want):
        sys.exit(f"{name}: wrong result")
    print(f"{name}: {int(np.sum(got))}")


def elementwise(context, queue, a, out, values):
    madd = cl.elementwise.ElementwiseKernel(context, "int *out, const int *a, int b", "out[i] = a[i] * a[i] + b")
    madd(out, a, np.int32(3))
    show("elementwise", out.get(), values * values + 3)


def reduction(context, queue, a, out, values):
    largest = cl.reduction.ReductionKernel(context, np.int32, neutral="0", reduce_expr="max(a, b)",
                                           map_expr="x[i] % 997", arguments="const __global int *x")
    show("reduction", largest(a).get(), np.max(values % 997))


def scan(context, queue, a, out, values):
    inclusive = cl.scan.InclusiveScanKernel(context, np.int32, "a + b", neutral="0")
    cl.enqueue_copy(queue, out.data, a.data)
    inclusive(out)
    show("scan", out.get(), np.cumsum(values, dtype=np.int32))


def program(context, queue, a, out, values):
    built = cl.Program(context, SOURCE).build()
    built.blur(queue, (COUNT,), None, a.data, out.data, np.int32(COUNT))
    show("program", out.get(), values + values + np.append(values[0], values[:-1]) + np.append(values[1:], values[-1]))


def main(names):
    tests = {test.__name__: test for test in (elementwise, reduction, scan, program)}
    device = cl.get_platforms()[0].get_devices()[0]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    values = np.arange(COUNT, dtype=np.int32) * 7 % 1000
    a = cl.array.to_device(queue, values)
    for name in names or tests:
        tests[name](context, queue, a, cl.array.empty_like(a), values)


main(sys.argv[1:])
