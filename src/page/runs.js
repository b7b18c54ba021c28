// SPDX-License-Identifier: Apache-2.0
// The list of results on a site: columns sort, arrow keys go from result to
// result, and "/" leads to the first filter.
'use strict';

function startRuns(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const links = () => [...body.querySelectorAll('a.run')];
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const sortBy = (column) => {
    const falling = heads[column].getAttribute('aria-sort') === 'ascending';
    heads.forEach((head) => head.removeAttribute('aria-sort'));
    heads[column].setAttribute('aria-sort', falling ? 'descending' : 'ascending');
    const rows = [...body.rows];
    rows.sort((a, b) => {
      const x = value(a, column), y = value(b, column);
      return x === y ? 0 : (falling ? -1 : 1) * (x < y ? -1 : 1);
    });
    body.append(...rows);
  };
  heads.forEach((head, column) => {
    if (head.dataset.sort === undefined) return;
    head.replaceChildren(make('button', {type: 'button', onclick: () => sortBy(column)}, head.textContent));
  });
  body.addEventListener('keydown', (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const at = links().indexOf(event.target);
    if (!step || at < 0 || !links()[at + step]) return;
    event.preventDefault();
    links()[at + step].focus();
  });
}

addEventListener('DOMContentLoaded', () => {
  const table = document.querySelector('table.runs');
  if (table) startRuns(table);
  const filter = document.querySelector('form.filters input');
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || !filter || event.target.closest('input')) return;
    event.preventDefault();
    filter.focus();
  });
});
