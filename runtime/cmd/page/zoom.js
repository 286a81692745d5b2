/* Pictures over time that can be zoomed and moved, by buttons and by keys. draw(from, to) draws the part to be seen. */
function zoomable(g, begin, end, name, draw) {
  let from = begin, to = end > begin ? end : begin + 1;
  function move(zoom, shift) {
    const width = Math.min((to - from) * zoom, end - begin), middle = (from + to) / 2 + shift * (to - from);
    from = Math.max(begin, Math.min(middle - width / 2, end - width));
    to = from + width;
    draw(from, to);
    announce(`${time(from - begin)} to ${time(to - begin)}`);
  }
  const act = (label, title, zoom, shift) => el('button', {type: 'button', class: 'act', title, 'aria-label': title, onclick: () => move(zoom, shift)}, label);
  const box = el('div', {class: 'chart', tabindex: '0', role: 'group', 'aria-label': name + '; plus and minus zoom, arrows move', onkeydown: event => {
    const moves = {'+': [0.5, 0], '=': [0.5, 0], '-': [2, 0], ArrowLeft: [1, -0.25], ArrowRight: [1, 0.25], Home: [1e9, 0]};
    if (moves[event.key]) { event.preventDefault(); move(...moves[event.key]); }
  }}, g);
  draw(from, to);
  return {box, controls: el('span', {class: 'controls chips'}, act('\u2212', 'zoom out', 2, 0), act('+', 'zoom in', 0.5, 0), act('\u2190', 'earlier', 1, -0.25),
    act('\u2192', 'later', 1, 0.25), act('all', 'show all', 1e9, 0))};
}

/* Lines of times, with labels below. A label takes 70 pixels. */
function timeAxis(g, {from, to, begin, X, left, W, top, H}) {
  const least = (to - from) / Math.max((W - left) / 70, 2), step = 10 ** Math.floor(log10(least)), every = step * [1, 2, 5, 10].find(n => step * n >= least * 0.999);
  for (let t = begin + Math.ceil((from - begin) / every) * every; t <= to; t += every) g.append(svg('line', {x1: X(t), x2: X(t), y1: top, y2: H - 20, class: 'grid-line'}),
    svg('text', {x: Math.min(X(t), W - 30), y: H - 6, 'text-anchor': 'middle', class: 'dim-text'}, time(t - begin)));
}
