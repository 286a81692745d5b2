#!/usr/bin/env python3
"""Energies of a GPU from what micro.cu measured, and estimates against what loop.c measured.
  energy.py keys MICRO.csv SMS              keys of a GPU's description, each with its source
  energy.py table SUITE.csv REPORT.json     a row for each kernel, and the mean error; exit code 1: more than 20%
"""
import csv
import json
import sys

WARP_BYTES = 512 # of a load of 16 bytes a lane
MMA_CYCLES = 6   # of a tensor unit, of one mma m16n8k16: by its rate, all units busy


class Measured:
    """Rows of MICRO.csv. What sleeping warps take is not the instructions'."""

    def __init__(self, path):
        with open(path) as f:
            self.rows = {r['name']: r for r in csv.DictReader(f)}
        self.idle, self.asleep = self.watts('idle_after'), self.watts('sleep_full')

    def watts(self, name):
        return float(self.rows[name]['watts'])

    def nj(self, name):
        return (self.watts(name) - self.asleep) / float(self.rows[name]['per_second']) * 1e9


def mean(*values):
    return sum(values) / len(values)


def energies(m, quiet):
    """In nJ, of operands that change in most bits, or (quiet) in none. Beside its 64 operations a loop has 5 instructions, a load half a logic operation
    or, of 16 bytes, two; a loop of four instructions is mostly its branch."""
    of = lambda name: m.nj(name + '_quiet' if quiet else name)
    e = {'other': m.nj('branch') / 4}
    loop = 5 * e['other'] / 64
    fma = [of('fma_acc'), of('imad')] + ([] if quiet else [m.nj('fma')])
    fp64 = [of('fp64_acc')] + ([] if quiet else [m.nj('fp64')])
    e['fma'], e['fp64'] = mean(*fma) - loop, mean(*fp64) - loop
    e['alu'], e['xu'] = mean(of('alu'), of('shf')) - loop, of('xu') - loop
    e['tensor'] = (of('tensor') - 5 * e['other'] / 16) / MMA_CYCLES
    narrow, wide = of('l1') - (8 * e['alu'] + 6 * e['other']) / 16, of('l1_wide') - (16 * e['alu'] + 6 * e['other']) / 8
    e['l1'] = (wide - narrow) / 12 # 16 sectors and 4
    e['lsu'] = narrow - 4 * e['l1']
    e['shared'] = max(of('shared') - (8 * e['alu'] + 5 * e['other']) / 16 - e['lsu'], 0)
    load = e['lsu'] + 16 * e['l1'] + 5 * e['alu'] + e['other'] # of a streaming loop
    e['l2'] = of('l2_8mb') - load / WARP_BYTES
    e['dram'] = of('stream') - of('l2_8mb')
    return e


def keys(path, sms):
    m = Measured(path)
    busy, quiet = energies(m, False), energies(m, True)
    line = lambda key, value, text: print(f'{key} = {value:.4g}'.ljust(34) + ' # ' + text)
    line('energy_idle_w', m.idle, 'W, measured: nothing runs, clocks up')
    line('energy_sm_w', (m.asleep - m.idle) / sms, f'W, measured: warps on all {sms} SMs that sleep take {m.asleep:.1f} W')
    line('energy_lane_share', (m.nj('fma_8_lanes') / m.nj('fma') - 0.25) / 0.75, f'measured: fma with 8 of 32 lanes take {m.nj("fma_8_lanes"):.3f} nJ, with all {m.nj("fma"):.3f} nJ')
    for name in ('fma', 'alu', 'xu', 'fp64', 'lsu', 'other', 'tensor'):
        line(f'energy_{name}_nj', mean(busy[name], quiet[name]), f'nJ, measured: {busy[name]:.3f} of operands that change, {quiet[name]:.3f} of others; the mean')
    line('energy_shared_nj', busy['shared'], f'nJ, measured: of data that changes ({quiet["shared"]:.3f} of zeros), less energy_lsu_nj')
    line('energy_l1_nj', busy['l1'], f'nJ, measured: of data that changes ({quiet["l1"]:.3f} of zeros)')
    line('energy_l2_pj', busy['l2'] * 1e3, f'pJ, measured: reads in 8 MB of data that changes ({quiet["l2"] * 1e3:.1f} of zeros), less instructions and sectors')
    line('energy_dram_pj', busy['dram'] * 1e3, f'pJ, measured: reads of 4 GB of data that changes ({quiet["dram"] * 1e3:.1f} of zeros), less L2')
    at_random = (m.nj('random_4gb') - m.nj('random_16mb')) * 1e3
    print(f'# not a key: single sectors at random places take {at_random:.0f} pJ a byte in DRAM, less L2: a row is opened for each')


def third_launch(report, kernel):
    launches = [l for l in report['launches'] if l['kernel'] == kernel]
    return (launches[2] if len(launches) > 2 else launches[-1])['estimates'][0]


def table(suite, path):
    with open(path) as f:
        report = json.load(f)
    rows = []
    with open(suite) as f:
        for t in csv.DictReader(f):
            e = third_launch(report, t['kernel'])
            seconds, energy = float(t['period_s']), e['energy']
            took, estimated = float(t['watts']) * seconds, energy['joules']
            over_time = energy['joules_by']['idle'] + energy['joules_by']['sms']
            with_time = estimated + over_time * (seconds / (e['time_ns'] * 1e-9) - 1)
            rows.append((estimated / took - 1, with_time / took - 1, t['kernel'], seconds * 1e6, e['time_ns'] / 1e3, took * 1e3, estimated * 1e3))
    print('| kernel | time, us: measured | estimate | energy, mJ: measured | estimate | error | error, with the measured time |')
    print('|---|---|---|---|---|---|---|')
    for r in sorted(rows, key=lambda r: abs(r[0])):
        print(f'| {r[2]} | {r[3]:.1f} | {r[4]:.1f} | {r[5]:.2f} | {r[6]:.2f} | {100 * r[0]:+.1f}% | {100 * r[1]:+.1f}% |')
    errors = [[abs(r[i]) for r in rows] for i in (0, 1)]
    for name, e in zip(('', ' with measured times'), errors):
        print(f'{len(rows)} kernels{name}: mean error {100 * mean(*e):.1f}%, {sum(x <= 0.2 for x in e)} within 20%')
    return mean(*errors[0]) > 0.2


if __name__ == '__main__':
    if len(sys.argv) != 4 or sys.argv[1] not in ('keys', 'table'):
        sys.exit(__doc__)
    sys.exit(keys(sys.argv[2], int(sys.argv[3])) if sys.argv[1] == 'keys' else table(sys.argv[2], sys.argv[3]))
