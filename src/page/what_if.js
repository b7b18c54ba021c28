// SPDX-License-Identifier: Apache-2.0
// What if one part were faster: Amdahl's law over a slider, beside the limit
// that was measured with the part replaced by its stored output.
'use strict';

function startWhatIf(section, rows) {
  const choice = make('select', {id: 'what-if-part'}, ...rows.map((row, index) =>
    make('option', {value: index}, `${row.operation} (${percentText(row.share)})`)));
  const factor = make('input', {type: 'range', id: 'what-if-factor', min: 0, max: 100, step: 1});
  const factorText = make('span', {});
  const speedup = make('output', {for: 'what-if-part what-if-factor'});
  const detail = make('p', {class: 'note'});
  // The slider is 1 to 100 times on a logarithmic scale, as many as the text
  // says; its end is "removed".
  const times = () => (Number(factor.value) >= 100 ? Infinity : Number(digits(10 ** (Number(factor.value) / 50), 3)));
  const draw = () => {
    const row = rows[Number(choice.value)];
    const k = times();
    const ratio = 1 / (1 - row.share + row.share / k);
    const now = result.latency.median_ms;
    factorText.textContent = k === Infinity ? 'removed' : `${digits(k, 3)} × as fast`;
    speedup.textContent = isFinite(ratio) ? `${digits(ratio, 3)} ×` : 'no limit';
    const measured = row.measured_speedup_limit;
    detail.textContent = `The model would take ${timeText(now / ratio)} instead of ${timeText(now)}. ` +
      (measured ? `Measured with it removed: ${digits(measured, 3)} ×.` :
        `Its limit was not measured: ${row.measured_speedup_limit_absent}.`);
    state.set({part: choice.value === '0' ? '' : choice.value, times: factor.value === '15' ? '' : factor.value});
  };
  choice.value = state.get('part') || '0';
  factor.value = state.get('times') || '15';
  choice.addEventListener('change', draw);
  factor.addEventListener('input', draw);
  section.querySelector('h2').after(
    make('p', {}, 'If only this part were faster, by Amdahl’s law.'),
    make('div', {class: 'whatif'},
      make('label', {for: 'what-if-part'}, 'Part'), choice,
      make('label', {for: 'what-if-factor'}, 'Made ', factorText), factor,
      make('span', {}, 'Speed-up of the model'), speedup), detail);
  const isMeasured = rows.some((row) => row.measured_speedup_limit);
  const limit = (value) => (value ? `${digits(value, 3)} ×` : '–');
  section.append(make('h3', {}, 'Limits: the part removed'),
    make('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Limits'}, make('table', {},
      make('thead', {}, make('tr', {}, ...['part', 'share', 'predicted', ...(isMeasured ? ['measured'] : [])].map((title, i) =>
        make('th', {scope: 'col', class: i ? 'n' : null}, title)))),
      make('tbody', {}, ...rows.map((row) => make('tr', {}, make('td', {class: 'name', title: row.operation}, ...breakable(row.operation)),
        make('td', {class: 'n'}, percentText(row.share)), make('td', {class: 'n'}, limit(row.predicted_speedup_limit)),
        isMeasured ? make('td', {class: 'n', title: row.measured_speedup_limit_absent}, limit(row.measured_speedup_limit)) : null))))));
  draw();
}

addEventListener('DOMContentLoaded', () => {
  const section = document.getElementById('what-if');
  if (section && result.amdahl && result.amdahl.length) startWhatIf(section, result.amdahl);
});
