/* What a kernel makes of the GPU: its SMs and units, and the levels of memory. */

/* SMs, units and levels of memory, and how busy each is. */
function usePanel(e) {
  const o = e.longest, m = o && o.memory || {}, units = e.unit_use;
  if (!o || !units) return null;
  const names = {issue: ['Issue slots', 'of the schedulers'], fp32: ['FP32 units', 'single precision'], int: ['Integer units', ''], fp64: ['FP64 units', 'double precision'], sfu: ['Special functions', 'roots, sines, reciprocals'], tensor: ['Tensor cores', 'products of matrices'], ldst: ['Load/store units', 'one access of L1 or local memory after the other']};
  const row = (name, share, help) => [name, [percent(share), meter(share)], el('span', {class: 'dim'}, help)];
  const rows = [row('SMs', o.sm_use, `that get a work-group: ${count(o.groups)} groups, ${count(o.waves)} ${o.waves === 1 ? 'wave' : 'waves'} of what all SMs hold at once`)]
    .concat(Object.entries(names).filter(([key]) => units[key] > 0.0005).map(([key, [name, help]]) => row(name, units[key], help)));
  if (m.l2_share !== null && m.l2_share !== undefined) rows.push(row('L2', m.l2_share, 'of its bandwidth, longest launch'));
  if (m.dram_share !== null && m.dram_share !== undefined) rows.push(row('DRAM', m.dram_share, 'of its bandwidth, longest launch'));
  return el('section', {class: 'card', 'aria-labelledby': 'use-title'}, el('h2', {id: 'use-title'}, 'Use of the GPU'),
    el('p', {class: 'lead'}, 'How much of the time each part is busy; of SMs, their share that has work. Units are those of the busiest SM.'), plain('Use of the GPU', ['part', 'busy', ''], rows));
}

function memoryPanel(e) {
  const m = e.longest && e.longest.memory || {}, rows = [], add = (name, value, help) => rows.push([name, value, el('span', {class: 'dim'}, help)]);
  const loads = e.lines ? sum(e.lines, l => l.transactions) : 0;
  add('Asked for', bytes(Math.round((e.loaded_bytes || 0) + (e.stored_bytes || 0))), `work-items load ${bytes(Math.round(e.loaded_bytes || 0))} and store ${bytes(Math.round(e.stored_bytes || 0))}, all launches`);
  if (loads) add('Transactions, all launches', count(loads), 'that memory instructions of warps fall apart into, local memory included');
  const longest = [['requests', 'Requests', count, 'memory instructions of warps'], ['transactions', 'Transactions', count, 'lines or sectors that these ask for'], ['sectors_per_load', 'Sectors per load', x => x.toFixed(1), 'of 32 bytes; 4 where a warp reads floats side by side'], ['l1_hit', 'L1 hits', x => percent(x, 1), 'of loads'],
    ['l2_hit', 'L2 hits', x => percent(x, 1), 'of sectors asked for at L2'], ['dram_read_bytes', 'Read from memory', x => bytes(Math.round(x)), 'between L2 and DRAM'], ['dram_written_bytes', 'Written to memory', x => bytes(Math.round(x)), 'between L2 and DRAM'],
    ['dram_share', 'Memory busy', percent, 'of its bandwidth'], ['l2_share', 'L2 busy', percent, 'of its bandwidth'], ['load_latency', 'Latency', x => Math.round(x) + ' cycles', 'of loads that miss L1'],
    ['shared_factor', 'Local memory bank conflicts', x => x.toFixed(2) + '\u00d7', 'accesses per instruction on local memory'], ['atomics', 'Atomics', count, 'operations of lanes at L2']];
  if (m.load_sectors && m.load_requests) m.sectors_per_load = m.load_sectors / m.load_requests;
  for (const [key, name, format, help] of longest) if (m[key] !== null && m[key] !== undefined) add(name, format(m[key]), help);
  const panel = el('section', {class: 'card', 'aria-labelledby': 'memory-title'}, el('h2', {id: 'memory-title'}, 'Memory'));
  if (m.l1_hit === null || m.l1_hit === undefined) panel.append(el('p', {class: 'lead'}, targetOf(e.target).memory === 'hierarchy' ? 'Nothing of this launch was seen in L1: it has no loads from global memory, or no addresses of them are known.'
    : 'Memory below L1 was not modelled in this run (GPUSIM_MEMORY=hierarchy does that): hit rates and traffic are not known.'));
  panel.append(el('p', {class: 'lead'}, 'Of the longest launch, where nothing else is said.'), plain('Memory', ['what', 'how much', ''], rows));
  return panel;
}

/* Bytes between the levels of memory, all launches; those of the longest one stand for all. */
function levelsOf(e) {
  const m = e.longest && e.longest.memory;
  if (!m || m.l2_read_bytes === null || m.l2_read_bytes === undefined) return [];
  const times = e.total_ns / e.longest.time_ns;
  return [['L1', 32 * ((m.load_sectors || 0) + (m.store_sectors || 0))], ['L2', m.l2_read_bytes + m.l2_written_bytes], ['DRAM', m.dram_bytes || 0]].map(([level, size]) => ({level, size: size * times}));
}
function intensityAt(e, level) {
  const l = levelsOf(e).find(x => x.level === level);
  return l && l.size ? count((e.fp32_flops + e.fp64_flops) / l.size) : '\u2013';
}

/* The parts of the memory chart: boxes, and what goes between one and the next: [towards memory, back], each lines of text. */
function chartParts(m) {
  const rate = (what, x) => x === null || x === undefined ? null : `${what} ${percent(x)}`, size = n => bytes(Math.round(n));
  const asked = (n, what, sectors) => n > 0 ? [plural(n, what) + (sectors ? ': ' + size(32 * sectors) : '')] : [];
  const boxes = [['Kernel', [`${count(m.requests || 0)} requests`]], ['L1', [rate('hits', m.l1_hit)]], ['L2', [rate('hits', m.l2_hit), rate('busy', m.l2_share)]], ['DRAM', [rate('busy', m.dram_share)]]];
  const links = [[[...asked(m.store_requests, 'store', m.store_sectors), ...asked(m.atomic_requests, 'atomic')], [...asked(m.load_requests, 'load', m.load_sectors), ...asked(m.texture_requests, 'texture read'), ...asked(m.private_requests, 'private access').map(t => t.replace('accesss', 'accesses'))]],
    [[m.l2_written_bytes ? 'writes ' + size(m.l2_written_bytes) : null], ['reads ' + size(m.l2_read_bytes), m.atomics ? count(m.atomics) + ' atomic operations' : null]],
    [[m.dram_written_bytes ? 'writes ' + size(m.dram_written_bytes) : null], [m.dram_read_bytes ? 'reads ' + size(m.dram_read_bytes) : null]]];
  const local = m.shared_requests > 0 ? ['Local memory', [plural(m.shared_requests, 'request'), `${count(m.shared_conflicts || 0)} bank conflicts`]] : null;
  return {boxes: boxes.map(([name, lines]) => [name, lines.filter(Boolean)]), links: links.map(l => l.map(lines => lines.filter(Boolean))), local};
}

/* Side by side where there is room, else one below the other. */
function memoryChart(e) {
  const m = e.longest && e.longest.memory;
  if (!levelsOf(e).length) return null;
  const {boxes, links, local} = chartParts(m), W = pictureWidth(1150), wide = W >= 860, bw = wide ? 120 : 128, bh = 62, gap = wide ? (W - 4 * bw - 4) / 3 : 92;
  const g = svg('svg', {}), at = i => wide ? [2 + i * (bw + gap), 44] : [2, 4 + i * (bh + gap)];
  const box = ([name, lines], x, y) => g.append(svg('rect', {x, y, width: bw, height: bh, rx: 8, class: 'box'}), svg('text', {x: x + bw / 2, y: y + 19, 'text-anchor': 'middle', class: 'box-name in-box'}, name),
    ...lines.map((t, i) => svg('text', {x: x + bw / 2, y: y + 36 + 15 * i, 'text-anchor': 'middle', class: 'dim-text in-box'}, t)));
  const arrow = (x1, y1, x2, y2) => { const a = Math.atan2(y2 - y1, x2 - x1), tip = d => `${(x2 - 8 * Math.cos(a + d)).toFixed(1)} ${(y2 - 8 * Math.sin(a + d)).toFixed(1)}`;
    g.append(svg('path', {d: `M${x1} ${y1} L${x2} ${y2} M${tip(0.5)} L${x2} ${y2} L${tip(-0.5)}`, class: 'flow'})); };
  const words = (lines, x, y, anchor) => g.append(...lines.map((t, i) => svg('text', {x, y: y + 15 * i, 'text-anchor': anchor}, t)));
  boxes.forEach((b, i) => box(b, ...at(i)));
  links.forEach(([there, back], i) => {
    const [x, y] = at(i), nothing = !there.length && !back.length;
    if (nothing) g.append(svg('line', wide ? {x1: x + bw + 6, x2: x + bw + gap - 6, y1: y + 31, y2: y + 31, class: 'grid-line'} : {x1: x + 61, x2: x + 61, y1: y + bh + 5, y2: y + bh + gap - 5, class: 'grid-line'}),
      svg('text', wide ? {x: x + bw + gap / 2, y: y + 24, 'text-anchor': 'middle', class: 'dim-text'} : {x: x + 86, y: y + bh + gap / 2 + 4, class: 'dim-text'}, 'nothing'));
    if (wide) {
      if (there.length) { arrow(x + bw + 6, y + 22, x + bw + gap - 6, y + 22); words(there, x + bw + gap / 2, y + 14 - 15 * (there.length - 1), 'middle'); }
      if (back.length) { arrow(x + bw + gap - 6, y + 40, x + bw + 6, y + 40); words(back, x + bw + gap / 2, y + 57, 'middle'); }
    } else {
      if (there.length) arrow(x + 50, y + bh + 5, x + 50, y + bh + gap - 5);
      if (back.length) arrow(x + 72, y + bh + gap - 5, x + 72, y + bh + 5);
      words(there.concat(back), x + 86, y + bh + gap / 2 + 4 - 7 * (there.length + back.length - 1), 'start');
    }
  });
  let height = wide ? 158 : 4 * bh + 3 * gap + 8;
  if (local) {
    const [x, y] = wide ? [2, 172] : [W - bw - 2, 4];
    if (wide) { arrow(x + bw / 2 - 11, 44 + bh + 6, x + bw / 2 - 11, y - 6); arrow(x + bw / 2 + 11, y - 6, x + bw / 2 + 11, 44 + bh + 6); }
    else { arrow(bw + 6, 26, x - 4, 26); arrow(x - 4, 44, bw + 6, 44); }
    box(local, x, y);
    height = Math.max(height, y + bh + 6);
  }
  fill(g, {viewBox: `0 0 ${W} ${height}`, width: '100%', role: 'img', 'aria-label': 'Memory: ' + boxes.map(([name, lines]) => `${name} ${lines.join(', ')}`).concat(links.map(l => l.flat().join(', '))).join('; ')}, []);
  return el('section', {class: 'card', 'aria-labelledby': 'chart-title'}, el('h2', {id: 'chart-title'}, 'Memory chart'),
    el('p', {class: 'lead'}, 'What goes between the levels of memory in the longest launch. Requests are instructions of warps; bytes are whole sectors of 32. L1 passes stores and atomics on to L2.'), el('div', {class: 'chart'}, g));
}

/* The kernel once for each level of memory: the roof that it is nearest to holds it up. */
function kernelRoofline(k, e) {
  const w = work(k, e.target);
  if (!w || !w.flops || !levelsOf(e).length) return null;
  const points = levelsOf(e).filter(l => l.size > 0).map(l => ({k, e, label: l.level, w: Object.assign({}, w, {size: l.size, measured: true, intensity: w.flops / l.size, gbps: l.size / e.total_ns})}));
  const t = targetOf(e.target), peaks = {L1: t.l1_gbps, L2: t.l2_gbps, DRAM: t.dram_gbps};
  return el('section', {class: 'card', 'aria-labelledby': 'kernel-roof-title'}, el('h2', {id: 'kernel-roof-title'}, 'Roofline'),
    el('p', {class: 'lead'}, 'The kernel by its operations per byte of each level of memory, under the roofs of these levels.'), roofline(e.target, points).picture,
    el('details', {}, el('summary', {}, 'Numbers'), plain('Roofline', ['level', 'bytes', 'FLOP/B', 'GFLOP/s', 'GB/s', 'of its peak'], points.map(p => [p.label, bytes(Math.round(p.w.size)), count(p.w.intensity), count(p.w.gflops), count(p.w.gbps), percent(p.w.gbps / peaks[p.label], 1)]))));
}
