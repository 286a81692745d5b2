/* The pages: an overview, and one for each kernel. */
const LIMITS = {warps: 'places for warps', blocks: 'places for work-groups', registers: 'registers', shared: 'local memory', grid: 'the launch, which has too few work-groups', none: 'its own size: it does not fit'};
const kernelLink = k => el('a', {href: '#/kernel/' + encodeURIComponent(k.name), title: visible(k.name)}, visible(k.name));
const totalOf = target => sum(data.kernels, k => (estimateOf(k, target) || {}).total_ns);

function targetTabs() {
  if (targets.length < 2) return null;
  return el('div', {class: 'chips', role: 'group', 'aria-label': 'GPU'}, targets.map(t => el('button', {type: 'button', 'aria-pressed': String(t.name === state.target),
    title: t.title, onclick: () => { state.target = t.name; show(); announce('GPU ' + t.name); }}, t.name)));
}

/* ---- the overview ---- */

function shellQuote(word) { return /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'"; }
function reproduce() {
  const options = Object.entries(data.run.options || {}).filter(([key]) => key !== 'OUTPUT').map(([key, value]) => `GPUSIM_${key}=${shellQuote(value)}`);
  const lines = data.run.cwd ? ['cd ' + shellQuote(data.run.cwd)] : [];
  return lines.concat(options.concat(/(^|\/)gpusim$/.test(data.run.command[0]) ? [] : ['gpusim run --'], data.run.command.map(shellQuote)).join(' ')).join('\n');
}

function summaryCards() {
  const best = Math.min(...data.summary.map(s => s.kernels_ns));
  return el('div', {class: 'grid'}, data.summary.map(s => {
    const t = targetOf(s.target), by = {};
    data.kernels.forEach(k => { const e = estimateOf(k, s.target); if (e) for (const [kind, n] of Object.entries(e.cycles_by || {})) by[kind] = (by[kind] || 0) + n; });
    return el('section', {class: 'card', 'aria-label': t.title}, el('div', {class: 'dim'}, el('strong', {}, t.name), ' \u00b7 ' + t.title), el('div', {class: 'big'}, time(s.kernels_ns)),
      el('p', {class: 'dim', style: 'margin:.1rem 0 .5rem'}, `kernels, ${count(s.launches)} launches` + (targets.length > 1 ? s.kernels_ns === best ? ' \u00b7 fastest' : ` \u00b7 ${(s.kernels_ns / best).toFixed(2)}\u00d7 the fastest` : '') + ` \u00b7 copies ${time(s.transfers_ns)}` + (s.energy ? ` \u00b7 ${joules(s.energy.joules)}, ${s.energy.watts.toFixed(0)} W${s.energy.validated ? '' : ' (not validated)'}` : '')),
      stack(by, true), el('p', {class: 'dim', style: 'margin:.45rem 0 0;font-size:.85rem'}, shares(by).filter(p => p.share >= 0.005).slice(0, 3).map(p => `${kindName(p.kind)} ${percent(p.share)}`).join(' \u00b7 ')));
  }));
}

function kernelTable() {
  const name = state.target, all = totalOf(name), rows = data.kernels.filter(k => estimateOf(k, name)), of = k => estimateOf(k, name);
  const {table, filter} = sortable('Kernels on ' + name, [
    {title: 'kernel', head: true, left: true, value: k => k.name, show: kernelLink},
    {title: 'total', help: 'time of all launches', value: k => of(k).total_ns, show: k => time(of(k).total_ns)},
    {title: 'share', help: 'of all kernels on this GPU', value: k => of(k).total_ns / all, show: k => [percent(of(k).total_ns / all, 1), meter(of(k).total_ns / all)]},
    {title: 'launches', value: k => of(k).launches, show: k => count(of(k).launches)},
    {title: 'average', value: k => of(k).average_ns, show: k => time(of(k).average_ns)},
    {title: 'fastest', value: k => of(k).min_ns, show: k => time(of(k).min_ns)},
    {title: 'slowest', value: k => of(k).max_ns, show: k => time(of(k).max_ns)},
    {title: 'limited by', left: true, help: 'what takes most of its cycles', value: k => kindName(of(k).limiter), show: k => el('span', {class: 'tag'}, kindName(of(k).limiter))},
    {title: 'occupancy', help: 'warps that can be resident, of what an SM can have', value: k => of(k).occupancy, show: k => percent(of(k).occupancy)},
    {title: 'SMs', help: 'SMs that get a work-group, of all', value: k => of(k).sm_use, show: k => percent(of(k).sm_use)},
    {title: 'lanes', help: 'active lanes of executed instructions', value: k => of(k).lane_efficiency, show: k => percent(of(k).lane_efficiency)},
    {title: 'where the cycles go', left: true, value: k => (of(k).cycles_by || {}).issue / of(k).cycles, show: k => stack(of(k).cycles_by || {}, true)},
  ], rows, 1);
  return el('section', {class: 'card long', 'aria-labelledby': 'kernels-title'}, el('div', {class: 'bar-row'}, el('h2', {id: 'kernels-title'}, `Kernels on ${name}`),
    el('span', {class: 'chips controls'}, el('label', {class: 'hidden', for: 'search'}, 'Search kernels'),
      el('input', {type: 'search', id: 'search', placeholder: 'Search kernels and limits', oninput: event => filter(event.target.value)}), targetTabs())), table);
}

function comparison() {
  if (targets.length < 2) return null;
  const body = el('tbody'), choose = el('select', {id: 'base', onchange: event => { state.base = event.target.value; draw(); }}, targets.map(t => el('option', {value: t.name, selected: t.name === state.base}, t.name)));
  const head = el('tr');
  function ratio(ns, base) {
    if (!base || !ns) return null;
    const r = base / ns;
    if (r > 0.995 && r < 1.005) return el('span', {class: 'ratio'}, '1.00\u00d7');
    return el('span', {class: 'ratio ' + (r > 1 ? 'good' : 'bad')}, r > 1 ? `\u25b2 ${r.toFixed(2)}\u00d7 faster` : `\u25bc ${(1 / r).toFixed(2)}\u00d7 slower`);
  }
  function draw() {
    head.replaceChildren(el('th', {scope: 'col', class: 'left'}, 'kernel'), ...targets.map(t => el('th', {scope: 'col'}, t.name + (t.name === state.base ? ' (base)' : ''))));
    body.replaceChildren(...data.kernels.slice(0, 300).map(k => el('tr', {}, el('th', {scope: 'row', class: 'left name'}, kernelLink(k)), targets.map(t => {
      const e = estimateOf(k, t.name), base = estimateOf(k, state.base);
      return el('td', {}, e ? [time(e.total_ns), t.name === state.base ? null : ratio(e.total_ns, base && base.total_ns)] : el('span', {class: 'dim'}, 'not modelled'));
    }))), el('tr', {}, el('th', {scope: 'row', class: 'left'}, 'all kernels'), targets.map(t => el('td', {}, el('strong', {}, time(totalOf(t.name))), t.name === state.base ? null : ratio(totalOf(t.name), totalOf(state.base))))));
  }
  draw();
  return el('section', {class: 'card long', 'aria-labelledby': 'matrix-title'}, el('div', {class: 'bar-row'}, el('h2', {id: 'matrix-title'}, 'Kernels \u00d7 GPUs'),
    el('span', {class: 'controls'}, el('label', {for: 'base', class: 'dim'}, 'compared with '), choose)), el('div', {class: 'scroll'}, el('table', {}, el('caption', {class: 'hidden'}, 'Total time of each kernel on each GPU, with ratios'), el('thead', {}, head), body)));
}

function rooflinePanel() {
  const {picture, points} = roofline(state.target), t = targetOf(state.target);
  const still = points.filter(p => !p.w.measured).length;
  const asked = 'what work-items ask for';
  const of = t.memory === 'perfect' ? `${asked}, because memory is modelled as perfect: real traffic is less where caches hit, so points lie further right, and they may lie above the roof`
    : !still ? 'what moves between L2 and memory' : `${still < points.length ? 'what moves between L2 and memory; of hollow points ' : ''}${asked}, because L2 has it all and nothing moves`;
  const panel = el('section', {class: 'card', 'aria-labelledby': 'roof-title'}, el('div', {class: 'bar-row'}, el('h2', {id: 'roof-title'}, `Roofline of ${t.title}`), targetTabs()),
    el('p', {class: 'lead'}, points.length ? `Kernels by operations per byte; larger points take more time. Bytes are ${of}.`
      : 'No kernel does floating-point operations on memory: there is nothing to place.'));
  if (points.length) panel.append(picture, el('details', {}, el('summary', {}, 'Numbers'), plain('Roofline', ['kernel', 'operations', 'bytes', 'FLOP/B', 'at L2', 'at L1', 'GFLOP/s', 'of peak', 'GB/s'], points.map(p => [kernelLink(p.k),
    count(p.w.flops), bytes(Math.round(p.w.size)), count(p.w.intensity), ...['L2', 'L1'].map(l => intensityAt(p.e, l)), count(p.w.gflops), percent(p.w.gflops / t.fp32_gflops, 1), count(p.w.gbps)]))));
  return panel;
}

/* What a note begins with, "assumed for a, b:", stands out. */
function noteItem(text) {
  const at = text.indexOf(':');
  return el('li', {}, el('strong', {}, visible(text.slice(0, at))), visible(text.slice(at)));
}

function notes() {
  const items = data.not_modelled.map(n => noteItem(`not modelled: ${count(n.launches)} launches of ${n.kernel}: ${n.reason}`)).concat((data.notes || []).map(n => noteItem(n.text)));
  if (data.aggregated) items.push(noteItem('in this page: ' + data.aggregated));
  return el('section', {class: 'card', 'aria-labelledby': 'notes-title'}, el('h2', {id: 'notes-title'}, 'Notes'),
    el('p', {class: 'lead'}, data.notes ? 'What was not modelled, or was assumed.' : 'What was not modelled. The report does not say what was assumed: it is of an earlier version, or the program ended before it could.'), el('ul', {}, items));
}

function about() {
  const cost = data.cost || {}, run = data.run;
  return el('section', {class: 'card', 'aria-labelledby': 'about-title'}, el('h2', {id: 'about-title'}, 'What ran'), el('div', {class: 'two'},
    el('dl', {class: 'facts'}, [['Command', el('span', {class: 'mono'}, visible(run.command.join(' ')))], ['Started', run.started.replace('T', ' ').replace('Z', ' UTC')],
      ['Launches', count(sum(data.kernels, k => k.launches)) + ', of ' + plural(data.kernels.length, 'kernel')],
      ['Copies', data.transfers.map(t => `${t.kind} ${count(t.commands)}\u00d7 ${bytes(t.size_bytes)}`).join(', ') || 'none'],
      ['Model', [...new Set(targets.map(t => t.model + ', ' + (t.memory || 'perfect') + ' memory'))].join('; ')],
      ['Tool', `gpusim ${data.tool.version}; modelling took ${time(cost.model_ns || 0)} of a run of ${time(cost.wall_ns || 0)}`]].map(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])),
    el('div', {}, el('h3', {style: 'margin-top:.3rem'}, 'How far to trust it'), el('ul', {style: 'margin:.2rem 0;padding-left:1.2rem'}, data.accuracy.map(a => el('li', {}, a)))),
  ), plain('GPUs', ['GPU', 'arch', 'SMs', 'clock', 'FP32 peak', 'memory', 'link'], targets.map(t => [`${t.name} \u00b7 ${t.title}`, t.arch, t.sm_count, count(t.clock_mhz * 1e6) + 'Hz',
    count(t.fp32_gflops * 1e9) + 'FLOP/s', count(t.dram_gbps * 1e9) + 'B/s', count(t.link_gbps * 1e9) + 'B/s'])), el('h3', {}, 'To reproduce it'), el('pre', {tabindex: '0'}, reproduce()));
}

/* ---- a kernel ---- */

/* How much each limit of an SM would allow alone, and which limit applies. */
function occupancyLimits(e) {
  const names = {warps: ['Warps', 'an SM has places for'], blocks: ['Work-groups', 'an SM has places for'], registers: ['Registers', 'its register file holds'], shared: ['Local memory', 'its shared memory holds']};
  const o = e.longest, most = targetOf(e.target).max_warps_per_sm;
  if (!o.blocks_allowed) return null;
  return plain('Limits of occupancy', ['limit', 'work-groups', 'warps', ''], Object.entries(names).map(([key, [name, help]]) => {
    const n = o.blocks_allowed[key];
    return [name, n === null ? '\u2013' : count(n), n === null ? '\u2013' : count(Math.min(n * o.warps_per_block, most)),
      key === o.occupancy_limit ? el('strong', {}, '\u25c0 this limits') : el('span', {class: 'dim'}, n === null ? 'takes none' : help)];
  }));
}

function occupancyPanel(e) {
  const o = e.longest;
  if (!o) return null;
  const better = (e.occupancy_by_local_size || []).reduce((a, p) => p[1] > a[1] + 0.01 ? p : a, [0, o.occupancy, '']);
  return el('section', {class: 'card', 'aria-labelledby': 'occupancy-title'}, el('h2', {id: 'occupancy-title'}, 'Occupancy'), el('p', {class: 'lead'},
    `${percent(o.occupancy)} of the warps that an SM can have: ${o.blocks_per_sm} work-groups of ${sizes(o.local)} work-items, limited by ${LIMITS[o.occupancy_limit] || o.occupancy_limit}; ` +
    `${e.registers_per_thread === null ? 'registers not known' : e.registers_per_thread + ' registers per work-item'}, ${bytes(e.local_memory_bytes)} local memory per group.` +
    (better[0] ? ` ${better[0]} work-items would allow ${percent(better[1])}.` : '')), occupancyCurve(e), occupancyLimits(e));
}

function launchPanel(k) {
  const name = state.target, groups = data.launch_groups.filter(g => g.kernel === k.name && g.targets[name]);
  if (!groups.length) return null;
  const of = g => g.targets[name];
  return el('section', {class: 'card long', 'aria-labelledby': 'launches-title'}, el('h2', {id: 'launches-title'}, 'Launches'), sortable('Launches by range', [
    {title: 'global size', left: true, head: true, value: g => g.global.reduce((a, b) => a * b, 1), show: g => sizes(g.global)}, {title: 'local size', left: true, value: g => g.local.reduce((a, b) => a * b, 1), show: g => sizes(g.local)},
    {title: 'launches', value: g => of(g)[0], show: g => count(of(g)[0])}, {title: 'total', value: g => of(g)[1], show: g => time(of(g)[1])}, {title: 'average', value: g => of(g)[1] / of(g)[0], show: g => time(of(g)[1] / of(g)[0])},
    {title: 'fastest', value: g => of(g)[2], show: g => time(of(g)[2])}, {title: 'slowest', value: g => of(g)[3], show: g => time(of(g)[3])},
    {title: 'on this host', help: 'measured on the device that ran it', value: g => g.measured_ns || 0, show: g => g.measured_ns ? time(g.measured_ns / g.measured) : '\u2013'}], groups, 3).table);
}

function kernelPage(k) {
  const e = estimateOf(k, state.target) || k.estimates[0];
  if (!e) return [el('p', {class: 'card'}, 'This kernel was not modelled.')];
  const t = targetOf(e.target);
  return [el('nav', {'aria-label': 'Breadcrumb', style: 'margin-top:.6rem'}, el('a', {href: '#/'}, 'All kernels'), ' / ', visible(k.name)),
    el('section', {class: 'card', 'aria-labelledby': 'kernel-title'}, el('div', {class: 'bar-row'}, el('h2', {id: 'kernel-title', class: 'mono', style: 'font-size:1.25rem;overflow-wrap:anywhere'}, visible(k.name)), targetTabs()),
      el('div', {class: 'grid', style: 'margin:.4rem 0 1rem;grid-template-columns:repeat(auto-fit,minmax(12rem,1fr))'}, [[time(e.total_ns), `${plural(e.launches, 'launch', 'es')} on ${t.title}`], [time(e.average_ns), `average; ${time(e.min_ns)} to ${time(e.max_ns)}`],
        [kindName(e.limiter), 'limits it'], [percent(e.lane_efficiency), `of lanes active; ${count(e.warp_instructions)} warp instructions`]].map(([big, small]) => el('div', {}, el('div', {class: 'big'}, big), el('div', {class: 'dim'}, small)))),
      el('h3', {}, 'Where the cycles go'), stack(e.cycles_by || {}), el('div', {style: 'height:.6rem'}), stackTable(e.cycles_by || {}, t.clock_mhz)),
    advicePanel(k), usePanel(e), el('div', {class: 'two'}, occupancyPanel(e), memoryPanel(e)), memoryChart(e), kernelRoofline(k, e), sourcePanel(e), launchPanel(k)];
}

/* ---- downloads, theme, routes ---- */

const quoted = v => /[",\n\r]/.test(v) || /^[=+\-@\t]/.test(v) && isNaN(v) ? '"' + (/^[=+\-@\t]/.test(v) && isNaN(v) ? "'" : '') + v.replace(/"/g, '""') + '"' : v;
function csv() {
  const rows = [['kernel', 'target', 'launches', 'total_ns', 'average_ns', 'min_ns', 'max_ns', 'cycles', 'limiter', 'occupancy', 'sm_use', 'lane_efficiency', 'registers_per_thread', 'thread_instructions', 'warp_instructions']];
  data.kernels.forEach(k => k.estimates.forEach(e => rows.push([k.name].concat(rows[0].slice(1).map(c => e[c] === null || e[c] === undefined ? '' : e[c])))));
  return rows.map(r => r.map(v => quoted(String(v))).join(',')).join('\n') + '\n';
}

function show() {
  const main = document.getElementById('main'), route = decodeURIComponent(location.hash.replace(/^#\/?/, ''));
  const kernel = route.startsWith('kernel/') ? data.kernels.find(k => k.name === route.slice(7)) : null;
  if (location.hash && !location.hash.startsWith('#/')) return; /* a link within this page */
  document.title = (kernel ? visible(kernel.name) + ' \u2013 ' : '') + 'gpusim report \u2013 ' + visible(data.run.command[0] || '');
  const parts = kernel ? kernelPage(kernel) : [summaryCards(), kernelTable(), advicePanel(null), whatIfPanel(), comparison(), rooflinePanel(), timelinePanel(state.target), notes(), about()];
  main.replaceChildren(...parts.flat().filter(Boolean));
}

document.getElementById('tools').append(
  el('button', {type: 'button', onclick: () => save('gpusim.json', 'application/json', JSON.stringify(data))}, 'JSON'),
  el('button', {type: 'button', onclick: () => save('gpusim.csv', 'text/csv', csv())}, 'CSV'),
  el('button', {type: 'button', onclick: () => print()}, 'Print'),
  el('button', {type: 'button', onclick: theme, title: 'light or dark'}, '\u25d0 Theme'));
document.getElementById('footer').append(`gpusim ${data.tool.version} \u00b7 ${data.run.started} \u00b7 this page needs no network`);
let drawn = document.documentElement.clientWidth;
addEventListener('resize', () => { const now = document.documentElement.clientWidth; if (Math.min(now, drawn) < 1240 && Math.abs(now - drawn) > 40) { drawn = now; show(); } });
addEventListener('hashchange', () => { show(); if (location.hash.startsWith('#/')) { scrollTo(0, 0); document.getElementById('main').focus({preventScroll: true}); } });
show();
