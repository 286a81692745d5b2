#!/usr/bin/env python3
"""Makes cubins whose loops have machine instructions of one's choice, to time what they take of a scheduler (docs/notes/issue.md).

    nvcc -arch=sm_90 -cubin -DBODY=64 -o t64.cubin template.cu        (and BODY=512, 2048, 4096)
    issue.py FOLDER        FOLDER has t64.cubin and others; gets two cubins of each case and `list`
    gcc -O1 -o run run.c -ldl && ./run FOLDER >issue.csv              (on the machine with the GPU)
    issue.py --table issue.csv        cycles that one more copy takes a scheduler, by warps on an SM

Places of fields are those of analysis/sass/decode.h. Registers 0, 2 to 11 and 18 to 21 may be anything; 22 is 0, 23 four times the lane, 10 and 11
the address of a buffer, P1 the lower half of the lanes, P2 false, P3 true.
"""
import collections
import os
import struct
import sys

ZERO, ADDRESS, LANE, RZ = 22, 23, 24, 255
SIZES = {4: 4, 8: 5, 16: 6}


def put(word, first, count, value):
    mask = (1 << count) - 1
    return word & ~(mask << first) | (value & mask) << first


def make(low, high, d=None, a=None, b=None, c=None, imm=None, pd=None, p=7, neg=0, st=1, y=0, wb=7, mask=0, ru=0):
    """An instruction of these bits, with its registers, immediate, predicates and control fields."""
    word = low | high << 64
    for first, count, value in ((16, 8, d), (24, 8, a), (32, 8, b), (32, 32, imm), (64, 8, c), (81, 3, pd)):
        word = word if value is None else put(word, first, count, value)
    for first, count, value in ((12, 3, p), (15, 1, neg), (105, 4, st), (109, 1, not y), (110, 3, wb), (113, 3, 7), (116, 6, mask), (122, 4, ru)):
        word = put(word, first, count, int(value))
    return word


def form(low, high, *places, **fixed):
    return lambda *operands, **control: make(low, high, **dict(zip(places, operands)), **fixed, **control)


FFMA = form(0x7223, 0, "d", "a", "b", "c")
FFMAI = form(0x7823, 0, "d", "a", "c", imm=0x3f800000)
FADD, FMUL = form(0x7221, 0, "d", "a", "b"), form(0x7220, 0x400000, "d", "a", "b")
IMAD = form(0x7224, 0x078e0200, "d", "a", "b", "c")
IMAD_MOV = form(0x7424, 0x078e00ff, "d", a=RZ, imm=0x3f800000)
IMAD_WIDE = form(0x7825, 0x078e0200, "d", "a", "c", imm=4)
IADD3, LOP3 = form(0x7210, 0x07ffe0ff, "d", "a", "b"), form(0x7212, 0x078e96ff, "d", "a", "b")
SHF, LEA = form(0x7219, 0x6ff, "d", "a", "b"), form(0x7211, 0x078eb8ff, "d", "a", "b")
MOV, MOVI = form(0x7202, 0xf00, "d", "b"), form(0x7802, 0xf00, "d", imm=0x3f800000)
HFMA2, VIADD = form(0x7435, 0x1ff, "d", a=RZ, imm=0), form(0x7836, 0, "d", "a", imm=5)
I2FP, FRND, MUFU = form(0x7245, 0x201400, "d", "b"), form(0x7307, 0x205000, "d", "b"), form(0x7308, 0x1400, "d", "b")
FMNMX, FSEL, SEL = form(0x7209, 0x07800000, "d", "a", "b"), form(0x7208, 0x02000000, "d", "a", "b"), form(0x7207, 0x02000000, "d", "a", "b")
FSETP, FCHK = form(0x720b, 0x03f1d000, "a", "b", pd=4), form(0x7302, 0, "a", "b", pd=4)
DFMA = form(0x722b, 0, "d", "a", "b", "c")
S2R, LDC = form(0x7919, 0x2100, "d"), form(0x00000a00ff007b82, 0x800, "d")
ULDC, UIADD3, UMOV = form(0x0000820000007ab9, 0x800, d=20), form(0x0000001004047890, 0x0fffe03f, d=20, a=20), form(0x0000040000007882, 0, d=20)
NOP = form(0x7918, 0)


def ISETP(pd, a, imm, compare=6, **control):
    return make(0x780c, 0x03f00270 | compare << 12, a=a, imm=imm, pd=pd, **control)


def LDS(d, a, size=4, **control):
    return put(make(0x7984, 0, d=d, a=a, imm=0x400 << 8, **control), 73, 3, SIZES[size])


def STS(a, b, size=4, **control):
    return put(make(0x7388 | 0x400 << 40, 0, a=a, b=b, **control), 73, 3, SIZES[size])


def LDG(d, size=4, **control):
    return put(make(4 << 32 | 0x7981, 0x0c1e1100, d=d, a=10, **control), 73, 3, SIZES[size])


def BRA(distance, **control):
    """To so many instructions after the next."""
    words = distance * 4
    return put(put(make(0x7947, 0x03800000, **control), 16, 8, words & 255), 34, 48, words >> 8)


def BSSY(distance, barrier=0, **control):
    return put(put(make(0x7945, 0x03800000, **control), 16, 4, barrier), 34, 48, distance * 4)


def BSYNC(barrier=0, **control):
    return put(make(0x7941, 0x03800000, **control), 16, 4, barrier)


SETUP = [S2R(LANE, st=8, wb=0, mask=0x3f), make(0x7812, 0x078ec0ff, d=LANE, a=LANE, imm=31, st=15, mask=1),
         ISETP(1, LANE, 16, 1, st=15), ISETP(2, LANE, 0, 1, st=15), ISETP(3, LANE, 0, st=15), ISETP(4, LANE, 0, st=15),
         make(0x7824, 0x078e02ff, d=ADDRESS, a=LANE, imm=4, st=15), MOV(ZERO, RZ, st=15),
         make(0x218 // 4 << 40 | 0xff007b82, 0xa00, d=10, st=15, wb=1), NOP(st=15, mask=2)]
SETUP += [NOP(st=15)] * (16 - len(SETUP))


def cases():
    """Name, and the instructions of a copy; of long loops also the template."""
    f, n = FFMA(3, 2, 3, 2), NOP()
    yield "ffma", [FFMA(0, 2, 3, 2), f]
    yield "ffma_two_in_a_bank", [FFMA(0, 2, 3, 4), FFMA(3, 6, 5, 8)]
    yield "ffma_same_operands", [FFMA(0, 2, 3, 4), FFMA(3, 2, 3, 4)]
    yield "ffma_reuse", [FFMA(0, 2, 3, 4, ru=1), FFMA(3, 2, 5, 6, ru=1)]
    for name, made in (("fadd", FADD(0, 2, 3)), ("fmul", FMUL(0, 2, 3)), ("ffma_immediate", FFMAI(0, 2, 3)), ("nop", n), ("iadd3", IADD3(0, 2, 3)),
                       ("lop3", LOP3(0, 2, 3)), ("shf", SHF(0, 2, 3)), ("lea", LEA(0, 2, 3)), ("mov", MOV(0, 2)), ("sel", SEL(0, 2, 3)),
                       ("isetp", ISETP(4, 2, 1)),
                       ("fsetp", FSETP(2, 3)), ("fmnmx", FMNMX(0, 2, 3)), ("fsel", FSEL(0, 2, 3)), ("i2fp", I2FP(0, 2)), ("imad", IMAD(0, 2, 3, 2)),
                       ("imad_mov", IMAD_MOV(0)), ("viadd", VIADD(0, 2)), ("hfma2", HFMA2(0)), ("imad_wide", IMAD_WIDE(4, 2, 6)),
                       ("mufu", MUFU(0, 2)),
                       ("frnd", FRND(0, 2)), ("fchk", FCHK(2, 3)), ("dfma", DFMA(4, 6, 8, 10)), ("uiadd3", UIADD3()), ("umov", UMOV()),
                       ("uldc", ULDC()), ("ldc", LDC(0)),
                       ("s2r", S2R(0)), ("lds4", LDS(0, ADDRESS)), ("lds16", LDS(4, ZERO, 16)), ("ldg", LDG(0)), ("bssy", BSSY(40)),
                       ("bra_not", BRA(0, p=2)), ("bra", BRA(0, st=5))):
        yield name, [made]
        for count in (1, 2, 3, 5, 7, 15):
            yield f"{name}_f{count}", [made] + [f] * count
    imad = IMAD(3, 2, 3, 2)
    for name, made in (("hfma2", HFMA2(0)), ("viadd", VIADD(0, 2)), ("iadd3", IADD3(0, 2, 3)), ("imad_wide", IMAD_WIDE(4, 2, 6)),
                       ("lds4", LDS(0, ADDRESS))):
        yield name + "_imad", [made, imad]
        yield name + "_nop3", [made, n, n, n]
        yield name + "_iadd3_3", [made] + [IADD3(3, 2, 3)] * 3
    yield "imad_wide_odd_f3", [IMAD_WIDE(4, 3, 6), f, f, f]
    yield "lds4_even5", [LDS(0, ADDRESS)] + [FFMA(3, 2, 2, 2)] * 5
    yield "lds4_lds4_f6", [LDS(0, ADDRESS), LDS(5, ADDRESS)] + [f] * 6
    yield "ldg_ldg_f6", [LDG(0), LDG(3)] + [f] * 6
    for size, data, count in ((4, 0, 5), (8, 4, 7), (16, 4, 7)):
        yield f"sts{size}_f{count}", [STS(ZERO, data, size)] + [f] * count
    yield "bssy_bsync", [BSSY(2), NOP(st=4), BSYNC(st=5)]
    for name, predicate in (("parts", 1), ("goes", 3), ("stays", 2)):
        yield "bssy_bsync_" + name, [BSSY(3, st=5), BRA(1, p=predicate, st=6), f, BSYNC(st=5)]
    for body in (512, 2048, 4096):
        yield f"long{body}", [f, FFMA(0, 2, 3, 2)], body


def text_section(data):
    table, = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3c)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
    for s in sections:
        if data[sections[names][4] + s[0]:].split(b"\0", 1)[0] == b".text.timed":
            return s[4], s[5]
    raise SystemExit("no such kernel")


def build(template, body, out):
    with open(template, "rb") as f:
        data = bytearray(f.read())
    start, size = text_section(data)
    words = [int.from_bytes(data[start + i:start + i + 16], "little") for i in range(0, size, 16)]
    setup = [i for i, w in enumerate(words) if w & 0xfff == 0x221][:16]
    loop = [i for i, w in enumerate(words) if w & 0xfff == 0x223]
    for i, word in zip(setup, SETUP):
        words[i] = word
    for i in loop:
        words[i] = NOP()
    # The loop counts down between its first multiply-adds; what follows the third is ours, then the branch back.
    first, end = loop[2], loop[2] + len(body)
    words[loop[-1] + 1] = NOP()
    words[first:end] = body
    words[end] = BRA(loop[0] - end - 1, p=0, st=6)
    for i, word in enumerate(words):
        data[start + 16 * i:start + 16 * i + 16] = word.to_bytes(16, "little")
    with open(out, "wb") as f:
        f.write(data)


def write_all(folder):
    with open(os.path.join(folder, "list"), "w") as listed:
        for name, copy, *long in cases():
            size = long[0] if long else 64
            many = max(2, min(48 if not long else size - 16, size - 16) // len(copy))
            for copies in (many // 2, many):
                file = f"{name}.{copies}"
                build(os.path.join(folder, f"t{size}.cubin"), copy * copies, os.path.join(folder, file))
                print(name, file, copies, len(copy), file=listed)


def print_table(path):
    rounds = collections.defaultdict(list)
    for line in open(path):
        name, copies, _, warps, cycles = line.strip().split(",")
        rounds[name, int(warps)].append((int(copies), float(cycles)))
    for (name, warps), ((few, a), (many, b)) in rounds.items():
        print(f"{name},{warps},{(b - a) / (many - few) / max(1, warps / 4):.2f}")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--table":
        print_table(sys.argv[2])
    elif len(sys.argv) == 2:
        write_all(sys.argv[1])
    else:
        raise SystemExit(__doc__)
