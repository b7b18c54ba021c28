// SPDX-License-Identifier: Apache-2.0
// Figures on a phone.  Shrunk, their letters could not be read, and what is wider
// than the window is hidden: bars, stacks, intervals and cells are laid out
// anew, name and value above the bar; narrow_plot.js does so with two axes.
// Without these scripts they scroll.
'use strict';

const NARROW_WIDTH = 330; // points, of which a phone has about as many
const NARROW_EDGE = 4;
const BAR_ROOM = 544; // of a bar that is the whole, in sl__figure_bars_of()
const narrowWindow = matchMedia('(max-width: 30rem)');

const numberOf = (element, name) => Number(element.getAttribute(name));
function setAll(element, values) {
  for (const [name, value] of Object.entries(values)) {
    element.setAttribute(name, typeof value === 'number' ? String(Number(value.toFixed(2))) : value);
  }
}

function setView(svg, width, height) {
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
}

// Every tick, every second, ... so that what they say has room; those that do
// not count are not displayed.
function thinTicks(ticks) {
  const seen = ticks.filter((tick) => tick.style.display !== 'none');
  const half = (tick) => 3.1 * tick.textContent.length + 2;
  const hasRoom = (step) => seen.every((tick, i) => i % step || i < step ||
    numberOf(tick, 'x') - half(tick) >= numberOf(seen[i - step], 'x') + half(seen[i - step]));
  let step = 1;
  while (step < seen.length && !hasRoom(step)) step++;
  seen.forEach((tick, i) => { tick.style.visibility = i % step ? 'hidden' : ''; });
}

// The name on the left of a line of its own, the value on its right.
function placeTexts(name, value, y) {
  name.classList.remove('end');
  setAll(name, {x: NARROW_EDGE, y});
  if (!value) return;
  value.classList.add('end');
  setAll(value, {x: NARROW_WIDTH - NARROW_EDGE, y});
}

// Threes of name, bar and value.  Bars of shares are drawn over the whole.
function narrowBars(svg, parts) {
  const bars = parts.filter((part) => part.tagName === 'rect');
  const left = numberOf(bars[0], 'x'), most = Math.max(...bars.map((bar) => numberOf(bar, 'width')), BAR_ROOM);
  bars.forEach((bar, i) => {
    const y = 4 + 38 * i;
    placeTexts(bar.previousElementSibling, bar.nextElementSibling, y + 12);
    setAll(bar, {x: NARROW_EDGE + (numberOf(bar, 'x') - left), y: y + 18, height: 11,
      width: numberOf(bar, 'width') / most * (NARROW_WIDTH - 2 * NARROW_EDGE)});
  });
  setView(svg, NARROW_WIDTH, 38 * bars.length + 4);
}

// Threes of a part of the bar, the colour in its legend, and that name.
function narrowStack(svg, parts) {
  const left = numberOf(parts[0], 'x');
  const labels = parts.filter((part) => part.tagName === 'text');
  const whole = parts.reduce((sum, part, i) => sum + (i % 3 ? 0 : numberOf(part, 'width')), 0);
  const scale = (NARROW_WIDTH - 2 * NARROW_EDGE) / whole;
  const nColumns = labels.some((label) => label.textContent.length > 21) ? 1 : 2;
  labels.forEach((label, i) => {
    const swatch = label.previousElementSibling, part = swatch.previousElementSibling;
    const x = NARROW_EDGE + NARROW_WIDTH / nColumns * (i % nColumns), y = 66 + 20 * Math.floor(i / nColumns);
    setAll(part, {x: NARROW_EDGE + (numberOf(part, 'x') - left) * scale, width: numberOf(part, 'width') * scale});
    setAll(swatch, {x, y: y - 10});
    setAll(label, {x: x + 16, y});
  });
  setView(svg, NARROW_WIDTH, 76 + 20 * Math.floor((labels.length - 1) / nColumns));
}

// Pairs of a colour and its name, in two columns; where they end.
function placeLegend(parts) {
  parts.forEach((part, i) => {
    const x = NARROW_EDGE + NARROW_WIDTH / 2 * (i >> 1 & 1), y = 16 + 20 * (i >> 2);
    if (i % 2) setAll(part, {x: x + 16, y});
    else setAll(part, {x, y: y - 10});
  });
  return 20 * Math.ceil(parts.length / 4) + (parts.length ? 4 : 0);
}

// Perhaps a legend, an axis, and a line at its reference; then rows of name,
// marks and value, of which a row may have its name alone.
function narrowRows(svg, parts) {
  const first = parts.findIndex((part) => part.matches('g.axes, .label.end'));
  const top = placeLegend(parts.slice(0, first)), rest = parts.slice(first);
  const axes = rest[0].matches('g.axes') ? rest.shift() : null;
  const names = rest.filter((part) => part.matches('.label')), ticks = axes ? [...axes.querySelectorAll('.tick')] : [];
  const lines = axes ? [...axes.querySelectorAll('line')] : [];
  const xs = [...lines, ...rest].flatMap((e) => (e.tagName === 'rect' ? [numberOf(e, 'x'), numberOf(e, 'x') + numberOf(e, 'width')] :
    ['x1', 'x2', 'cx'].filter((name) => e.hasAttribute(name)).map((name) => numberOf(e, name))));
  const from = Math.min(...xs), to = Math.max(...xs);
  const edge = axes ? Math.max(16, ...[ticks[0], ticks[ticks.length - 1]].map((tick) => (tick ? 3.4 * tick.textContent.length : 0))) : NARROW_EDGE;
  const scale = (NARROW_WIDTH - 2 * edge) / Math.max(to - from, 1);
  const across = (x) => edge + (x - from) * scale;
  const end = top + 8 + 38 * names.length;
  const move = (line, y) => setAll(line, {x1: across(numberOf(line, 'x1')), x2: across(numberOf(line, 'x2')), ...y});
  lines.forEach((line) => move(line, {y1: end, y2: top + 4}));
  if (axes) axes.querySelectorAll('text').forEach((text) => (text.matches('.axis') ? setAll(text, {x: NARROW_WIDTH / 2, y: end + 38}) :
    setAll(text, {x: across(numberOf(text, 'x')), y: end + 18})));
  thinTicks(ticks);
  let y = 0, row = -1;
  for (const part of rest) {
    if (part.matches('.label')) {
      row++;
      y = top + 8 + 38 * row + 25;
      placeTexts(part, null, y - 13);
    } else if (part.matches('.note')) {
      part.classList.add('end');
      setAll(part, {x: NARROW_WIDTH - NARROW_EDGE, y: y - 13});
    } else if (part.matches('circle')) {
      setAll(part, {cx: across(numberOf(part, 'cx')), cy: y});
    } else if (part.matches('rect')) {
      setAll(part, {x: across(numberOf(part, 'x')), width: numberOf(part, 'width') * scale, y: y - 6, height: 11});
    } else {
      move(part, row < 0 ? {y1: top + 4, y2: end} : {y1: y, y2: y});
    }
  }
  setView(svg, NARROW_WIDTH, end + (axes ? 46 : 0));
}

// Cells, which leave room on their right.
function narrowCells(svg, parts) {
  const right = Math.max(...parts.filter((part) => part.matches('.cell')).map((cell) => numberOf(cell, 'x') + numberOf(cell, 'width')));
  const left = Math.min(...parts.filter((part) => part.matches('.tick.end')).map((tick) => numberOf(tick, 'x'))) - 50;
  const {height} = svg.viewBox.baseVal;
  svg.setAttribute('viewBox', `${left} -6 ${Math.max(right - left + 8, NARROW_WIDTH)} ${height + 6}`);
}

// How a figure is laid out anew, by what it consists of.
function narrowLayout(parts) {
  const isThrees = (...looks) => parts.length > 0 && parts.length % 3 === 0 && parts.every((part, i) => part.matches(looks[i % 3]));
  if (isThrees('text.label.end', 'rect.mark', 'text.note')) return narrowBars;
  if (isThrees('rect.mark', 'rect[width="11"]', 'text.label')) return narrowStack;
  if (parts.filter((part) => part.matches('rect.cell')).length > parts.length / 3 && parts[0].matches('text.axis')) return narrowCells;
  if (plotPanels(parts)) return narrowPlot;
  const first = parts.findIndex((part) => part.matches('g.axes, .label.end'));
  const isRows = first >= 0 && parts.slice(0, first).every((part, i) => part.matches(i % 2 ? 'text.label' : 'rect[width="11"]')) &&
    parts.slice(first).every((part, i) => part.matches(`${i ? '' : 'g.axes, '}text.label.end, line, circle.mark, rect.mark, text.note`));
  return isRows && parts.some((part) => part.matches('.label.end')) ? narrowRows : null;
}

class NarrowFigure {
  constructor(plot, layout) {
    Object.assign(this, {plot, layout, wide: plot.querySelector('svg')});
    this.fit();
    narrowWindow.addEventListener('change', () => this.fit());
  }

  fit() {
    const isNarrow = narrowWindow.matches;
    if (isNarrow === this.plot.classList.contains('narrow')) return;
    const svg = isNarrow ? this.wide.cloneNode(true) : this.wide;
    if (isNarrow) this.layout(svg, [...svg.children].slice(1)); // after its title
    this.plot.querySelector('svg').replaceWith(svg);
    this.plot.classList.toggle('narrow', isNarrow);
  }
}

addEventListener('DOMContentLoaded', () => document.querySelectorAll('.plot').forEach((plot) => {
  const layout = narrowLayout([...plot.querySelector('svg').children].slice(1));
  if (layout) new NarrowFigure(plot, layout);
}));
