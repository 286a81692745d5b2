/* Pictures. Each has its numbers in text beside it. */

/* Where the cycles go: a bar. Wide parts have their names in them. */
function stack(by, small) {
  const parts = shares(by);
  const label = parts.slice(0, 5).map(p => `${kindName(p.kind)} ${percent(p.share)}`).join(', ');
  return el('div', {class: small ? 'stack small' : 'stack', role: 'img', 'aria-label': 'Cycles: ' + label, title: label},
    parts.map(p => fill(el('i', {class: 'k-' + p.kind.replace(/\W/g, '')}),
      {style: `width:${(100 * p.share).toFixed(3)}%`}, [!small && p.share * pictureWidth(1150) > 7.2 * kindName(p.kind).length + 44 ? `${kindName(p.kind)} ${percent(p.share)}` : null])));
}

function stackTable(by, clock) {
  return plain('Where the cycles go', ['part', 'share', 'time', 'what it is'], shares(by).map(p => [
    el('span', {}, el('span', {class: 'swatch k-' + p.kind.replace(/\W/g, ''), 'aria-hidden': 'true'}), kindName(p.kind)),
    percent(p.share, 1), time(p.n * 1000 / clock), el('span', {class: 'dim'}, KINDS[p.kind] ? KINDS[p.kind][1] : '')]));
}

const tick = e => e >= 9 ? 10 ** (e - 9) + 'G' : e >= 6 ? 10 ** (e - 6) + 'M' : e >= 3 ? 10 ** (e - 3) + 'K' : String(+(10 ** e).toPrecision(2));

/* Operations, bytes and operations per second of a kernel on a target. */
function work(kernel, target) {
  const e = estimateOf(kernel, target);
  if (!e || !('fp32_flops' in e)) return null;
  const memory = e.longest ? e.longest.memory : {}, flops = e.fp32_flops + e.fp64_flops;
  const asked = e.loaded_bytes + e.stored_bytes;
  const moved = memory.dram_bytes ? memory.dram_bytes * e.total_ns / e.longest.time_ns : 0;
  const size = moved || asked;
  return {flops, size, measured: !!moved, intensity: size ? flops / size : 0, gflops: flops / e.total_ns, gbps: size / e.total_ns};
}

/* Makes a text of that width at the first of the places of its right end where no circle [x, y, radius] touches it; else at the first. */
function freePlace(circles, width, places, make) {
  const free = ([x, y]) => circles.every(([cx, cy, r]) => cx + r < x - width - 2 || cx - r > x + 2 || cy + r < y - 12 || cy - r > y + 4);
  return make(...(places.find(free) || places[0]));
}

/* Text on the line from a to b, which goes up, at the first place where no circle [x, y, radius] touches it. */
function alongSlope(circles, a, b, text) {
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]), u = [(b[0] - a[0]) / length, (b[1] - a[1]) / length], width = 6.6 * text.length;
  const from = at => [a[0] + u[0] * at, a[1] + u[1] * at];
  const apart = (at, [cx, cy, r]) => { const [x, y] = from(at), along = Math.max(0, Math.min(width, (cx - x) * u[0] + (cy - y) * u[1])); return Math.hypot(cx - x - u[0] * along, cy - y - u[1] * along) > r + 16; };
  const places = Array.from({length: 12}, (_, i) => 10 + i * (length - width - 20) / 11).filter(at => at >= 10);
  const at = places.find(p => circles.every(c => apart(p, c)));
  const [x, y] = from(at === undefined ? 10 : at);
  return svg('text', {transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${(Math.atan2(u[1], u[0]) * 180 / Math.PI).toFixed(1)})`, dy: -5, class: 'roof-text dim-text'}, text);
}

/* Of all kernels, or of the points given: {k, e, w, label}. */
function roofline(name, given) {
  const t = targetOf(name), W = pictureWidth(1000), H = 400, left = 62, bottom = 46, top = 14, right = 16;
  const points = (given || data.kernels.map(k => ({k, w: work(k, name), e: estimateOf(k, name), label: k.name}))).filter(p => p.w && p.w.intensity > 0 && p.w.gflops > 0);
  const ridge = t.fp32_gflops / t.dram_gbps;
  const xs = points.map(p => p.w.intensity).concat([ridge, 0.1]), ys = points.map(p => p.w.gflops).concat([t.fp32_gflops]);
  const x0 = Math.floor(log10(Math.min(...xs))), x1 = Math.ceil(log10(Math.max(...xs) * 3));
  const y0 = Math.floor(log10(Math.min(...ys) * 0.9)), y1 = Math.ceil(log10(t.fp32_gflops * 1.3));
  const X = v => left + (log10(v) - x0) / (x1 - x0) * (W - left - right), Y = v => H - bottom - (log10(v) - y0) / (y1 - y0) * (H - top - bottom);
  const clampY = v => Math.max(top, Math.min(H - bottom, Y(v)));
  const g = svg('svg', {viewBox: `0 0 ${W} ${H}`, role: 'img', width: '100%', 'aria-label': `Roofline of ${t.title}: ${points.length} kernels; the table below has the numbers`});
  for (let e = x0; e <= x1; e++) g.append(svg('line', {x1: X(10 ** e), x2: X(10 ** e), y1: top, y2: H - bottom, class: 'grid-line'}),
    svg('text', {x: X(10 ** e), y: H - bottom + 16, 'text-anchor': 'middle', class: 'dim-text'}, tick(e)));
  for (let e = y0; e <= y1; e++) g.append(svg('line', {x1: left, x2: W - right, y1: Y(10 ** e), y2: Y(10 ** e), class: 'grid-line'}),
    svg('text', {x: left - 6, y: Y(10 ** e) + 4, 'text-anchor': 'end', class: 'dim-text'}, tick(e)));
  const roof = peak => { const r = peak / t.dram_gbps, low = Math.max(10 ** x0, 10 ** y0 / t.dram_gbps);
    return `M${X(low)} ${clampY(low * t.dram_gbps)} L${X(r)} ${clampY(peak)} L${W - right} ${clampY(peak)}`; };
  const flat = (peak, what, cls) => freePlace(circles, 7 * what.length, [[W - right - 4, -6], [W - right - 4, 16], [X(peak / t.dram_gbps) + 7 * what.length + 8, 16], [(X(peak / t.dram_gbps) + W) / 2, 30]]
    .map(([x, below]) => [x, clampY(peak) + below]), (x, y) => svg('text', {x, y, 'text-anchor': 'end', class: cls}, what));
  const most = Math.max(...points.map(p => p.e.total_ns), 1), radius = p => 4 + 7 * Math.sqrt(p.e.total_ns / most);
  const circles = points.map(p => [X(p.w.intensity), clampY(p.w.gflops), radius(p)]), labels = [];
  g.append(svg('path', {d: roof(t.fp32_gflops), class: 'roof'}));
  labels.push(flat(t.fp32_gflops, `FP32 ${count(t.fp32_gflops * 1e9)}FLOP/s`, 'roof-text'));
  if (data.kernels.some(k => (estimateOf(k, name) || {}).fp64_flops)) {
    g.append(svg('path', {d: roof(t.fp64_gflops), class: 'roof second'}));
    labels.push(flat(t.fp64_gflops, `FP64 ${count(t.fp64_gflops * 1e9)}FLOP/s`, 'roof-text dim-text'));
  }
  for (const [level, gbps] of [['DRAM', t.dram_gbps], ['L2', t.l2_gbps], ['L1', t.l1_gbps]]) {
    if (!gbps) continue;
    const slope = `${level} ${count(gbps * 1e9)}B/s`, low = Math.max(10 ** x0, 10 ** y0 / gbps);
    if (level !== 'DRAM') g.append(svg('path', {d: `M${X(low)} ${clampY(low * gbps)} L${X(t.fp32_gflops / gbps)} ${clampY(t.fp32_gflops)} L${X(ridge)} ${clampY(t.fp32_gflops)}`, class: 'roof thin'}));
    labels.push(alongSlope(circles, [X(low), clampY(low * gbps)], [X(t.fp32_gflops / gbps), clampY(t.fp32_gflops)], slope));
  }
  g.append(svg('text', {x: (left + W) / 2, y: H - 8, 'text-anchor': 'middle', class: 'dim-text'}, 'operations per byte'),
    svg('text', {transform: `translate(14 ${(H - bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle', class: 'dim-text'}, 'GFLOP/s'));
  const placed = [], near = (p, q) => Math.abs(X(p.w.intensity) - X(q.w.intensity)) < 9 && Math.abs(clampY(p.w.gflops) - clampY(q.w.gflops)) < 9;
  if (given) points.forEach(p => { p.text = points.filter(q => near(p, q)).map(q => q.label).join(', '); });
  points.sort((a, b) => b.e.total_ns - a.e.total_ns).forEach(p => {
    const x = X(p.w.intensity), y = clampY(p.w.gflops), r = radius(p);
    const link = svg('a', {href: '#/kernel/' + encodeURIComponent(p.k.name), 'aria-label': `${p.label}: ${count(p.w.gflops)} GFLOP/s at ${count(p.w.intensity)} operations per byte`},
      svg('circle', {cx: x, cy: y, r, class: 'point' + (p.w.measured || t.memory === 'perfect' ? '' : ' hollow')}, svg('title', {}, `${p.label}: ${count(p.w.gflops)} GFLOP/s, ${count(p.w.intensity)} FLOP/B`)));
    g.append(link);
    if (placed.length < 14 && placed.every(q => Math.abs(q[0] - x) > 90 || Math.abs(q[1] - y) > 14)) {
      placed.push([x, y]);
      const right = x > W - 150;
      g.append(svg('text', {x: right ? x - r - 4 : x + r + 4, y: y + 4, 'text-anchor': right ? 'end' : 'start'}, p.text || (p.label.length > 24 ? p.label.slice(0, 22) + '\u2026' : p.label)));
    }
  });
  g.append(...labels);
  return {picture: el('div', {class: 'chart'}, g), points};
}

/* Finds a line for text above all of these points, or below them if there is no room. */
function spaceFor(points, Y) {
  const highest = Math.min(...points.map(p => Y(p[1]))), lowest = Math.max(...points.map(p => Y(p[1])));
  return highest - 10 > Y(1) - 4 ? highest - 10 : Math.min(lowest + 20, Y(0) - 6);
}

/* Occupancy over local sizes, with what limits it. */
function occupancyCurve(e) {
  const points = e.occupancy_by_local_size || [], W = 560, H = 210, left = 44, bottom = 38, top = 14;
  if (!points.length) return null;
  const most = points[points.length - 1][0], X = n => left + n / most * (W - left - 14), Y = f => H - bottom - f * (H - top - bottom);
  const now = e.longest.local.reduce((a, b) => a * b, 1), here = points.reduce((a, p) => Math.abs(p[0] - now) < Math.abs(a[0] - now) ? p : a);
  const g = svg('svg', {viewBox: `0 0 ${W} ${H}`, width: '100%', role: 'img', 'aria-label': `Occupancy by local size: ${percent(e.longest.occupancy)} at ${now} work-items, limited by ${e.longest.occupancy_limit}; best ${percent(Math.max(...points.map(p => p[1])))}`});
  for (const f of [0, 0.25, 0.5, 0.75, 1]) g.append(svg('line', {x1: left, x2: W - 14, y1: Y(f), y2: Y(f), class: 'grid-line'}),
    svg('text', {x: left - 6, y: Y(f) + 4, 'text-anchor': 'end', class: 'dim-text'}, percent(f)));
  for (let n = 0; n <= most; n += most / 4) g.append(svg('text', {x: X(n), y: H - bottom + 16, 'text-anchor': 'middle', class: 'dim-text'}, Math.round(n)));
  g.append(svg('path', {d: points.map((p, i) => `${i ? 'L' : 'M'}${X(p[0]).toFixed(1)} ${Y(p[1]).toFixed(1)}`).join(' '), class: 'curve'}));
  points.forEach(p => g.append(svg('rect', {x: X(p[0]) - 4, y: top, width: 8, height: H - top - bottom, fill: 'transparent'}, svg('title', {}, `${p[0]} work-items: ${percent(p[1])}, limited by ${LIMITS[p[2]] || p[2]}`))));
  g.append(svg('line', {x1: X(now), x2: X(now), y1: top, y2: H - bottom, class: 'mark'}), svg('circle', {cx: X(now), cy: Y(here[1]), r: 5, class: 'mark-fill'}),
    svg('text', {x: X(now) + (now > most * 0.75 ? -8 : 8), y: spaceFor(points.filter(p => Math.abs(p[0] - now) < most / 5), Y), 'text-anchor': now > most * 0.75 ? 'end' : 'start'}, `${now}: ${percent(here[1])}`),
    svg('text', {x: (W + left) / 2, y: H - 4, 'text-anchor': 'middle', class: 'dim-text'}, 'work-items per work-group'));
  return g;
}
