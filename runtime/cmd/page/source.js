/* The user's source with the cost of each line. */
const KEYWORDS = new Set(('__kernel kernel __global global __local local __constant constant __private private void if else for while do ' +
  'switch case default break continue return goto struct union enum typedef const volatile restrict unsigned signed static inline sizeof ' +
  'bool char short int long half float double size_t uchar ushort uint ulong').split(' '));
const TOKEN = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?)|\b(0x[\da-fA-F]+|\d[\w.]*)|([A-Za-z_]\w*)|[^\w"/]+|\//g;

function highlight(line, comment) {
  const out = [];
  let text = line;
  if (comment.open) {
    const end = text.indexOf('*/');
    const cut = end < 0 ? text.length : end + 2;
    out.push(el('span', {class: 'tok-c'}, visible(text.slice(0, cut))));
    comment.open = end < 0;
    text = text.slice(cut);
  }
  for (const m of text.matchAll(TOKEN)) {
    const type = m[1] ? 'tok-c' : m[2] ? 'tok-s' : m[3] ? 'tok-n' : m[4] && KEYWORDS.has(m[4]) ? 'tok-k' : null;
    if (m[1] && m[1].startsWith('/*') && !m[1].endsWith('*/')) comment.open = true;
    out.push(type ? el('span', {class: type}, visible(m[0])) : visible(m[0]));
  }
  return out;
}

const COLUMNS = [['line', 'in the source'], ['cycles', 'share of the kernel\u2019s cycles'], ['executions', 'by work-items'], ['lanes', 'of a warp that are active, in the mean'],
  ['sectors', 'of 32 bytes that a request of a warp touches; 4 where lanes read floats side by side'], ['conflicts', 'turns that an access to local memory takes beyond what its bytes need'],
  ['why', 'what most of its cycles go to'], ['', '']];

/* The cells of a line after its share of the cycles, or empty ones. */
function lineCells(l) {
  const number = x => x === null || x === undefined ? '' : x.toFixed(1), reasons = l ? shares(l.cycles_by || {}).filter(p => p.share >= 0.05).slice(0, 4) : [];
  const cells = l ? [count(l.executions), l.active_lanes === undefined ? percent(l.lane_efficiency) : number(l.active_lanes), number(l.sectors_per_request), number(l.bank_conflicts_per_access)] : ['', '', '', ''];
  const moved = l && l.transactions ? count(l.transactions) + ' transactions' : null;
  return cells.map((c, i) => el('td', {title: i > 1 && c !== '' ? moved : null}, c)).concat(el('td', {class: 'left why', title: reasons.map(p => `${kindName(p.kind)} ${percent(p.share)}`).join(', ')},
    reasons.length ? [el('span', {class: 'swatch k-' + reasons[0].kind.replace(/\W/g, ''), 'aria-hidden': 'true'}), kindName(reasons[0].kind), ' ', percent(reasons[0].share)] : ''));
}

function sourceTable(e, index, lines) {
  const source = data.sources[index], text = source.text, all = e.cycles;
  const byLine = new Map(lines.map(l => [l.line, l]));
  const hottest = Math.max(...lines.map(l => l.cycles), 0);
  const rows = text ? text.split('\n') : [], comment = {open: false}, body = el('tbody');
  const near = n => { for (let i = n - 2; i <= n + 2; i++) if (byLine.has(i)) return true; return false; };
  let gap = false;
  rows.forEach((row, i) => {
    const n = i + 1, l = byLine.get(n), code = highlight(row, comment);
    if (!near(n)) { gap = true; return; }
    if (gap) body.append(el('tr', {}, el('td', {colspan: COLUMNS.length, class: 'left dim'}, '\u22ef')));
    gap = false;
    const share = l && all ? l.cycles / all : 0;
    body.append(el('tr', {id: `line-${index}-${n}`, class: l && l.cycles === hottest && hottest > 0 ? 'hot' : null},
      el('td', {class: 'n'}, n),
      l ? el('td', {style: `background:rgba(var(--heat),${(0.55 * Math.sqrt(share)).toFixed(3)})`}, percent(share, 1)) : el('td'),
      ...lineCells(l), el('td', {class: 'code'}, code)));
  });
  if (!text) lines.forEach(l => body.append(el('tr', {}, el('td', {class: 'n'}, l.line), el('td', {}, percent(l.cycles / all, 1)),
    ...lineCells(l), el('td', {class: 'code dim'}, '(its text is not in the report)'))));
  return el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Source ' + visible(source.name)},
    el('table', {class: 'source'}, el('caption', {class: 'hidden'}, 'Source with the cost of each line'),
      el('thead', {}, el('tr', {}, COLUMNS.map(([title, help], i) => el('th', {scope: 'col', title: help || visible(source.name), class: i > 5 ? 'left' : null}, title || visible(source.name))))), body));
}

function sourcePanel(e) {
  const lines = (e.lines || []).filter(l => l.source !== null), panel = el('section', {class: 'card long', 'aria-labelledby': 'source-title'},
    el('h2', {id: 'source-title'}, 'Source'));
  if (!lines.length || !data.sources.length) {
    panel.append(el('p', {class: 'lead'}, 'The report has no lines, because the program ended before it could write them.'));
    return panel;
  }
  const hot = lines.slice().sort((a, b) => b.cycles - a.cycles).slice(0, 5).filter(l => l.cycles > 0.02 * e.cycles);
  panel.append(el('p', {class: 'lead'}, 'Cycles of each line, how often work-items executed it, active lanes per warp, sectors per request, bank conflicts per access to local memory, and what most of its cycles go to. A wait counts for the instruction that is waited for.'));
  if (hot.length) panel.append(el('p', {}, 'Hottest lines: ', hot.map((l, i) => [i ? ', ' : '', el('a', {href: `#line-${l.source}-${l.line}`, onclick: event => jump(event, l)}, `${l.line} (${percent(l.cycles / e.cycles)})`)])));
  for (const index of [...new Set(lines.map(l => l.source))]) panel.append(sourceTable(e, index, lines.filter(l => l.source === index)));
  const other = sum(e.lines.filter(l => l.source === null), l => l.cycles);
  panel.append(el('p', {class: 'dim'}, `${percent(other / e.cycles, 1)} of the cycles belong to no source line (instructions that the compiler added), ` +
    `${percent(((e.cycles_by.launch || 0) + (e.cycles_by.tail || 0)) / e.cycles, 1)} of the launch itself and its tail.`));
  return panel;
}

function jump(event, l) {
  event.preventDefault();
  const row = document.getElementById(`line-${l.source}-${l.line}`);
  if (row) { row.scrollIntoView({block: 'center'}); row.tabIndex = -1; row.focus(); }
}
