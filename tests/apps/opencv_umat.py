#!/usr/bin/python3
"""A few of OpenCV's operations on UMat, that is through OpenCL, compared with the same on the host."""
import sys

import cv2
import numpy as np


def steps(image):
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    blurred = cv2.GaussianBlur(grey, (5, 5), 1.5)
    _, mask = cv2.threshold(blurred, 100, 255, cv2.THRESH_BINARY)
    total = cv2.add(grey, mask)
    return [("grey", grey), ("blurred", blurred), ("mask", mask), ("total", total)]


def main():
    cv2.ocl.setUseOpenCL(True)
    if not cv2.ocl.haveOpenCL() or not cv2.ocl.useOpenCL():
        sys.exit("OpenCV found no OpenCL device")
    rows, columns = np.mgrid[0:120, 0:160]
    image = np.dstack([(rows * 5 + columns) % 256, (rows + columns * 3) % 256, rows * columns % 256]).astype(np.uint8)
    plain = steps(image)
    for (name, got), (_, want) in zip(steps(cv2.UMat(image)), plain):
        got = got.get()
        far = int(np.max(np.abs(got.astype(int) - want.astype(int)) * (name != "mask" and name != "total")))
        print(f"{name}: {int(np.sum(got))}")
        if far > 2:
            sys.exit(f"{name}: differs from the host by {far}")


main()
