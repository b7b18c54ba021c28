// SPDX-License-Identifier: Apache-2.0
// Reads the result, keeps the state of the views in the address, and switches
// between light and dark.  The page is complete without this script.
'use strict';

const data = document.getElementById('result');
const result = data && // a list of results has none
  JSON.parse(data.type === 'application/zlib' ? inflatedText(data.textContent) : data.textContent);

// make('p', {class: 'note'}, 'text', child): an element; text stays text.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Where a name, a kernel, a shape or a type may go on in the next line.
const breakable = (text) => String(text === null || text === undefined ? '' : text)
  .replace(/[.:,=/_]|\dx(?=\d)|[a-z](?=[A-Z])/g, '$&\u200b').split('\u200b').flatMap((part, i) => (i ? [make('wbr', {}), part] : [part]));

// Numbers as people read them; the document has all digits.
function digits(value, n) {
  const text = value.toPrecision(n);
  return Math.abs(value) >= 10 ** n || Math.abs(value) < 1e-4 ? String(Number(text)) : text;
}
function withPrefix(value, unit) {
  if (value === null || value === undefined || !isFinite(value)) return '–';
  if (value === 0) return `0 ${unit}`;
  const names = ['n', 'µ', 'm', '', 'k', 'M', 'G', 'T', 'P'];
  // 999.7 rounds to three digits in the next unit.
  const power = Math.max(-3, Math.min(5, Math.floor(Math.log10(Math.abs(Number(value.toPrecision(3)))) / 3)));
  return `${digits(value / 1000 ** power, 3)} ${names[power + 3]}${unit}`;
}
const timeText = (ms) => (ms === null || ms === undefined ? '–' : withPrefix(ms / 1000, 's'));
const bytesText = (bytes) => withPrefix(bytes, 'B');
const percentText = (share) => (share === null || share === undefined ? '–' :
  `${share !== 0 && Math.abs(share) < 0.0005 ? '<0.1' : (100 * share).toFixed(1)} %`);

// A site remembers the theme from page to page; a file has its address alone.
const kept = location.protocol === 'file:' ? null : localStorage;

// The state: what a link to this page shows again.
const state = {
  values: new URLSearchParams(),
  listeners: [],
  read() {
    const hash = decodeURIComponent(location.hash.slice(1));
    this.values = new URLSearchParams(hash.includes('=') ? location.hash.slice(1) : hash ? {view: hash} : {});
    const theme = this.get('theme') || (kept && kept.getItem('theme'));
    if (theme) document.documentElement.dataset.theme = theme;
  },
  get(key) { return this.values.get(key) || ''; },
  set(changes) {
    for (const [key, value] of Object.entries(changes)) {
      if (value === '' || value === null) this.values.delete(key);
      else this.values.set(key, value);
    }
    const only = [...this.values.keys()];
    const hash = only.length === 1 && only[0] === 'view' ? this.get('view') : this.values.toString();
    history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
  },
};
state.read();
document.documentElement.classList.add('scripts');

function show(view) {
  const section = document.getElementById(view);
  if (section) section.scrollIntoView();
}

function startNavigation() {
  const links = [...document.querySelectorAll('nav a[href^="#"]')];
  const sections = [...document.querySelectorAll('section.view')];
  let asked = state.get('view'); // matters where the page ends before it is at the top
  let marked = '';
  const mark = (view) => {
    if (view === marked) return;
    marked = view;
    links.forEach((link) => {
      if (link.hash !== `#${view}`) { link.removeAttribute('aria-current'); return; }
      link.setAttribute('aria-current', 'true');
      const list = link.closest('ul'), at = link.getBoundingClientRect(), around = list.getBoundingClientRect();
      list.scrollLeft += at.left + at.width / 2 - around.left - around.width / 2; // on a phone
    });
  };
  // The section at the top of the window, whatever was seen before.
  const markSeen = () => {
    const line = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + 24;
    const tops = sections.map((section) => section.getBoundingClientRect().top);
    let at = tops.findLastIndex((top) => top <= line);
    if (scrollY + innerHeight >= document.documentElement.scrollHeight - 2) {
      const wanted = sections.findIndex((section) => section.id === asked);
      at = wanted > at && tops[wanted] < innerHeight ? wanted : tops.findLastIndex((top) => top <= Math.max(line, innerHeight / 3));
    }
    if (sections.length) mark(sections[Math.max(at, 0)].id);
  };
  links.forEach((link) => link.addEventListener('click', (event) => {
    event.preventDefault();
    const view = link.hash.slice(1);
    state.set({view});
    asked = view;
    show(view);
    markSeen();
    const title = document.getElementById(`${view}-title`);
    title.tabIndex = -1;
    title.focus({preventScroll: true});
  }));
  let isDue = false;
  const later = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => { isDue = false; markSeen(); });
  };
  addEventListener('scroll', later, {passive: true});
  addEventListener('resize', later);
  if (asked) show(asked);
  markSeen();
  addEventListener('hashchange', () => location.reload());
}

function startTheme() {
  const isDark = () => (document.documentElement.dataset.theme ||
    (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const button = make('button', {type: 'button', id: 'theme', onclick: () => {
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    if (kept) kept.setItem('theme', theme);
    else state.set({theme});
    label();
  }});
  const label = () => { button.textContent = isDark() ? 'Light' : 'Dark'; };
  label();
  document.querySelector('nav').append(button);
}

// What is long is written smaller, from a number of letters on.
function startTiles() {
  document.querySelectorAll('.tile .value').forEach((value) => {
    const n = value.textContent.length;
    value.classList.toggle('longer', n > 14);
    if (n > 14) value.replaceChildren(...breakable(value.textContent));
    value.classList.toggle('long', n > 9 && n <= 14);
  });
}

addEventListener('DOMContentLoaded', () => { startTheme(); startNavigation(); startTiles(); });
