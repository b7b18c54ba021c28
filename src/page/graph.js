// SPDX-License-Identifier: Apache-2.0
// The drawn model: coloured by time, arithmetic or memory, zoomed, dragged and
// searched.  Without this script it is there, coloured by time, and scrolls.
'use strict';

const heats = {time: {title: 'time', of: (o) => o.self_ms, amount: timeText, text: (o) => `${timeText(o.self_ms)}, ${percentText(o.share)}`},
  flops: {title: 'arithmetic', of: (o) => o.executed_flops, amount: (n) => withPrefix(n, 'FLOP'), text: (o) => withPrefix(o.executed_flops, 'FLOP')},
  memory: {title: 'live memory', of: (o) => o.memory_bytes, amount: bytesText, text: (o) => bytesText(o.memory_bytes)}};

const READABLE = 0.9; // of the size that names are drawn in

const graphView = {
  start(plot) {
    this.plot = plot;
    this.svg = plot.querySelector('svg');
    this.boxes = [...plot.querySelectorAll('.box')];
    this.zoomed = 1;
    this.least = parseFloat(getComputedStyle(this.svg).minWidth) || 0; // in points, of the sheet
    // A wide model begins as large as its names can be read.
    this.first = Math.min(12, Math.max(1, READABLE * this.svg.viewBox.baseVal.width / (this.svg.clientWidth || Infinity)));
    const choice = make('select', {'aria-label': 'Colour by', onchange: () => { state.set({heat: choice.value}); this.colour(choice.value); }},
      ...Object.entries(heats).map(([key, heat]) => make('option', {value: key}, heat.title)));
    const search = make('input', {type: 'search', placeholder: 'Find an operation', 'aria-label': 'Find an operation in the graph',
      oninput: () => { state.set({find: search.value}); this.find(search.value); }});
    this.count = make('span', {class: 'count', 'aria-live': 'polite'});
    plot.before(make('div', {class: 'tools'}, make('label', {}, 'Colour by ', choice), search, this.count, make('span', {class: 'group'},
      make('button', {type: 'button', 'aria-label': 'Zoom in', onclick: () => this.zoom(1.5)}, '+'),
      make('button', {type: 'button', 'aria-label': 'Zoom out', onclick: () => this.zoom(1 / 1.5)}, '−'),
      make('button', {type: 'button', onclick: () => this.zoom(1 / this.zoomed)}, 'Fit'))));
    this.key = make('p', {class: 'key', role: 'group', 'aria-label': 'What the colours are'});
    plot.before(this.key);
    choice.value = heats[state.get('heat')] ? state.get('heat') : 'time';
    this.colour(choice.value);
    this.drag();
    this.zoom(Number(state.get('zoom')) || this.first);
    plot.scrollTop = 0;
    if (this.boxes.length) this.centre(this.boxes[0], true); // where the model begins
    search.value = state.get('find');
    if (search.value) this.find(search.value);
  },

  // The strongest is the most; what is not known stays pale.  A square root,
  // as a single operation often takes most of the time.
  colour(key) {
    const heat = heats[key];
    const values = this.boxes.map((box) => heat.of(result.operations[Number(box.dataset.op)]) || 0);
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    const strength = (value) => (0.02 + (most > 0 ? 0.53 * Math.sqrt(value / most) : 0)).toFixed(4);
    this.boxes.forEach((box, i) => {
      const operation = result.operations[Number(box.dataset.op)];
      box.setAttribute('fill-opacity', strength(values[i]));
      box.dataset.tip = `${operation.name} (${operation.type}): ${heat.text(operation)}, bound by ${operation.bound || 'unknown'}`;
    });
    this.key.replaceChildren(...(most > 0 ? [0, 1 / 16, 1 / 4, 9 / 16, 1] : []).map((share) => {
      const swatch = make('span', {class: 'swatch', 'aria-hidden': 'true'}, make('span', {}));
      swatch.firstChild.style.opacity = strength(share * most);
      return make('span', {}, swatch, heat.amount(share * most));
    }));
  },

  find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let first = null, n = 0;
    for (const box of this.boxes) {
      const o = result.operations[Number(box.dataset.op)];
      const name = `${o.name} ${o.type} ${o.bound}`.toLowerCase();
      const found = words.length > 0 && words.every((word) => name.includes(word));
      box.classList.toggle('here', found);
      n += found;
      if (found && !first) first = box;
    }
    this.count.textContent = words.length ? `${n} of ${this.boxes.length}` : '';
    if (first) this.centre(first);
  },

  centre(box, isAcross) {
    const at = box.getBoundingClientRect(), around = this.plot.getBoundingClientRect();
    if (!isAcross) this.plot.scrollTop += at.top - around.top - around.height / 2;
    this.plot.scrollLeft += at.left + at.width / 2 - around.left - around.width / 2;
  },

  // The middle of what is seen stays where it is.
  zoom(factor) {
    const zoomed = Math.max(0.1, Math.min(12, this.zoomed * factor));
    const x = (this.plot.scrollLeft + this.plot.clientWidth / 2) * zoomed / this.zoomed;
    const y = (this.plot.scrollTop + this.plot.clientHeight / 2) * zoomed / this.zoomed;
    this.zoomed = zoomed;
    state.set({zoom: zoomed === this.first ? '' : String(Number(zoomed.toFixed(3)))});
    this.svg.style.width = `${100 * zoomed}%`;
    this.svg.style.minWidth = `${this.least * zoomed}px`;
    this.plot.scrollLeft = x - this.plot.clientWidth / 2;
    this.plot.scrollTop = y - this.plot.clientHeight / 2;
  },

  drag() {
    let from = null;
    this.plot.addEventListener('pointerdown', (event) => {
      if (event.pointerType === 'mouse' && event.button === 0 && !event.target.closest('.box')) {
        from = {x: event.clientX + this.plot.scrollLeft, y: event.clientY + this.plot.scrollTop};
        event.preventDefault();
      }
    });
    addEventListener('pointermove', (event) => {
      if (from) { this.plot.scrollLeft = from.x - event.clientX; this.plot.scrollTop = from.y - event.clientY; }
    });
    addEventListener('pointerup', () => { from = null; });
  },
};

addEventListener('DOMContentLoaded', () => {
  const plot = document.querySelector('#figure-graph .plot');
  if (plot && result.operations) graphView.start(plot);
});
