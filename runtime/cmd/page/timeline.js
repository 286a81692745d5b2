/* Gives each command a lane of its queue in which it overlaps with no other. Returns the lanes: queue and number. */
function timelineLanes(commands) {
  const most = 16, ends = new Map();
  for (const c of [...commands].sort((a, b) => a.start - b.start)) {
    if (!ends.has(c.queue)) ends.set(c.queue, []);
    const own = ends.get(c.queue), free = own.findIndex(end => end <= c.start);
    c.lane = free >= 0 ? free : Math.min(own.length, most - 1);
    own[c.lane] = Math.max(own[c.lane] || 0, c.end);
  }
  return [...ends.keys()].sort((a, b) => a - b).flatMap(queue => ends.get(queue).map((end, lane) => ({queue, lane})));
}
/* Copies and launches over simulated time, with a lane for each queue, and more where its commands overlap. Commands narrower than a pixel are drawn together. */
function timelinePanel(name) {
  const line = data.timeline, panel = el('section', {class: 'card', 'aria-labelledby': 'timeline-title'}, el('h2', {id: 'timeline-title'}, 'Timeline'));
  const which = targets.findIndex(t => t.name === name);
  if (!line || !line.commands.length || which < 0) {
    panel.append(el('p', {class: 'lead'}, 'The report has no timeline, because the program ended before it could write one.'));
    return panel;
  }
  /* [kind, name, queue, size, start of target 0, end of target 0, ...] */
  const commands = line.commands.map(c => ({kind: line.kinds[c[0]], name: line.names[c[1]], queue: c[2], size: c[3], start: c[4 + 2 * which], end: c[5 + 2 * which]}))
    .filter(c => c.end !== null && c.end >= c.start);
  const end = Math.max(...commands.map(c => c.end), 1), begin = Math.min(...commands.map(c => c.start), end);
  const lanes = timelineLanes(commands), queues = new Set(lanes.map(l => l.queue)), row = new Map(lanes.map((l, i) => [l.queue + ':' + l.lane, i]));
  const W = pictureWidth(1150), left = 76, lane = 34, top = 8, H = top + lanes.length * lane + 26;
  const g = svg('svg', {viewBox: `0 0 ${W} ${H}`, width: '100%', role: 'img', 'aria-label': `Timeline: ${commands.length} commands in ${queues.size} queues over ${time(end - begin)}`});
  const clip = svg('clipPath', {id: 'lanes'}, svg('rect', {x: left, y: 0, width: W - left, height: H}));
  const cls = c => c.kind === 'launch' ? 't-launch' : c.kind === 'copy' || c.kind === 'fill' ? 't-device' : 't-copy';

  function draw(from, to) {
    const X = t => left + (t - from) / (to - from) * (W - left - 8);
    g.replaceChildren(clip);
    lanes.forEach((l, i) => g.append(svg('text', {x: 4, y: top + i * lane + 21, class: 'dim-text'}, l.lane ? '' : 'queue ' + l.queue),
      svg('line', {x1: left, x2: W, y1: top + (i + 1) * lane - 2, y2: top + (i + 1) * lane - 2, class: 'axis'})));
    timeAxis(g, {from, to, begin, X, left, W, top, H});
    const inside = svg('g', {'clip-path': 'url(#lanes)'}), last = new Map();
    for (const c of commands) {
      if (c.end < from || c.start > to) continue;
      const x = X(c.start), w = Math.max(X(c.end) - x, 0.8), y = top + row.get(c.queue + ':' + c.lane) * lane + 4, key = c.queue + ':' + c.lane + cls(c);
      const before = last.get(key);
      if (before && w < 1.2 && x < before.x + before.w + 0.6) { /* too narrow to be seen alone */
        before.w = Math.max(before.w, x + w - before.x);
        before.n++;
        before.node.setAttribute('width', before.w.toFixed(2));
        before.title.textContent = `${before.n} commands until ${time(c.end - begin)}`;
        continue;
      }
      const title = svg('title', {}, `${visible(c.name || c.kind)}${c.size ? ', ' + bytes(c.size) : ''}: ${time(c.end - c.start)} from ${time(c.start - begin)}`);
      const node = svg('rect', {x: x.toFixed(2), y, width: w.toFixed(2), height: lane - 10, rx: w > 6 ? 3 : 0, class: cls(c)}, title);
      last.set(key, {x, w, n: 1, node, title});
      inside.append(node);
      const label = visible(c.name || c.kind);
      if (w > 8 * label.length) inside.append(svg('text', {x: Math.max(x, left) + 6, y: y + 16, class: 'seg-text t-text'}, label));
    }
    g.append(inside);
  }
  const {box, controls} = zoomable(g, begin, end, 'Timeline', draw);
  panel.append(el('div', {class: 'bar-row'}, el('p', {class: 'lead'}, `${count(commands.length)} commands on ${targetOf(name).title}, in the order that queues and events ask for; the time between them is the application\u2019s own.` + timelineTotals(line.totals && line.totals[which]) +
    (line.omitted ? ` ${count(line.omitted)} more are not shown.` : '')),
    controls),
    box, el('p', {class: 'dim'}, legendItem('t-launch', 'launches'), legendItem('t-copy', 'copies between host and GPU'), legendItem('t-device', 'copies and fills on the GPU')));
  return panel;
}
const timelineTotals = t => !t ? '' : ` The program takes ${time(t.program_ns)}; the GPU is busy for ${time(t.busy_ns)} of it` +
  (t.busy_ns < 0.999 * t.commands_ns ? `, with commands that take ${time(t.commands_ns)} in all and overlap.` : '.');
