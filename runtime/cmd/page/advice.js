/* What to change, and what it would save: of all kernels (k: null), or of one. */
function advicePanel(k) {
  const rows = (data.advice || []).filter(a => a.target === state.target && (!k || a.kernel === k.name));
  if (!rows.length) return null;
  const place = a => (a.line ? `${visible(a.file)}:${a.line}` : '');
  const kernelOf = a => data.kernels.find(own => own.name === a.kernel);
  const columns = (k ? [] : ['kernel']).concat(['saves', 'of it', 'where', 'what was found', 'what to do']);
  return el('section', {class: 'card long', 'aria-labelledby': 'advice-title'}, el('h2', {id: 'advice-title'}, `Advice for ${state.target}`),
    el('p', {class: 'lead'}, 'What each cause costs: the model timed a launch with it and without it. Savings do not add up.'),
    plain('Advice', columns, rows.slice(0, 40).map(a => (k ? [] : [kernelOf(a) ? kernelLink(kernelOf(a)) : 'the program']).concat(
      [time(a.saving_ns), [percent(a.saving), meter(a.saving)], el('span', {class: 'mono'}, place(a)), a.evidence, a.remedy]))));
}
