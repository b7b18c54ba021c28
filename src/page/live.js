// SPDX-License-Identifier: Apache-2.0
// Measurements that run just now: asked for every two seconds while the page
// is looked at; when one ended, a link leads to the list with its result.
'use strict';

function startLive(section) {
  let running = new Set();
  const line = (run) => make('li', {}, `${run.command} ${run.name}: ${run.phase} `,
    make('progress', {max: 1, value: run.share, 'aria-label': `${run.name}, share done`}),
    ` ${percentText(run.share)}${run.remaining_s === null ? '' : `, ${Math.ceil(run.remaining_s)} s left`}`);
  const draw = (runs) => {
    const ended = [...running].some((id) => !runs.some((run) => run.id === id));
    const list = section.querySelector('ul');
    list.replaceChildren(...runs.map(line));
    if (ended) section.querySelector('.news').hidden = false;
    section.hidden = !runs.length && section.querySelector('.news').hidden;
    running = new Set(runs.map((run) => run.id));
  };
  const ask = () => {
    if (document.hidden) return;
    fetch('/api/live').then((reply) => reply.json()).then((page) => draw(page.live || []))
      .catch(() => draw([])); // the server ended
  };
  ask();
  setInterval(ask, 2000);
}

addEventListener('DOMContentLoaded', () => {
  const section = document.getElementById('live');
  if (section) startLive(section);
});
