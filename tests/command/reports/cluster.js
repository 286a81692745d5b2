/* Put behind the script of gpusim cluster's page by tests/command/html.sh: uses the page as a reader would, and leaves what it found in the title. */
(function () {
  const failures = [], demand = (condition, what) => { if (!condition) failures.push(what); };
  try {
    const section = document.getElementById('ranks-title').closest('section'), rows = () => [...section.querySelectorAll('tbody tr th')].map(c => +c.textContent);
    demand(rows().join() === data.ranks.map(r => r.rank).join(), 'has ranks in order');
    const head = [...section.querySelectorAll('thead button')].find(b => b.textContent.startsWith('time'));
    head.click();
    demand(rows()[0] === data.ranks.slice().sort((a, b) => b.time_ns - a.time_ns)[0].rank, 'sorts by time');
    const search = document.getElementById('search');
    search.value = data.ranks[1].host;
    search.dispatchEvent(new Event('input'));
    demand(rows().includes(1), 'searches');
    demand(document.querySelectorAll('section svg rect.t-own').length >= 3, 'has bars');
    const line = document.getElementById('timeline-title').closest('section'), spans = () => line.querySelectorAll('g rect').length, all = spans();
    demand(line.querySelector('g rect.t-mpi'), 'has messages in its timeline');
    [...line.querySelectorAll('button')].find(b => b.title === 'zoom in').click();
    demand(spans() <= all, 'zooms');
    [...line.querySelectorAll('button')].find(b => b.title === 'show all').click();
    demand(spans() === all, 'shows all again');
    demand(document.getElementById('waits-title') && document.getElementById('calls-title'), 'has waits and calls');
    demand(document.title !== 'HARM' && document.body.textContent.includes(data.program.slice(0, 20)), 'shows the name of the program as text');
    demand(document.documentElement.scrollWidth <= document.documentElement.clientWidth, 'fits its window');
  } catch (e) { failures.push(String(e)); }
  document.title = 'TESTED ' + (failures.length ? 'FAIL: ' + failures.join('; ') : 'OK');
})();
