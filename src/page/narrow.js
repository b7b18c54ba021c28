// SPDX-License-Identifier: Apache-2.0
// Figures on a phone.  Shrunk, their letters could not be read, and bars wider
// than the window hide their values: bars, stacks and intervals are laid out
// anew, name and value above the bar.  Without this script they scroll.
'use strict';

const NARROW_WIDTH = 330; // points, of which a phone has about as many
const NARROW_EDGE = 4;
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

// Threes of name, bar and value.
function narrowBars(svg, parts) {
  const bars = parts.filter((part) => part.tagName === 'rect');
  const left = numberOf(bars[0], 'x'), most = Math.max(...bars.map((bar) => numberOf(bar, 'width')), 1);
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

// An axis, perhaps a line at its reference, and rows of name, interval, point
// and value; a row may have its name alone.
function narrowIntervals(svg, parts) {
  const axes = parts[0], lines = [...axes.querySelectorAll('line')], names = parts.filter((part) => part.matches('.label'));
  const xs = [...svg.querySelectorAll('line, circle')].flatMap((e) => ['x1', 'x2', 'cx'].filter((name) => e.hasAttribute(name)).map((name) => numberOf(e, name)));
  const from = Math.min(...xs), to = Math.max(...xs);
  const edge = 16, scale = (NARROW_WIDTH - 2 * edge) / Math.max(to - from, 1);
  const across = (x) => edge + (x - from) * scale;
  const end = 8 + 38 * names.length;
  const move = (line, y) => setAll(line, {x1: across(numberOf(line, 'x1')), x2: across(numberOf(line, 'x2')), ...y});
  lines.forEach((line) => move(line, {y1: end, y2: 4}));
  axes.querySelectorAll('text').forEach((text) => (text.matches('.axis') ? setAll(text, {x: NARROW_WIDTH / 2, y: end + 38}) :
    setAll(text, {x: across(numberOf(text, 'x')), y: end + 18})));
  thinTicks([...axes.querySelectorAll('.tick')]);
  let y = 0, row = -1;
  for (const part of parts.slice(1)) {
    if (part.matches('.label')) {
      row++;
      y = 8 + 38 * row + 25;
      placeTexts(part, null, y - 13);
    } else if (part.matches('.note')) {
      part.classList.add('end');
      setAll(part, {x: NARROW_WIDTH - NARROW_EDGE, y: y - 13});
    } else if (part.matches('circle')) {
      setAll(part, {cx: across(numberOf(part, 'cx')), cy: y});
    } else {
      move(part, row < 0 ? {y1: 4, y2: end} : {y1: y, y2: y});
    }
  }
  setView(svg, NARROW_WIDTH, end + 46);
}

// How a figure is laid out anew, by what it consists of.
function narrowLayout(parts) {
  const isThrees = (...looks) => parts.length > 0 && parts.length % 3 === 0 && parts.every((part, i) => part.matches(looks[i % 3]));
  if (isThrees('text.label.end', 'rect.mark', 'text.note')) return narrowBars;
  if (isThrees('rect.mark', 'rect[width="11"]', 'text.label')) return narrowStack;
  const isRows = parts.length > 2 && parts[0].matches('g.axes') && parts.slice(1).every((part) =>
    part.matches('text.label.end, line, circle.mark, text.note'));
  return isRows && parts.some((part) => part.matches('text.label')) ? narrowIntervals : null;
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
