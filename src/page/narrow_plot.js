// SPDX-License-Identifier: Apache-2.0
// Figures with two axes on a phone: as wide as the window instead of scrolled,
// what the colours are and the vertical axis shows above, panels below each
// other.
'use strict';

const PLOT_MOST = 230; // how high a panel is
const TITLE_ROOM = 18, AXIS_ROOM = 46;
const LETTER = 6.7;    // about as wide as a letter
const MARK_ROOM = 9;   // between a mark and what it is called
const POINTS_MOST = 24;

const widthOf = (text, letter = LETTER) => letter * text.textContent.length;
const isAxes = (part) => part !== undefined && part.matches('g.axes');
const isSwatch = (part) => part.matches('rect[width="11"][height="11"]');

// What belongs to each pair of axes, the one across first; null where it is no
// figure of that kind.
function plotPanels(parts) {
  const panels = [];
  parts.forEach((part, i) => {
    if (isAxes(part) && isAxes(parts[i + 1])) panels.push([]);
    if (panels.length) panels[panels.length - 1].push(part);
  });
  const isKnown = (part) => part.matches('g.axes, g[transform], text, line, circle, rect') ||
    (part.matches('path') && /^[MLZ\d\s.-]*$/.test(part.getAttribute('d')));
  const hasFrame = ([across, up]) => across.querySelector('line') && up.querySelector('line');
  return panels.length && isAxes(parts[0]) && parts.every(isKnown) && panels.every(hasFrame) ? panels : null;
}

// From where things were to where they go.
function plotFrame([across, up], labels, top) {
  const [below, above] = ['y1', 'y2'].map((name) => numberOf(across.querySelector('line'), name));
  const [left, right] = ['x1', 'x2'].map((name) => numberOf(up.querySelector('line'), name));
  const edge = 10 + Math.max(...[...up.querySelectorAll('.tick')].map((tick) => widthOf(tick, 6.2)));
  const scaleX = (NARROW_WIDTH - 10 - edge) / (right - left), scaleY = Math.min(1, PLOT_MOST / (below - above));
  const room = Math.max(6, ...labels.map((label) => above - numberOf(label, 'y') + 12));
  const start = top + TITLE_ROOM + room;
  return {right, scaleX, scaleY, edge, start, end: start + (below - above) * scaleY,
    x: (value) => edge + (value - left) * scaleX,
    y: (value) => (value < above ? start - (above - value) : start + (value - above) * scaleY)};
}

// Colours and their names, in rows; where they end.
function plotKey(parts, top) {
  let x = NARROW_EDGE, y = top;
  parts.filter(isSwatch).forEach((swatch) => {
    const name = swatch.nextElementSibling, width = 16 + widthOf(name);
    if (x > NARROW_EDGE && x + width > NARROW_WIDTH) { x = NARROW_EDGE; y += 20; }
    setAll(swatch, {x, y: y + 4});
    setAll(name, {x: x + 16, y: y + 14});
    x += width + 14;
  });
  return x > NARROW_EDGE ? y + 26 : top;
}

function plotAxes([across, up], frame) {
  for (const line of across.querySelectorAll('line')) {
    const x = frame.x(numberOf(line, 'x1'));
    setAll(line, {x1: x, x2: x, y1: frame.end, y2: frame.start});
  }
  for (const line of up.querySelectorAll('line')) {
    const y = frame.y(numberOf(line, 'y1'));
    setAll(line, {x1: frame.edge, x2: NARROW_WIDTH - 10, y1: y, y2: y});
  }
  const ticks = [...across.querySelectorAll('.tick')];
  ticks.forEach((tick) => { // within the window
    const x = Math.min(frame.x(numberOf(tick, 'x')), NARROW_WIDTH - 2 - widthOf(tick) / 2);
    setAll(tick, {x, y: frame.end + 17});
  });
  thinTicks(ticks);
  for (const title of across.querySelectorAll('.axis')) setAll(title, {x: (frame.edge + NARROW_WIDTH - 10) / 2, y: frame.end + 36});
  let last = Infinity; // upwards
  for (const tick of up.querySelectorAll('.tick')) {
    const y = frame.y(numberOf(tick, 'y') - 4) + 4;
    setAll(tick, {x: frame.edge - 6, y});
    tick.style.visibility = last - y < 13 ? 'hidden' : '';
    if (last - y >= 13) last = y;
  }
}

// The title of the axis upwards, or a text along a line.
function plotTurned(part, frame, top) {
  const [x, y, turned] = part.getAttribute('transform').match(/-?[\d.]+/g).map(Number), text = part.querySelector('text');
  if (text.matches('.axis')) {
    text.classList.remove('middle');
    part.setAttribute('transform', `translate(${NARROW_EDGE} ${top + 12})`);
  } else {
    const angle = turned * Math.PI / 180;
    const now = Math.atan2(frame.scaleY * Math.sin(angle), frame.scaleX * Math.cos(angle)) * 180 / Math.PI;
    part.setAttribute('transform', `translate(${frame.x(x).toFixed(1)} ${frame.y(y).toFixed(1)}) rotate(${now.toFixed(1)})`);
  }
}

function plotMark(part, frame) {
  const xs = ['x1', 'x2', 'cx', 'x'].filter((name) => part.hasAttribute(name));
  const ys = ['y1', 'y2', 'cy', 'y'].filter((name) => part.hasAttribute(name));
  const end = (name, size) => numberOf(part, name) + numberOf(part, size);
  const values = Object.fromEntries([...xs.map((name) => [name, frame.x(numberOf(part, name))]), ...ys.map((name) => [name, frame.y(numberOf(part, name))])]);
  if (part.matches('rect')) {
    values.width = frame.x(end('x', 'width')) - values.x;
    values.height = frame.y(end('y', 'height')) - values.y;
  }
  setAll(part, values);
  if (part.matches('path')) {
    let n = 0;
    part.setAttribute('d', part.getAttribute('d').replace(/-?[\d.]+/g, (value) => frame[n++ % 2 ? 'y' : 'x'](Number(value)).toFixed(1)));
  }
}

// Beside its mark, within the window, and off what is there: as near as it can.
function plotLabel(label, frame, taken) {
  const width = widthOf(label), share = label.matches('.end') ? 1 : label.matches('.middle') ? 0.5 : 0;
  const at = numberOf(label, 'x'), isBeyond = at > frame.right, off = share ? 0 : MARK_ROOM;
  const x = Math.max(2, Math.min(isBeyond ? Infinity : frame.x(at - off) + off - share * width, NARROW_WIDTH - 10 - width));
  const wanted = frame.y(numberOf(label, 'y') - 4) + (isBeyond ? -6 : 4);
  const isFree = (y) => taken.every((other) => Math.abs(other.y - y) >= 13 || other.x + other.width < x || x + width < other.x);
  const places = Array.from({length: 24}, (_, i) => wanted + 7 * Math.ceil(i / 2) * (i % 2 ? 1 : -1));
  const isWithin = (y) => y === wanted || (y < frame.end - 3 && y > frame.start - TITLE_ROOM);
  const free = places.find((y) => isWithin(y) && isFree(y)), y = free === undefined ? wanted : free;
  taken.push({x, y, width});
  setAll(label, {x: x + share * width, y});
}

// Where texts should not lie: the title above, and points where they are few.
function plotTaken(marks, begin) {
  const points = marks.filter((mark) => mark.matches('circle'));
  return [{x: 0, y: begin + 12, width: NARROW_WIDTH / 2},
    ...(points.length > POINTS_MOST ? [] : points).map((point) => ({x: numberOf(point, 'cx') - 5, y: numberOf(point, 'cy') + 4, width: 10}))];
}

function narrowPlot(svg, parts) {
  let top = 0;
  for (const panel of plotPanels(parts)) {
    const key = panel.filter((part) => isSwatch(part) || (part.previousElementSibling && isSwatch(part.previousElementSibling)));
    const labels = panel.filter((part) => part.matches('text') && !key.includes(part));
    const begin = plotKey(panel, top), frame = plotFrame(panel, labels, begin);
    plotAxes(panel, frame);
    const marks = panel.filter((part) => part.matches('line, circle, rect, path') && !key.includes(part));
    panel.flatMap((part) => (part.matches('g[transform]') ? [part] : [...part.querySelectorAll('g[transform]')]))
      .forEach((part) => plotTurned(part, frame, begin));
    marks.forEach((part) => plotMark(part, frame));
    const taken = plotTaken(marks, begin);
    labels.forEach((label) => plotLabel(label, frame, taken));
    top = frame.end + AXIS_ROOM;
  }
  setView(svg, NARROW_WIDTH, top - 4);
}
