/* Tables that can be filtered, and sorted by buttons in their columns. */
let tables = 0;

/*
 * columns: {title, value (sorts; a number or a text), show (the content of a cell; default: the value), left, head}
 * The rows are first sorted by the column `first`, largest first if it is a number.
 */
function sortable(caption, columns, rows, first) {
  const body = el('tbody'), id = 'table-' + ++tables;
  let by = first, down = true, words = [];
  const heads = columns.map((c, i) => el('th', {scope: 'col', class: c.left && 'left'},
    el('button', {type: 'button', title: c.help, onclick: () => choose(i)}, c.title, el('span', {'aria-hidden': 'true'}))));
  const cells = new Map();

  function rowOf(row) {
    if (!cells.has(row)) cells.set(row, el('tr', {}, columns.map(c => el(c.head ? 'th' : 'td',
      {class: [c.left && 'left', c.head && 'name'].filter(Boolean).join(' ') || null, scope: c.head && 'row'},
      c.show ? c.show(row) : c.value(row)))));
    return cells.get(row);
  }
  function draw() {
    const c = columns[by];
    const wanted = rows.filter(r => words.every(w => columns.some(x => String(x.value(r)).toLowerCase().includes(w))));
    wanted.sort((a, b) => {
      const x = c.value(a), y = c.value(b);
      const order = typeof x === 'string' ? x.localeCompare(y) : y - x;
      return down ? order : -order;
    });
    body.replaceChildren(...wanted.slice(0, 1000).map(rowOf));
    if (wanted.length > 1000) body.append(el('tr', {}, el('td', {colspan: columns.length, class: 'left dim'},
      `and ${wanted.length - 1000} more: search to see them`)));
    if (!wanted.length) body.append(el('tr', {}, el('td', {colspan: columns.length, class: 'left dim'}, 'nothing matches')));
    heads.forEach((h, i) => {
      const text = typeof columns[i].value(rows[0] || {}) === 'string';
      if (i === by) h.setAttribute('aria-sort', down === text ? 'ascending' : 'descending');
      else h.removeAttribute('aria-sort');
      h.querySelector('span').textContent = i === by ? (down === text ? ' \u25b2' : ' \u25bc') : '';
    });
    return wanted.length;
  }
  function choose(i) {
    down = i === by ? !down : true;
    by = i;
    draw();
    announce('sorted by ' + columns[i].title);
  }
  const filter = text => { words = text.toLowerCase().split(/\s+/).filter(Boolean); announce(draw() + ' rows'); };
  const table = el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
    el('table', {id}, el('caption', {class: 'hidden'}, caption), el('thead', {}, el('tr', {}, heads)), body));
  if (rows.length) draw();
  return {table, filter};
}

/* A plain table of facts. The column that explains the others goes below them on a narrow screen. */
const helps = title => title === '' || title === 'what it is';
function plain(caption, titles, rows) {
  return el('div', {class: 'scroll'}, el('table', {class: titles.some((t, i) => i && helps(t)) ? 'helped of-' + titles.length : null}, el('caption', {class: 'hidden'}, caption),
    el('thead', {}, el('tr', {}, titles.map((t, i) => el('th', {scope: 'col', class: i && !helps(t) ? null : 'left'}, t)))),
    el('tbody', {}, rows.map(r => el('tr', {}, r.map((c, i) => i ? el('td', {class: helps(titles[i]) ? 'left wrap' : null}, c) : el('th', {scope: 'row', class: 'left'}, c)))))));
}
