#!/usr/bin/env python3
"""Reads traces as Accel-Sim's simulator does (gpu-simulator/trace-parser, trace-driven) and says at what it would end, or never end.
  check_traces.py DIR     with kernelslist.g and its traces, text
Ends with 1 if there is something. Opcodes are those of the simulator's tables (gpu-simulator/ISA_Def), by binary version."""
import os, re, sys

VOLTA = set("""FADD FADD32I FCHK FFMA32I FFMA FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZADD MUFU HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I HSET2
HSETP2 HMMA DADD DFMA DMUL DSETP BMSK BREV FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMMA IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP LEA LOP LOP3
LOP32I POPC SHF SHR VABSDIFF VABSDIFF4 F2F F2I I2F I2I I2IP FRND MOV MOV32I PRMT SEL SGXT SHFL PLOP3 PSETP P2R R2P LD LDC LDG LDL LDS ST STG STL STS
MATCH QSPC ATOM ATOMS ATOMG RED CCTL CCTLL ERRBAR MEMBAR CCTLT TEX TLD TLD4 TMML TXD TXQ BMOV BPT BRA BREAK BRX BSSY BSYNC CALL EXIT JMP JMX KILL
NANOSLEEP RET RPCMOV RTT WARPSYNC YIELD B2R BAR CS2R CSMTEST DEPBAR GETLMEMBASE LEPC NOP PMTRIG R2B S2R SETCTAID SETLMEMBASE VOTE VOTE_VTG""".split())
TURING = VOLTA | set("""BMMA SHL MOVM LDSM R2UR S2UR UBMSK UBREV UCLEA UFLO UIADD3 UIMAD UISETP ULDC ULEA ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPOPC
UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR VOTEU SUATOM SULD SURED SUST BRXU JMXU""".split())
AMPERE = TURING | set("HMNMX2 DMMA F2FP I2FP F2IP LDGDEPBAR LDGSTS REDUX UF2FP SUQUERY".split())
HOPPER = AMPERE | set("""VIADD VIADDMNMX VIMNMX VIMNMX3 CGAERRBAR UBLKCP UBLKPF UBLKRED UTMALDG UTMAPF UTMAREDG UTMASTG UTMACCTL UTMACMDFLUSH FENCE SYNCS
ARRIVES UCGABAR_ARV UCGABAR_WAIT WARPGROUP QGMMA HGMMA ELECT USETMAXREG""".split())
TABLES = {70: VOLTA, 75: TURING, 80: AMPERE, 86: AMPERE, 90: HOPPER}
ACCESSES = set("LDG STG LDL STL LDS STS ATOM ATOMG ATOMS RED LDSM LD ST LDGSTS".split())
HEADER = ("kernel name", "kernel id", "grid dim", "block dim", "shmem", "nregs", "binary version", "cuda stream id", "shmem base_addr",
          "local mem base_addr", "nvbit version", "accelsim tracer version")
MOST_SHOWN, WARP = 25, 32
faults = 0


def fault(*words):
    global faults
    faults += 1
    if faults <= MOST_SHOWN:
        print("BAD", *words)


def data_width(opcode):
    """What the simulator takes the bytes of an access for."""
    for token in opcode.split("."):
        if token.isdigit() or (token[:1] == "U" and token[1:].isdigit()):
            return int(token.lstrip("U")) // 8
    return 4


def sizes(text):
    return [int(v) for v in text.strip("()").split(",")]


class Trace:
    def __init__(self, path):
        self.path, self.lines, self.names = path, 0, {}
        self.header, self.places = {}, {}
        self.blocks, self.open, self.warp, self.seen = 0, False, None, set()
        self.left = self.exited = 0

    def say(self, *words):
        fault(os.path.basename(self.path), *words)

    def read(self):
        with open(self.path, newline="") as f:
            for line in f:
                if not line.endswith("\n"):
                    self.say("the last line does not end")
                if line[0] == "#":
                    break
                if line[0] == "-" and " = " in line:
                    key, value = line[1:].rstrip("\n").split(" = ", 1)
                    self.header[key] = value
            missing = [k for k in HEADER if k not in self.header]
            version = int(self.header.get("binary version", 0))
            if missing or version not in TABLES or int(self.header.get("accelsim tracer version", 0)) < 3:
                self.say("header:", *(missing or ["version", version]))
                return self
            self.opcodes = TABLES[version]
            self.fields_before = int(self.header.get("enable lineinfo", 0))
            x, y, z = sizes(self.header["block dim"])
            self.items, (gx, gy, gz) = x * y * z, sizes(self.header["grid dim"])
            for line in f:
                if not line.endswith("\n"):
                    self.say("the last line does not end")
                self.take(line.strip())
        if self.open or self.blocks != gx * gy * gz:
            self.say(self.blocks, "blocks of", gx * gy * gz)
        return self

    def take(self, line):
        if not line:
            return
        if line.startswith("#BEGIN_TB"):
            if self.open:
                self.say("a block within a block")
            self.open, self.seen, self.warp = True, set(), None
        elif line.startswith("#END_TB"):
            self.end_warp()
            self.open, self.warp = False, None
            self.blocks += 1
            if len(self.seen) != -(-self.items // WARP):
                self.say("block", self.blocks, "has", len(self.seen), "warps")
        elif line.startswith("warp ="):
            self.end_warp()
            self.warp, self.exited, self.left = int(line.split("=")[1]), 0, 0
            if self.warp in self.seen or self.warp * WARP >= self.items:
                self.say("block", self.blocks, "warp", self.warp)
            self.seen.add(self.warp)
        elif line.startswith("insts ="):
            self.left = int(line.split("=")[1])
            if self.left < 1:
                self.say("an empty warp")
        elif not line.startswith("thread block"):
            self.instruction(line)

    def end_warp(self):
        if self.warp is None:
            return
        lanes = min(WARP, self.items - WARP * self.warp)
        if self.left:
            self.say("block", self.blocks, "warp", self.warp, "ends before its instructions do:", self.left)
        if self.exited != (1 << lanes) - 1:
            self.say("block", self.blocks, "warp", self.warp, "lanes that exit: %x" % self.exited)

    def registers(self, words, count, most, line):
        if count > most or any(not re.fullmatch(r"R\d+", w) or int(w[1:]) > 255 for w in words[:count]):
            self.say("registers:", line)
        return words[count:]

    def instruction(self, line):
        self.lines += 1
        self.left -= 1
        words = line.split()[self.fields_before:]
        place, mask, results = int(words[0], 16), int(words[1], 16), int(words[2])
        words = self.registers(words[3:], results, 1, line)
        opcode, root = words[0], words[0].split(".")[0]
        words = self.registers(words[2:], int(words[1]), 4, line)
        self.names[root] = self.names.get(root, 0) + 1
        if root not in self.opcodes:
            self.say("not in the table:", line)
        if self.places.setdefault(place, opcode) != opcode:
            self.say("two instructions at one place:", line)
        width, words = int(words[0]), words[1:]
        if root in ACCESSES and not width:
            self.say("an access without addresses:", line)
        if width:
            words = self.addresses(words, mask, line)
            if data_width(opcode) not in (1, 2, 4, 8, 16):
                self.say("bytes of an access:", line)
        if len(words) > 1:
            self.say("words left:", line)
        if root == "EXIT":
            if mask & self.exited:
                self.say("a lane exits twice:", line)
            self.exited |= mask

    def addresses(self, words, mask, line):
        mode, lanes = int(words[0]), bin(mask).count("1")
        need = {0: lanes, 1: 2, 2: max(lanes, 1)}.get(mode)
        if need is None or len(words) < 1 + need:
            self.say("addresses:", line)
            return []
        if mode == 1 and "0" in bin(mask)[2:].strip("0"):
            self.say("a stride over lanes that are off:", line)
        for at, word in enumerate(words[1:1 + need]):
            if not re.fullmatch(r"0x[0-9a-f]{16}" if mode == 0 or at == 0 else r"-?\d+", word):
                self.say("addresses:", line)
        return words[1 + need:]


def main():
    folder, lines, kernels, names = sys.argv[1], 0, 0, {}
    for line in open(os.path.join(folder, "kernelslist.g")).read().split("\n"):
        if line.startswith("MemcpyHtoD"):
            if not re.fullmatch(r"MemcpyHtoD,0x[0-9a-f]+,[1-9]\d*", line):
                fault("kernelslist.g:", line)
        elif line.startswith("kernel") and line.endswith(".traceg"):
            trace = Trace(os.path.join(folder, line)).read()
            lines, kernels = lines + trace.lines, kernels + 1
            for name, count in trace.names.items():
                names[name] = names.get(name, 0) + count
        elif line:
            fault("kernelslist.g:", line)
    print(f"{kernels} kernels, {lines} instructions, {faults} faults;", *(f"{n} {c}" for n, c in sorted(names.items(), key=lambda x: -x[1])))
    sys.exit(faults > 0 or not lines)


main()
