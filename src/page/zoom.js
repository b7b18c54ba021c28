// SPDX-License-Identifier: Apache-2.0
// Figures that are wide in time, zoomed: the icicle and the timeline.  Marks
// and names within a group "across" are moved and widened; what they are
// called stays readable.  Without this script the figures are there, whole.
'use strict';

const NAME_WIDTH = 6.8; // of a character of 11 points, in wide faces
const NAME_ROOM = 24; // below it no name is tried

// The number of a mark's colour in the sheet.
const colourOf = (mark) => (/\bs(\d)\b/.exec(mark.getAttribute('class')) || [])[1];

class Zoom {
  constructor(figure, group) {
    this.svg = figure.querySelector('svg');
    this.from = 0; // what is seen, as shares of the whole
    this.to = 1;
    this.marks = [...group.querySelectorAll('rect')].map((element) => ({element,
      x: Number(element.getAttribute('x')), width: Number(element.getAttribute('width')),
      name: element.nextElementSibling && element.nextElementSibling.tagName === 'text' ? element.nextElementSibling : null}));
    this.left = Math.min(...this.marks.map((mark) => mark.x));
    this.width = Math.max(...this.marks.map((mark) => mark.x + mark.width)) - this.left;
    this.ticks = [...this.svg.querySelectorAll('.axes .tick')];
    this.grid = [...this.svg.querySelectorAll('.axes .grid')];
    this.at = this.ticks.map((tick) => Number(tick.getAttribute('x')));
    const button = (label, text, action) => make('button', {type: 'button', 'aria-label': label, onclick: action}, text);
    this.key = figure.id.replace(/^figure-/, ''); // in the address
    this.note = make('span', {class: 'count', 'aria-live': 'polite'}, make('span', {class: 'hint'}, 'Drag to move, or zoom with Ctrl and the wheel.'));
    figure.querySelector('.plot').before(make('div', {class: 'tools'}, this.note,
      button('Earlier', '←', () => this.move(-0.5)), button('Later', '→', () => this.move(0.5)),
      button('Zoom in', '+', () => this.scale(2)), button('Zoom out', '−', () => this.scale(0.5)),
      button('Show all', 'All', () => this.show(0, 1))));
    this.listen(figure.querySelector('.plot'));
    this.title = this.svg.querySelector('.axes .axis');
    this.wide = this.svg.viewBox.baseVal.width;
    this.shown = this.width; // what it is drawn on
    figure.querySelector('.plot').after(this.legend() || '');
    narrowWindow.addEventListener('change', () => this.fit(figure.querySelector('.plot')));
    if (narrowWindow.matches) this.fit(figure.querySelector('.plot'));
    const [from, to] = state.get(this.key).split('-').map(Number);
    if (from < to) this.show(from, to);
  }

  // All of it on a phone, with letters as large as they were.
  fit(plot) {
    const width = narrowWindow.matches ? NARROW_WIDTH : this.wide;
    this.shown = this.width - this.wide + width;
    setView(this.svg, width, this.svg.viewBox.baseVal.height);
    if (this.title) setAll(this.title, {x: this.left + this.shown / 2});
    plot.classList.toggle('narrow', narrowWindow.matches);
    this.draw();
  }

  // The colours of what these marks are for, as the accounting has them.
  legend() {
    const here = new Set(this.marks.filter(({element}) => element.dataset.op !== undefined).map(({element}) => colourOf(element)));
    const names = [...document.querySelectorAll('#figure-accounting text.label')].map((label) =>
      [colourOf(label.previousElementSibling), label.textContent.replace(/ \S+ %$/, '')]).filter(([colour]) => colour && here.has(colour));
    return names.length ? make('p', {class: 'key'}, ...names.map(([colour, name]) => {
      const swatch = make('span', {class: 'swatch', 'aria-hidden': 'true'});
      swatch.style.background = `var(--c${colour})`;
      return make('span', {}, swatch, name);
    })) : null;
  }

  // The name of a mark that had no room for it: the last part of what its tip
  // begins with.
  label(element) {
    const name = tipText(element).split(/ \(|: /)[0].split('/').pop();
    const text = document.createElementNS(element.namespaceURI, 'text');
    text.setAttribute('class', element.dataset.op === undefined ? 'count' : /s[068]$/.test(element.getAttribute('class')) ? 'on-deep' : 'on');
    text.setAttribute('y', Number(element.getAttribute('y')) + Number(element.getAttribute('height')) / 2 + 4);
    text.textContent = name;
    element.after(text);
    return text;
  }

  // The point that stays where it is: a share of what is seen.
  scale(factor, about = 0.5) {
    const span = Math.min(1, (this.to - this.from) / factor);
    const fixed = this.from + about * (this.to - this.from);
    this.show(fixed - about * span, fixed + (1 - about) * span);
  }

  // By a share of what is seen.
  move(share) {
    const step = share * (this.to - this.from);
    this.show(this.from + step, this.to + step);
  }

  show(from, to) {
    const span = Math.max(1e-4, Math.min(1, to - from));
    this.from = Math.max(0, Math.min(1 - span, from));
    this.to = this.from + span;
    this.draw();
    state.set({[this.key]: span < 1 ? `${this.from.toFixed(5)}-${this.to.toFixed(5)}` : ''});
    this.note.textContent = span < 1 ? `${percentText(this.from)} to ${percentText(this.to)} of the width` : '';
  }

  draw() {
    const span = this.to - this.from;
    const at = (x) => this.left + ((x - this.left) / this.width - this.from) / span * this.shown;
    const right = this.left + this.shown;
    for (const mark of this.marks) {
      const x = Math.max(this.left, at(mark.x)), end = Math.min(right, at(mark.x + mark.width));
      mark.element.setAttribute('x', x.toFixed(2));
      mark.element.setAttribute('width', Math.max(0, end - x).toFixed(2));
      if (!mark.name && end - x > NAME_ROOM) mark.name = this.label(mark.element);
      if (mark.name) {
        const room = mark.name.textContent.length * NAME_WIDTH + 8 <= end - x;
        mark.name.setAttribute('x', (x + 5).toFixed(2));
        mark.name.style.display = room ? '' : 'none';
      }
    }
    this.at.forEach((x, i) => {
      const to_x = at(x), inside = to_x >= this.left - 1 && to_x <= right + 1;
      for (const part of [this.ticks[i], this.grid[i]]) part.style.display = inside ? '' : 'none';
      this.ticks[i].setAttribute('x', to_x.toFixed(2));
      this.grid[i].setAttribute('x1', to_x.toFixed(2));
      this.grid[i].setAttribute('x2', to_x.toFixed(2));
    });
    thinTicks(this.ticks);
  }

  listen(plot) {
    let from = null;
    const share = (event) => {
      const box = this.svg.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * this.svg.viewBox.baseVal.width;
      return Math.max(0, Math.min(1, (x - this.left) / this.shown));
    };
    plot.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return; // the page scrolls
      event.preventDefault();
      this.scale(event.deltaY < 0 ? 1.25 : 0.8, share(event));
    }, {passive: false});
    plot.addEventListener('pointerdown', (event) => {
      if (event.pointerType === 'mouse' && event.button === 0) from = {x: share(event), seen: this.from};
    });
    addEventListener('pointermove', (event) => {
      if (!from) return;
      const span = this.to - this.from;
      this.show(from.seen - (share(event) - from.x) * span, from.seen - (share(event) - from.x) * span + span);
    });
    addEventListener('pointerup', () => { from = null; });
    plot.addEventListener('keydown', (event) => {
      if (event.key === '+') this.scale(2);
      if (event.key === '-') this.scale(0.5);
      if (event.key === '0') this.show(0, 1);
    });
  }
}

addEventListener('DOMContentLoaded', () => {
  document.querySelectorAll('svg .across').forEach((group) => new Zoom(group.closest('figure'), group));
});
