'use strict';
/* All text that comes from the user's program gets into the page as text nodes and attributes, never as HTML. */
const data = JSON.parse(document.getElementById('data').textContent);
const log10 = Math.log10;
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

function announce(text) { document.getElementById('announce').textContent = text; }

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  el('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* Shows control characters as pictures, so that they can be seen. */
const visible = text => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, c => c === '\u007f' ? '\u2421' : String.fromCharCode(0x2400 + c.charCodeAt(0)))
  .replace(/[\u202a-\u202e\u2066-\u2069]/g, '\ufffd');

/* A picture has the width of the page, so that its letters are as large as others. */
const pictureWidth = most => Math.max(320, Math.min(most, document.documentElement.clientWidth - 84));

const meter = share => el('span', {class: 'meter', 'aria-hidden': 'true'}, el('i', {style: `width:${Math.round(100 * share)}%`}));
const legendItem = (cls, text) => [el('span', {style: 'white-space:nowrap'}, svg('svg', {width: 12, height: 12, 'aria-hidden': 'true'}, svg('rect', {width: 12, height: 12, rx: 3, class: cls})), ' ' + text), '\u2003 '];

function theme() {
  const now = document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  document.documentElement.dataset.theme = now === 'dark' ? 'light' : 'dark';
}
