'use strict';
/* All text that comes from the user's program gets into the page as text nodes and attributes, never as HTML. */
const data = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat(3))
    if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/* Three significant digits, and a unit. */
function scaled(n, step, units) {
  let u = 0;
  while (Math.abs(n) >= step - 0.5 && u + 1 < units.length) { n /= step; u++; }
  const size = Math.abs(n), digits = size === 0 ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return n.toFixed(digits) + (units[u] ? '\u00a0' + units[u] : '');
}
const time = ns => scaled(ns, 1000, ['ns', '\u00b5s', 'ms', 's']);
const joules = j => scaled(j * 1e9, 1000, ['nJ', '\u00b5J', 'mJ', 'J', 'kJ']);
const bytes = n => n < 1024 ? n + '\u00a0B' : scaled(n, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
const count = n => Math.abs(n) < 1000 ? String(Math.round(n * 100) / 100) : scaled(n, 1000, ['', 'K', 'M', 'G', 'T', 'P']);
const plural = (n, what, ending = 's') => count(n) + ' ' + what + (n === 1 ? '' : ending);
const percent = (x, digits = 0) => (100 * x).toFixed(digits) + '%';
const sizes = list => list.join('\u00d7');
const sum = (list, of) => list.reduce((all, item) => all + (of(item) || 0), 0);

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

function announce(text) { document.getElementById('announce').textContent = text; }

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  el('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
