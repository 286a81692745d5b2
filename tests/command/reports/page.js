/* Put behind a page's own script by tests/command/html.sh: uses the page as a reader would, and leaves what it found in the title. */
(function () {
  const failures = [];
  const demand = (condition, what) => { if (!condition) failures.push(what); };
  const rows = () => [...document.querySelectorAll('#kernels-title')[0].closest('section').querySelectorAll('tbody tr th')].map(c => c.textContent);
  try {
    const section = document.getElementById('kernels-title').closest('section');
    const head = [...section.querySelectorAll('thead button')].find(b => b.textContent.startsWith('kernel'));
    head.click();
    const up = rows();
    head.click();
    const down = rows();
    demand(up.join() === up.slice().sort((a, b) => a.localeCompare(b)).join(), 'sorts by name');
    demand(down.join() === up.slice().reverse().join(), 'sorts the other way round');
    demand(section.querySelector('th[aria-sort]'), 'tells how it is sorted');
    const search = document.getElementById('search');
    search.value = up[0];
    search.dispatchEvent(new Event('input'));
    demand(rows().length >= 1 && rows().every(n => n.includes(up[0])), 'searches');
    demand(document.querySelector('svg circle.point, #roof-title'), 'has a roofline');
    demand(document.querySelector('rect.t-launch'), 'has launches in its timeline');
    demand(document.querySelector('#notes-title') && document.querySelector('#about-title'), 'has notes and what ran');
    demand(data.notes.length && document.getElementById('notes-title').closest('section').querySelectorAll('li').length >= data.notes.length, 'has all notes');
    demand(document.title.indexOf('HARM') < 0, 'runs nobody else’s script');
    const link = section.querySelector('tbody th a');
    location.hash = link.getAttribute('href');
    setTimeout(() => {
      try {
        demand(document.getElementById('kernel-title').textContent === up[0], 'opens the kernel');
        demand(document.querySelector('.stack:not(.small) i'), 'has a stacked bar');
        demand(document.querySelector('#occupancy-title') && document.querySelector('svg .curve'), 'has an occupancy curve');
        demand(document.getElementById('occupancy-title').closest('section').querySelectorAll('tbody tr').length === 4, 'has the limits of occupancy');
        demand(document.getElementById('memory-title'), 'has a memory panel');
        demand(document.getElementById('use-title').closest('section').querySelectorAll('tbody tr').length >= 3, 'tells how busy SMs and units are');
        demand(!!document.getElementById('chart-title') === (targets[0].memory === 'hierarchy'), 'has a memory chart where memory is modelled');
        demand(!document.getElementById('chart-title') || [...document.querySelectorAll('.box-name')].slice(0, 4).map(n => n.textContent).join() === 'Kernel,L1,L2,DRAM', 'has the levels of memory');
        demand([...document.querySelectorAll('.source thead th')].map(n => n.textContent).slice(0, 7).join() === 'line,cycles,executions,lanes,sectors,conflicts,why', 'has the columns of the source');
        demand([...document.querySelectorAll('.source td.why')].some(n => /\d%/.test(n.textContent)), 'tells what lines wait for');
        demand([...document.querySelectorAll('.source td[style*="--heat"]')].length > 0, 'has heat in its source');
        demand(document.querySelectorAll('[id]').length === new Set([...document.querySelectorAll('[id]')].map(n => n.id)).size, 'has every id once');
        demand([...document.querySelectorAll('button, a[href], input, select')].every(n => n.textContent.trim() || n.getAttribute('aria-label') || n.labels && n.labels.length), 'has a name for every control');
      } catch (e) { failures.push(String(e)); }
      document.title = 'TESTED ' + (failures.length ? 'FAIL: ' + failures.join('; ') : 'OK') + ' ' + Math.round(performance.now()) + ' ms';
    }, 300);
  } catch (e) { document.title = 'TESTED FAIL: ' + e; }
})();
