/* Words for what takes cycles, and the GPUs of the report. */
const KINDS = {
  issue: ['Issue', 'schedulers issue instructions: the machine is busy'],
  fetch: ['Fetch', 'warps wait for instructions to be fetched'],
  unit_fp32: ['FP32 units', 'instructions wait for single-precision units'],
  unit_int: ['Integer units', 'instructions wait for integer units'],
  unit_fp64: ['FP64 units', 'instructions wait for double-precision units'],
  unit_sfu: ['Special functions', 'instructions wait for special function units'],
  unit_tensor: ['Tensor cores', 'instructions wait for units that multiply matrices'],
  unit_ldst: ['Load/store units', 'memory instructions wait for load/store units'],
  collectors: ['Operand collectors', 'instructions wait for a free operand collector'],
  bank_conflicts: ['Register banks', 'operands wait for conflicts of register banks'],
  shared: ['Local memory banks', 'bank conflicts in local (shared) memory'],
  l1: ['L1 accesses', 'requests that fall apart into many transactions'],
  l2: ['L2 queue', 'requests queue in front of L2'],
  dram: ['DRAM queue', 'requests queue in front of memory: its bandwidth'],
  atomics: ['Atomics', 'atomic operations follow one another'],
  dependency: ['Dependencies', 'no warp has an instruction whose operands are ready'],
  memory: ['Memory latency', 'warps wait for values from memory'],
  barrier: ['Barriers', 'warps wait for the others of their work-group'],
  launch: ['Launch', 'starting the launch and its first work-groups'],
  pages: ['Pages', 'managed memory is brought to the GPU, page by page'],
  tail: ['Tail', 'some SMs have run out of work-groups'],
};
const kindName = kind => KINDS[kind] ? KINDS[kind][0] : kind;

/* The parts of cycles_by, largest first. */
function shares(by) {
  const all = sum(Object.values(by), x => x);
  return Object.entries(by).filter(([, n]) => n > 0 && n / all >= 0.0005).sort((a, b) => b[1] - a[1])
    .map(([kind, n]) => ({kind, n, share: n / all}));
}

const targets = data.targets;
const state = {target: targets.length ? targets[0].name : '', base: targets.length ? targets[0].name : ''};
const targetOf = name => targets.find(t => t.name === name);
const estimateOf = (kernel, target) => kernel.estimates.find(e => e.target === target);
