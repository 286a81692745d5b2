/* What to change, and what it would save: of all kernels (k: null), or of one. */
function advicePanel(k) {
  const rows = (data.advice || []).filter(a => a.target === state.target && (!k || a.kernel === k.name));
  const untried = (data.no_advice || []).filter(u => u.target === state.target && (!k || u.kernel === k.name));
  if (!rows.length && !untried.length) return null;
  const place = a => (a.line ? `${visible(a.file)}:${a.line}` : '');
  const kernelOf = a => data.kernels.find(own => own.name === a.kernel);
  const row = a => el('li', {style: 'margin:.45rem 0'}, el('strong', {}, time(a.saving_ns)), ` \u00b7 ${percent(a.saving)} of ${a.kernel === null ? 'the time' : 'the kernel'} `, meter(a.saving), ' ',
    k ? null : kernelOf(a) ? kernelLink(kernelOf(a)) : 'the program', ' ', el('span', {class: 'mono'}, place(a)), el('br'), a.evidence, '; ', el('span', {class: 'dim'}, a.remedy, a.tried_with < 1 ? ` (tried with ${percent(a.tried_with)} of its groups)` : null));
  return el('section', {class: 'card', 'aria-labelledby': 'advice-title'}, el('h2', {id: 'advice-title'}, `Advice for ${state.target}`),
    el('p', {class: 'lead'}, 'What each cause costs: the model timed a launch with it and without it. Savings do not add up.'),
    el('ol', {style: 'margin:.2rem 0;padding-left:1.4rem'}, rows.slice(0, 40).map(row)),
    untried.map(u => el('p', {}, `No advice for ${visible(u.kernel)} (${percent(u.share)} of the time): its trials would take about ${Math.ceil(u.seconds)} s; GPUSIM_ADVICE=always makes them.`)));
}

/* A tornado: the resources of the GPU, by what twice as much of each would save. */
function whatIfPanel() {
  const w = data.what_if;
  if (!w || !w.kernels.length) return null;
  const all = w.kernels[0], width = 640, row = 26, left = 130, right = 70;
  const change = (k, name, i) => (k.times[name][i] === null ? null : k.times[name][i] / k.time_ns - 1);
  const most = Math.max(0.01, ...w.resources.flatMap(name => w.changes.map((_, i) => Math.abs(change(all, name, i) || 0))));
  const x = value => left + (width - left - right) * (most + value) / most, text = value => (value === null ? '\u2013' : (value > 0 ? '+' : '') + percent(value, 1));
  const bars = w.resources.flatMap((name, r) => {
    const twice = change(all, name, 1), little = change(all, name, 0), y = 20 + r * row;
    return [svg('text', {x: left - 8, y: y + 14, 'text-anchor': 'end', class: 'label'}, name),
      svg('rect', {x: x(Math.min(twice || 0, 0)), y, width: Math.max(1, x(0) - x(Math.min(twice || 0, 0))), height: row - 8, fill: '#5b8bc9'}, svg('title', {}, `${w.changes[1]} ${name}: ${text(twice)}`)),
      svg('rect', {x: x(Math.min(little || 0, 0)), y: y + 4, width: Math.max(1, x(0) - x(Math.min(little || 0, 0))), height: row - 16, fill: '#1f4f8a'}, svg('title', {}, `${w.changes[0]} ${name}: ${text(little)}`)),
      svg('text', {x: x(0) + 6, y: y + 14, class: 'label'}, text(twice))];
  });
  const picture = svg('svg', {viewBox: `0 0 ${width} ${30 + row * w.resources.length}`, role: 'img', 'aria-label': 'Time saved by more of each resource', style: 'max-width:100%'}, bars);
  return el('section', {class: 'card', 'aria-labelledby': 'whatif-title'}, el('h2', {id: 'whatif-title'}, `What if ${visible(w.target)} had more`),
    el('p', {class: 'lead'}, `Time of all kernels, ${time(all.time_ns)} as it is. Wide bars: twice as much of a resource; narrow ones: a tenth more.`), picture,
    el('details', {}, el('summary', {}, 'Kernels'), plain('What if', ['kernel'].concat(w.resources.flatMap(name => w.changes.map(c => `${name} ${c}`))),
      w.kernels.slice(1, 60).map(k => [visible(k.name)].concat(w.resources.flatMap(name => w.changes.map((_, i) => text(change(k, name, i)))))))));
}
