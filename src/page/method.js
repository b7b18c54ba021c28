// SPDX-License-Identifier: Apache-2.0
// How the result came about: versions, settings, the machine, and what was not
// available, each with its reason.
'use strict';

// Every "key_absent" of the document: reason to keys.
function absences(value, path, found) {
  for (const [key, item] of Object.entries(value || {})) {
    const inner = Array.isArray(value) ? path : path ? `${path}.${key}` : key;
    if (key.endsWith('_absent') && typeof item === 'string') {
      if (!found.has(item)) found.set(item, new Set());
      found.get(item).add(inner.replace(/_absent$/, ''));
    } else if (item && typeof item === 'object') {
      absences(item, inner, found);
    }
  }
  return found;
}

// A command that asks for the same again, from what the document says was
// asked; null where it does not.
function commandAgain() {
  const request = result.request;
  if (!request || !request.model) return null;
  const words = ['sleuth', result.command, request.model];
  if (result.kind === 'profile' && result.training) words.push('--train');
  for (const key of ['layer', 'batch', 'seq', 'past', 'inputs', 'threads']) {
    if (request[key] !== null && request[key] !== undefined) words.push(`--${key}`, request[key]);
  }
  if (request.dtype && request.dtype !== 'f32') words.push('--dtype', request.dtype);
  if (result.seed !== undefined) words.push('--seed', result.seed);
  return words.map((word) => (/^[\w./:,=@+-]+$/.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`)).join(' ');
}

// How the numbers of a section are made, where the document has it.
const made = [
  ['latency', 'Latency', 'Median with a 95 % interval from order statistics; a percentile is refused where the samples cannot support it.'],
  ['ledger', 'Accounting', 'Wall time = operations + gaps + recording + unattributed, each measured by itself; recording is the paired difference of iterations with and without it.'],
  ['operations', 'Operations', 'Mean time of each step between time stamps, less the cost of reading the clock.'],
  ['roofline', 'Roofs', 'Arithmetic and bandwidth that this machine reached beside the model, on as many threads.'],
  ['amdahl', 'What if', 'Predicted: 1 / (1 − share). Measured: iterations with the part left out and its stored output in its place.'],
  ['memory', 'Memory', 'Tensors as a tracker saw them in a run, or as planned; resident memory as the kernel counts it.'],
  ['training', 'Training', 'A whole step as one graph; each operation is timed and belongs to its phase and to the layer that caused it.'],
  ['comparison', 'Comparison', 'Both run in every round in random order; the interval of the ratio holds however often it is looked at.'],
  ['sweep', 'Sweep', 'Sizes are visited in random order; the exponent is that of offset + scale × sizeᵏ.'],
  ['history', 'History', 'Change points of the medians in order, each with 4 results or more on either side.'],
  ['load', 'Load', 'A query’s latency counts from when it was to arrive, not from when it was taken.'],
];

function startMethod() {
  const report = document.getElementById('report');
  const settings = [['written by', `${result.tool.name} ${result.tool.version}, ${result.command}`],
    ['ask again', commandAgain()], ['seed', result.seed], ['stopped by', result.stopped_by], ['took', result.elapsed_ms && timeText(result.elapsed_ms)],
    ['machine', result.machine && result.machine.model],
    ['threads', result.plan && result.plan.threads],
    ...Object.entries(result.request || {}).filter(([key, value]) => !key.endsWith('_absent') &&
      value !== null && typeof value !== 'object').map(([key, value]) => [key, String(value)])];
  const list = make('dl', {});
  for (const [key, value] of settings) {
    if (value !== null && value !== undefined) list.append(make('dt', {}, key), make('dd', {}, String(value)));
  }
  const rows = [...absences(result, '', new Map())].filter(([reason]) => reason !== 'not said').map(([reason, keys]) =>
    make('tr', {}, make('td', {}, reason), make('td', {}, [...keys].slice(0, 6).join(', ') + (keys.size > 6 ? ` and ${keys.size - 6} more` : ''))));
  const section = make('section', {id: 'method', class: 'view', 'aria-labelledby': 'method-title'},
    make('h2', {id: 'method-title'}, 'Method'), make('div', {class: 'report'}, list));
  const how = made.filter(([key]) => result[key] && !(Array.isArray(result[key]) && !result[key].length));
  if (how.length) {
    const numbers = make('dl', {});
    for (const [, title, text] of how) numbers.append(make('dt', {}, title), make('dd', {}, text));
    section.append(make('h3', {}, 'How the numbers are made'), make('div', {class: 'report'}, numbers));
  }
  if (rows.length) {
    section.append(make('h3', {}, 'Not available, and why'), make('div', {class: 'wide scroll wrapped', tabindex: '0', role: 'region', 'aria-label': 'Not available'},
      make('table', {}, make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'reason'), make('th', {scope: 'col'}, 'figures'))), make('tbody', {}, ...rows))));
  }
  report.before(section);
  document.querySelector('nav a[href="#report"]').parentElement.before(make('li', {}, make('a', {href: '#method'}, 'Method')));
}

if (result) startMethod();
