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

function startMethod() {
  const report = document.getElementById('report');
  const settings = [['written by', `${result.tool.name} ${result.tool.version}, ${result.command}`],
    ['seed', result.seed], ['stopped by', result.stopped_by], ['took', result.elapsed_ms && timeText(result.elapsed_ms)],
    ['machine', result.machine && result.machine.model],
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
  if (rows.length) {
    section.append(make('h3', {}, 'Not available, and why'), make('div', {class: 'wide scroll wrapped', tabindex: '0', role: 'region', 'aria-label': 'Not available'},
      make('table', {}, make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'reason'), make('th', {scope: 'col'}, 'figures'))), make('tbody', {}, ...rows))));
  }
  report.before(section);
  document.querySelector('nav a[href="#report"]').parentElement.before(make('li', {}, make('a', {href: '#method'}, 'Method')));
}

if (result) startMethod();
