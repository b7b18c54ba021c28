// SPDX-License-Identifier: Apache-2.0
// Pointing at a mark of a figure shows what it says; with the keyboard, the
// arrow keys go from mark to mark.  A mark of an operation leads to its row.
'use strict';

const tip = make('div', {class: 'tip', role: 'status', hidden: ''});

function tipText(mark) {
  if (mark.dataset.tip === undefined) {
    const title = mark.querySelector('title');
    mark.dataset.tip = title ? title.textContent : '';
    if (title) title.remove(); // the browser would show it too, later
  }
  return mark.dataset.place === undefined ? mark.dataset.tip : memoryTip(mark, mark.dataset.tip);
}

function placeTip(x, y) {
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 16)}px`;
}

function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = !text;
  if (text) placeTip(x, y);
}

// What the pointer is on, or null.
function pointAt(event) {
  const mark = event.target.closest && event.target.closest('svg .mark, svg line, svg path');
  const found = mark && mark.closest('.plot') ? mark : null;
  if (found) showTip(tipText(found), event.clientX, event.clientY);
  else tip.hidden = true;
  return found;
}

function startTips() {
  let touched = null; // a finger does not hover: it taps once for the tip, again for the row
  document.body.append(tip);
  document.addEventListener('pointermove', pointAt);
  document.addEventListener('click', (event) => {
    const before = touched;
    touched = event.pointerType === 'touch' ? pointAt(event) : null;
    const mark = event.target.closest && event.target.closest('[data-op]');
    if (mark && mark.closest('.plot') && touched === (touched && before)) showOperation(Number(mark.dataset.op));
  });
  document.querySelectorAll('.plot').forEach((plot) => {
    let at = -1;
    plot.addEventListener('keydown', (event) => {
      const marks = [...plot.querySelectorAll('.mark')];
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (event.key === 'Enter' && marks[at] && marks[at].dataset.op !== undefined) {
        showOperation(Number(marks[at].dataset.op));
      }
      if (!step || !marks.length) return;
      event.preventDefault();
      if (marks[at]) marks[at].classList.remove('here');
      at = (at + step + marks.length) % marks.length;
      marks[at].classList.add('here');
      const box = marks[at].getBoundingClientRect();
      showTip(tipText(marks[at]), box.right, box.top);
    });
    plot.addEventListener('blur', () => {
      plot.querySelectorAll('.here').forEach((mark) => mark.classList.remove('here'));
      tip.hidden = true;
      at = -1;
    });
  });
}

addEventListener('DOMContentLoaded', startTips);
