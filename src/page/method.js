// SPDX-License-Identifier: Apache-2.0
// How the result came about: versions, settings, the machine, and what was not
// available, each with its reason.
'use strict';

// Every "key_absent" of the document: reason to keys, each with how many
// elements of a list lack it; and how many have the key at all.
function absences(value, path, found, seen) {
  for (const [key, item] of Object.entries(value || {})) {
    const inner = Array.isArray(value) ? path : path ? `${path}.${key}` : key;
    if (key.endsWith('_absent') && typeof item === 'string') {
      const name = inner.replace(/_absent$/, '');
      if (!found.has(item)) found.set(item, new Map());
      found.get(item).set(name, (found.get(item).get(name) || 0) + 1);
    } else {
      if (!Array.isArray(value)) seen.set(inner, (seen.get(inner) || 0) + 1);
      if (item && typeof item === 'object') absences(item, inner, found, seen);
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

// How the numbers of a section are made, where the document has it and
// something is known of it.
const someHave = (list, key) => list.some((one) => one[key] !== null && one[key] !== undefined);
const made = [
  ['latency', 'Latency', ({method, ci95_ms: interval}) => `Median${interval ? ` with a 95 % interval by ${method}` : ''}; what the samples cannot support is refused, a percentile or an interval.`],
  ['ledger', 'Accounting', () => 'Wall time = operations + gaps + recording + unattributed, each measured by itself; recording is the paired difference of iterations with and without it.'],
  ['operations', 'Operations', (list) => (someHave(list, 'self_ms') ? 'Mean time of each step between time stamps, less the cost of reading the clock.' :
    result.kind === 'inspect' && 'Arithmetic and bytes from the shapes of the model, which was not run.')],
  ['roofline', 'Roofs', (roofline) => {
    const threads = roofline.threads || (result.plan && result.plan.threads);
    return `Arithmetic and bandwidth that this machine reached${threads ? ` with ${threads} thread${threads === 1 ? '' : 's'}` : ''}` +
      `${{profile: ' while the model was measured', microbench: ' before, between and after the operations'}[result.kind] || ''}.`;
  }],
  ['amdahl', 'What if', (list) => 'Predicted: 1 / (1 − share).' +
    (someHave(list, 'measured_speedup_limit') ? ' Measured: iterations with the part left out and its stored output in its place.' : '')],
  ['memory', 'Memory', (memory) => [{tracked: 'Tensors as a tracker saw them in a run.', planned: 'Tensors as planned before the run.'}[memory.timeline_basis],
    result.kind === 'inspect' && 'Values from the shapes of the model, which was not run.',
    typeof memory.resident_bytes === 'number' && 'Resident memory as the kernel counts it.'].filter(Boolean).join(' ')],
  ['training', 'Training', () => ({profile: 'A whole step as one graph; each operation is timed and belongs to its phase and to the layer that caused it.',
    inspect: 'Arithmetic and bytes of a step, from the shapes of the model; no step was run.'}[result.kind])],
  ['comparison', 'Comparison', () => `${(result.comparisons || []).length > 1 ? 'All' : 'Both'} run in every round in random order; the interval of the ratio holds however often it is looked at.`],
  ['sweep', 'Sweep', ({exponents}) => 'Sizes are visited in random order' + (exponents && exponents.length ? '; the exponent is that of offset + scale × sizeᵏ.' : '.')],
  ['history', 'History', () => 'Change points of the medians in order, each with 4 results or more on either side.'],
  ['load', 'Load', ({scenario}) => (scenario === 'single' ? 'The next query comes when one is served.' :
    'A query’s latency counts from when it was to arrive, not from when it was taken.')],
];

// Settings whose key is no word, and what is switched on or off.
const settingNames = {nan: 'NaN', fusion: 'fused steps', reference: 'reference kernels', winograd: 'Winograd', cache: 'kept choices'};
const settingText = (value) => (typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value));

function startMethod() {
  const report = document.getElementById('report');
  const settings = [['written by', `${result.tool.name} ${result.tool.version}, ${result.command}`],
    ['command', result.command_line], ['ask again', result.command_line ? null : commandAgain()], ['seed', result.seed], ['stopped by', result.stopped_by], ['took', result.elapsed_ms && timeText(result.elapsed_ms)],
    ['machine', result.host || (result.machine && result.machine.model)],
    ['threads', result.plan && result.plan.threads],
    ...Object.entries(result.request || {}).filter(([key, value]) => !key.endsWith('_absent') &&
      value !== null && typeof value !== 'object').map(([key, value]) => [settingNames[key] || key, settingText(value)])];
  const list = make('dl', {class: 'settings'});
  for (const [key, value] of settings) {
    if (value !== null && value !== undefined) list.append(make('dt', {}, key), make('dd', {}, String(value)));
  }
  const seen = new Map();
  const figureText = ([name, n]) => (n < seen.get(name) ? `${name} (${n} of ${seen.get(name)})` : name);
  const rows = [...absences(result, '', new Map(), seen)].filter(([reason]) => reason !== 'not said').map(([reason, keys]) =>
    make('tr', {}, make('td', {}, reason), make('td', {}, ...breakable([...keys].slice(0, 6).map(figureText).join(', ') + (keys.size > 6 ? ` and ${keys.size - 6} more` : '')))));
  const section = make('section', {id: 'method', class: 'view', 'aria-labelledby': 'method-title'},
    make('h2', {id: 'method-title'}, 'Method'), make('div', {class: 'report'}, list));
  const how = made.filter(([key]) => result[key] && !(Array.isArray(result[key]) && !result[key].length))
    .map(([key, title, text]) => [title, text(result[key])]).filter(([, text]) => text);
  if (how.length) {
    const numbers = make('dl', {});
    for (const [title, text] of how) numbers.append(make('dt', {}, title), make('dd', {}, text));
    section.append(make('h3', {}, 'How the numbers are made'), make('div', {class: 'report'}, numbers));
  }
  if (rows.length) {
    section.append(make('h3', {}, 'Not available, and why'), make('div', {class: 'wide wrapped stacked', tabindex: '0', role: 'region', 'aria-label': 'Not available'},
      make('table', {}, make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'reason'), make('th', {scope: 'col'}, 'figures'))), make('tbody', {}, ...rows))));
  }
  if (document.querySelector('.view:not(#report):not(#summary)')) report.before(section);
  else report.after(section);
  const entry = document.querySelector('nav a[href="#report"]').parentElement;
  entry[section.nextElementSibling === report ? 'before' : 'after'](make('li', {}, make('a', {href: '#method'}, 'Method')));
}

if (result) startMethod();
