/* The page of gpusim cluster: ranks, for whom they wait, kinds of calls, and a timeline with lanes for each rank. */
const PARTS = {
  own: ['t-own', 'the host\u2019s own work'], mpi: ['t-mpi', 'MPI calls'], others: ['t-others', 'waiting for other ranks'], gpu: ['t-wait', 'waiting for its GPU']};
const partsOf = r => ({own: Math.max(r.time_ns - r.mpi_ns - r.gpu_wait_ns, 0), mpi: Math.max(r.mpi_ns - r.others_ns, 0), others: r.others_ns, gpu: r.gpu_wait_ns});

/* How long each part takes, in the order of the legend; its whole width is the time of the slowest rank. */
function rankBar(r) {
  const whole = data.time_ns || 1, parts = partsOf(r);
  let x = 0;
  return svg('svg', {viewBox: '0 0 200 12', width: 200, height: 12, role: 'img', preserveAspectRatio: 'none',
    'aria-label': Object.entries(parts).map(([k, ns]) => `${PARTS[k][1]} ${time(ns)}`).join(', ')}, svg('rect', {width: 200, height: 12, rx: 3, class: 'box'}),
    Object.entries(parts).map(([k, ns]) => { const w = 200 * ns / whole; x += w; return svg('rect', {x: x - w, width: w, height: 12, class: PARTS[k][0]}, svg('title', {}, `${PARTS[k][1]}: ${time(ns)}`)); }));
}

function rankPanel() {
  const share = (r, ns) => r.time_ns ? percent(ns / r.time_ns) : '';
  const of = (title, help, ns) => ({title, help, value: ns, show: r => [time(ns(r)), el('span', {class: 'ratio'}, share(r, ns(r)))]});
  const {table, filter} = sortable('Ranks', [
    {title: 'rank', head: true, left: true, value: r => String(r.rank).padStart(6, '0'), show: r => r.rank}, {title: 'host', left: true, value: r => r.host, show: r => visible(r.host)},
    {title: 'time', help: 'from MPI_Init to the end', value: r => r.time_ns, show: r => time(r.time_ns)},
    of('own work', 'what the host does between calls', r => partsOf(r).own), of('messages', 'in MPI calls, without waiting for others', r => partsOf(r).mpi),
    of('for others', 'in MPI calls, until the other rank has made its call', r => r.others_ns), of('for the GPU', 'the host waits for its GPU', r => r.gpu_wait_ns),
    of('GPU busy', 'beside the host', r => r.gpu_busy_ns), {title: 'sent', value: r => r.sent_bytes, show: r => bytes(r.sent_bytes)},
    {title: 'launches', value: r => r.launches, show: r => count(r.launches)}, {title: 'where its time goes', left: true, value: r => r.others_ns / (r.time_ns || 1), show: rankBar}], data.ranks, 0);
  return el('section', {class: 'card long', 'aria-labelledby': 'ranks-title'}, el('div', {class: 'bar-row'}, el('h2', {id: 'ranks-title'}, 'Ranks'),
    el('span', {class: 'chips controls'}, el('label', {class: 'hidden', for: 'search'}, 'Search ranks'), el('input', {type: 'search', id: 'search', placeholder: 'Search hosts', oninput: event => filter(event.target.value)}))),
    el('p', {class: 'dim'}, Object.values(PARTS).map(([cls, text]) => legendItem(cls, text))), table);
}

function summary() {
  const all = sum(data.ranks, r => r.time_ns) || 1, part = of => percent(sum(data.ranks, of) / all, 1);
  return el('section', {class: 'card', 'aria-label': 'Summary'}, el('div', {class: 'dim'}, el('strong', {}, visible(data.program)), ` \u00b7 ${plural(data.ranks.length, 'rank')} on ` +
    (data.platform ? `${visible(data.platform)} with ${plural(data.hosts, 'host')}` : 'the machine where they were recorded') + `, a GPU each: ${data.gpu}`),
    el('div', {class: 'grid', style: 'margin:.4rem 0 0;grid-template-columns:repeat(auto-fit,minmax(12rem,1fr))'},
      [[time(data.time_ns), 'from MPI_Init to the end'], [part(r => partsOf(r).mpi), 'of the ranks\u2019 time: messages'], [part(r => r.others_ns), 'waiting for other ranks'],
        [part(r => r.gpu_wait_ns), 'waiting for GPUs'], [part(r => r.gpu_busy_ns), 'GPUs busy']].map(([big, small]) => el('div', {}, el('div', {class: 'big'}, big), el('div', {class: 'dim'}, small)))));
}

/* ---- for whom ranks wait ---- */

function waitMatrix(most) {
  const n = data.ranks.length, cell = Math.max(8, Math.min(28, Math.floor(420 / n))), left = 52, top = 34, size = n * cell;
  const g = svg('svg', {viewBox: `0 0 ${left + size + 4} ${top + size + 4}`, width: left + size + 4, style: 'max-width:100%', role: 'img', 'aria-label': 'How long each rank waits for each; the table has the numbers'},
    svg('text', {x: left, y: 12, class: 'dim-text'}, 'waits for rank'), svg('rect', {x: left, y: top, width: size, height: size, class: 'box'}));
  const every = Math.ceil(22 / cell);
  for (let i = 0; i < n; i += every) g.append(svg('text', {x: left + (i + 0.5) * cell, y: top - 6, 'text-anchor': 'middle', class: 'dim-text'}, i),
    svg('text', {x: left - 8, y: top + (i + 0.5) * cell + 4, 'text-anchor': 'end', class: 'dim-text'}, i));
  g.append(svg('text', {x: 2, y: top - 6, class: 'dim-text'}, 'rank'));
  for (const w of data.waits) g.append(svg('rect', {x: left + w.for * cell, y: top + w.rank * cell, width: cell - 1, height: cell - 1, class: 'mark-fill', 'fill-opacity': Math.max(0.06, w.time_ns / most).toFixed(3)},
    svg('title', {}, `rank ${w.rank} waits for rank ${w.for}: ${time(w.time_ns)} in ${plural(w.calls, 'call')}`)));
  return g;
}

function waitPanel() {
  const panel = el('section', {class: 'card long', 'aria-labelledby': 'waits-title'}, el('h2', {id: 'waits-title'}, 'For whom ranks wait'));
  if (!data.waits.length) { panel.append(el('p', {class: 'lead'}, 'No call waited for a call of another rank.')); return panel; }
  const most = data.waits[0].time_ns;
  panel.append(el('p', {class: 'lead'}, 'A receive waits for its send, a collective for the last rank that it needs. Who is often waited for has more to do, or begins later.'),
    el('div', {class: 'two'}, data.ranks.length <= 64 ? waitMatrix(most) : null, sortable('Waits', [
      {title: 'rank', head: true, left: true, value: w => w.rank, show: w => 'rank ' + w.rank}, {title: 'waits for', left: true, value: w => w.for, show: w => 'rank ' + w.for},
      {title: 'calls', value: w => w.calls, show: w => count(w.calls)}, {title: 'time', value: w => w.time_ns, show: w => [time(w.time_ns), meter(w.time_ns / most)]}], data.waits.slice(0, 200), 3).table));
  return panel;
}

function callPanel() {
  const calls = data.calls.filter(c => c.call !== 'init' && c.call !== 'finalize');
  if (!calls.length) return null;
  return el('section', {class: 'card', 'aria-labelledby': 'calls-title'}, el('h2', {id: 'calls-title'}, 'MPI calls, all ranks'), sortable('MPI calls', [
    {title: 'call', head: true, left: true, value: c => c.call}, {title: 'calls', value: c => c.count, show: c => count(c.count)}, {title: 'sent', value: c => c.sent_bytes, show: c => bytes(c.sent_bytes)},
    {title: 'time', value: c => c.time_ns, show: c => time(c.time_ns)}, {title: 'for others', value: c => c.others_ns, show: c => time(c.others_ns)}], calls, 3).table);
}

/* ---- the timeline ---- */

const CLASSES = [['t-mpi', 'MPI', 0], ['t-others', 'waits for others', 0], ['t-wait', 'waits for its GPU', 0], ['t-launch', 'launch', 1], ['t-copy', 'copy to the GPU', 2], ['t-copy', 'copy from the GPU', 2]];
const LANES = ['host', 'GPU', 'copies'];

/* [class, name, begin, end, bytes or rank, spans in one] */
function spanTitle([cls, name, begin, end, number, spans]) {
  const what = [visible(data.timeline.names[name]), CLASSES[cls][1]].filter(Boolean).join(', ') + (cls === 1 ? ': rank ' + number : number ? ', ' + bytes(number) : '');
  return `${spans > 1 ? `${count(spans)} together, the first: ` : ''}${what}: ${time(end - begin)} from ${time(begin)}`;
}

function timelinePanel() {
  const ranks = data.timeline.ranks, lane = 17, top = 8, left = 118, W = pictureWidth(1150), end = data.time_ns || 1;
  const rows = [];
  ranks.forEach((spans, rank) => LANES.forEach((name, l) => { if (!l || spans.some(s => CLASSES[s[0]][2] === l)) rows.push({rank, l, name, spans: spans.filter(s => CLASSES[s[0]][2] === l)}); }));
  const H = top + rows.length * lane + 26, g = svg('svg', {viewBox: `0 0 ${W} ${H}`, width: '100%', role: 'img', 'aria-label': `Timeline of ${ranks.length} ranks over ${time(end)}`});
  const clip = svg('clipPath', {id: 'lanes'}, svg('rect', {x: left, y: 0, width: W - left, height: H}));
  function draw(from, to) {
    const X = t => left + (t - from) / (to - from) * (W - left - 8), inside = svg('g', {'clip-path': 'url(#lanes)'});
    g.replaceChildren(clip);
    timeAxis(g, {from, to, begin: 0, X, left, W, top, H});
    rows.forEach((row, i) => {
      const y = top + i * lane;
      if (!row.l) g.append(svg('text', {x: 2, y: y + 12}, 'rank ' + row.rank), svg('line', {x1: 0, x2: W, y1: y - 1, y2: y - 1, class: 'axis'}));
      g.append(svg('text', {x: left - 6, y: y + 12, 'text-anchor': 'end', class: 'dim-text'}, row.name));
      for (const s of row.spans) {
        if (s[3] < from || s[2] > to) continue;
        const x = X(s[2]), w = Math.max(X(s[3]) - x, 0.7), label = visible(data.timeline.names[s[1]]);
        inside.append(svg('rect', {x: x.toFixed(2), y: y + 1, width: w.toFixed(2), height: lane - 4, class: CLASSES[s[0]][0]}, svg('title', {}, spanTitle(s))));
        if (label && s[5] === 1 && w > 8 * label.length) inside.append(svg('text', {x: Math.max(x, left) + 4, y: y + 12, class: 'seg-text t-text'}, label));
      }
    });
    g.append(inside);
  }
  const {box, controls} = zoomable(g, 0, end, 'Timeline', draw), more = data.ranks.length - ranks.length;
  return el('section', {class: 'card long', 'aria-labelledby': 'timeline-title'}, el('h2', {id: 'timeline-title'}, 'Timeline'), el('div', {class: 'bar-row'},
    el('p', {class: 'lead'}, 'Each rank with its host, and its GPU beside it. What is empty in a host\u2019s lane is its own work.' + (more ? ` ${plural(more, 'more rank')} ${more === 1 ? 'is' : 'are'} not shown.` : '') +
      (data.timeline.closest_ns ? ` What begins within ${time(data.timeline.closest_ns)} of each other is drawn as one.` : '') + ' -o PREFIX writes it for Perfetto.'), controls), box,
    el('p', {class: 'dim'}, legendItem('t-mpi', 'messages'), legendItem('t-others', 'waiting for other ranks'), legendItem('t-wait', 'waiting for the GPU'), legendItem('t-launch', 'launches'), legendItem('t-copy', 'copies')));
}

function notes() {
  const lines = data.notes.split('\n\n').map(n => n.replace(/\n/g, ' ').trim()).filter(Boolean);
  return lines.length ? el('section', {class: 'card', 'aria-labelledby': 'notes-title'}, el('h2', {id: 'notes-title'}, 'Notes'), el('ul', {}, lines.map(n => el('li', {}, visible(n))))) : null;
}

function show() {
  document.title = `gpusim cluster \u2013 ${visible(data.program)} on ${data.gpu}`;
  document.getElementById('main').replaceChildren(...[summary(), rankPanel(), waitPanel(), timelinePanel(), callPanel(), notes()].filter(Boolean));
}

document.querySelector('.brand h1').textContent = 'gpusim cluster';
document.getElementById('tools').append(el('button', {type: 'button', onclick: () => save('cluster.json', 'application/json', JSON.stringify(data))}, 'JSON'),
  el('button', {type: 'button', onclick: () => print()}, 'Print'), el('button', {type: 'button', onclick: theme, title: 'light or dark'}, '\u25d0 Theme'));
document.getElementById('footer').append(`gpusim ${data.version} \u00b7 this page needs no network`);
show();
