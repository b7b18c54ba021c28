// SPDX-License-Identifier: Apache-2.0
// The operations of a profile as a table that sorts, filters and saves itself.
'use strict';

const operationColumns = [
  {key: 'name', title: 'operation', text: (o) => o.name},
  {key: 'self_ms', title: 'self time', text: (o) => timeText(o.self_ms), number: true},
  {key: 'share', title: 'share', text: (o) => percentText(o.share), number: true, bar: true},
  {key: 'type', title: 'type', text: (o) => o.type, wraps: true},
  {key: 'bound', title: 'bound by', text: (o) => o.bound || '–'},
  {key: 'ceiling_share', title: 'of the roof', text: (o) => percentText(o.ceiling_share), number: true},
  {key: 'executed_gflops_per_s', title: 'FLOP/s', number: true,
    text: (o) => withPrefix(o.executed_gflops_per_s === null ? null : 1e9 * o.executed_gflops_per_s, '')},
  {key: 'gbytes_per_s', title: 'B/s', number: true,
    text: (o) => withPrefix(o.gbytes_per_s === null ? null : 1e9 * o.gbytes_per_s, '')},
  {key: 'memory_bytes', title: 'live memory', text: (o) => bytesText(o.memory_bytes), number: true},
  {key: 'kernel', title: 'kernel', text: (o) => o.kernel, wraps: true},
  {key: 'output_shape', title: 'output', text: (o) => o.output_shape, wraps: true},
];
const ROWS_AT_ONCE = 120;

// Quoted where it must be (RFC 4180); a leading sign that a spreadsheet would
// take for a formula gets an apostrophe.
function csvField(value) {
  let text = value === null || value === undefined ? '' : String(value);
  if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function saveText(name, text) {
  const link = make('a', {href: URL.createObjectURL(new Blob([text], {type: 'text/csv'})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const operationTable = {
  rows: [], shown: [], sort: '-share', query: '', selected: -1, limit: ROWS_AT_ONCE,

  start(section, operations) {
    this.rows = operations.map((operation, index) => ({operation, index,
      words: `${operation.name} ${operation.type} ${operation.role} ${operation.bound} ${operation.kernel} ${operation.path}`.toLowerCase()}));
    this.most = operations.reduce((most, operation) => Math.max(most, operation.share), 1e-9);
    this.sort = state.get('sort') || '-share';
    this.query = state.get('q');
    this.search = make('input', {type: 'search', placeholder: 'Filter: name, type, bound, kernel',
      'aria-label': 'Filter operations', value: this.query,
      oninput: () => { this.query = this.search.value; this.limit = ROWS_AT_ONCE; state.set({q: this.query}); this.draw(); }});
    this.count = make('span', {class: 'count', 'aria-live': 'polite'});
    this.head = make('tr', {});
    this.body = make('tbody', {});
    section.querySelector('h2').after(
      make('div', {class: 'tools'}, this.search, this.count,
        make('button', {type: 'button', onclick: () => saveText('operations.csv', this.csv())}, 'Save CSV'),
        make('button', {type: 'button', onclick: (event) => this.copy(event.currentTarget)}, 'Copy')),
      make('div', {class: 'wide scroll', tabindex: '0', role: 'region', 'aria-label': 'Operations'},
        make('table', {id: 'operation-table'}, make('thead', {}, this.head), this.body)));
    for (const column of operationColumns) {
      this.head.append(make('th', {scope: 'col', class: column.number ? 'n' : null, 'data-key': column.key},
        make('button', {type: 'button', onclick: () => this.sortBy(column)}, column.title)));
    }
    this.draw();
    const line = state.get('op') && this.select(Number(state.get('op')));
    if (line) this.body.closest('.scroll').scrollTop = line.offsetTop - 80;
  },

  sortBy(column) {
    const falling = `-${column.key}`;
    this.sort = this.sort === falling ? column.key : this.sort === column.key ? falling :
      column.number ? falling : column.key;
    state.set({sort: this.sort});
    this.draw();
  },

  arrange() {
    const key = this.sort.replace(/^-/, '');
    const sign = this.sort.startsWith('-') ? -1 : 1;
    const words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = this.rows.filter((row) => words.every((word) => row.words.includes(word)));
    this.shown.sort((a, b) => {
      const x = a.operation[key], y = b.operation[key];
      if (x === y) return a.index - b.index;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return sign * (x < y ? -1 : 1);
    });
  },

  draw() {
    this.arrange();
    const key = this.sort.replace(/^-/, '');
    for (const head of this.head.children) {
      if (head.dataset.key === key) head.setAttribute('aria-sort', this.sort.startsWith('-') ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    }
    const rows = this.shown.slice(0, this.limit).map((row) => this.row(row));
    const rest = this.shown.length - rows.length;
    if (rest > 0) {
      rows.push(make('tr', {}, make('td', {colspan: operationColumns.length},
        make('button', {type: 'button', onclick: () => { this.limit *= 4; this.draw(); }}, `Show ${Math.min(rest, 3 * this.limit)} more`))));
    }
    this.body.replaceChildren(...rows);
    const time = this.shown.reduce((sum, row) => sum + row.operation.self_ms, 0);
    this.count.textContent = `${this.shown.length} of ${this.rows.length}, ${timeText(time)}`;
  },

  row({operation, index}) {
    const cells = operationColumns.map((column) => {
      const cell = make('td', {class: column.number ? 'n' : column.key === 'name' ? 'name' : column.wraps ? `wraps ${column.key}` : null, title: column.key === 'name' ? operation.name : null},
        ...(column.number ? [column.text(operation)] : breakable(column.text(operation))));
      if (column.bar) {
        const bar = make('span', {class: 'bar', 'aria-hidden': 'true'});
        bar.style.width = `${(100 * operation.share / this.most).toFixed(2)}%`;
        cell.append(make('span', {class: 'track'}, bar));
      }
      return cell;
    });
    const row = make('tr', {tabindex: '-1', 'data-index': index, class: index === this.selected ? 'here' : null,
      onclick: () => this.select(index)}, ...cells);
    return row;
  },

  // Shows one operation with all that is known of it.
  select(index) {
    const row = this.rows[index];
    if (!row) return;
    this.body.querySelectorAll('tr.detail').forEach((one) => one.remove());
    this.body.querySelectorAll('tr.here').forEach((one) => one.classList.remove('here'));
    if (this.selected === index && this.open) { this.open = false; state.set({op: ''}); return; }
    if (!this.shown.includes(row)) { this.query = ''; this.search.value = ''; state.set({q: ''}); }
    this.arrange();
    if (this.shown.indexOf(row) >= this.limit) this.limit = this.shown.length;
    this.selected = index;
    this.open = true;
    if (!this.body.querySelector(`[data-index="${index}"]`)) this.draw();
    const line = this.body.querySelector(`[data-index="${index}"]`);
    line.classList.add('here');
    const o = row.operation;
    const sentences = [`Step ${o.step}, ${o.role}, ${o.phase}.`, o.covers && o.covers.length > 1 ? `Covers ${o.covers.join(', ')}.` : '',
      ...(o.evidence || []).map((text) => `For: ${text}.`), ...(o.against || []).map((text) => `Against: ${text}.`)];
    line.after(make('tr', {class: 'detail'}, make('td', {colspan: operationColumns.length}, make('div', {}, sentences.filter(Boolean).join(' ')))));
    state.set({op: String(index)});
    return line;
  },

  // Some browsers refuse it to a page from a disk: the reader is told.
  copy(button) {
    const say = (text) => { button.textContent = text; setTimeout(() => { button.textContent = 'Copy'; }, 2000); };
    if (!navigator.clipboard) say('Not allowed');
    else navigator.clipboard.writeText(this.csv()).then(() => say('Copied'), () => say('Not allowed'));
  },

  csv() {
    const keys = operationColumns.map((column) => column.key);
    return [keys.join(','), ...this.shown.map((row) => keys.map((key) => csvField(row.operation[key])).join(','))].join('\n') + '\n';
  },
};

function showOperation(index) {
  const line = operationTable.select(index);
  if (line) line.scrollIntoView({block: 'center'});
}

addEventListener('DOMContentLoaded', () => {
  const section = document.getElementById('operations');
  if (section && result.operations) operationTable.start(section, result.operations);
});
