# SPDX-License-Identifier: Apache-2.0
"""What checks of pages in a browser share: they are quiet, can be read by
everybody, and fit the window."""
import re

LOOKS = (("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390))
HOSTILE = ("</script><script>alert(1)</script>"
           "<img src=x onerror=document.title='broken'>")
# Controls without a name, and text whose contrast is below 4.5 (WCAG 2, AA),
# in figures on the mark that it stands on; a halo keeps text off its mark.
ACCESS = """
const faults = [];
const luminance = (c) => { const [r, g, b] = c.map((v) => { v /= 255;
  return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
for (const e of document.querySelectorAll('button, input, select, a, [tabindex="0"]')) {
  const label = e.getAttribute('aria-label') || e.textContent.trim() ||
    (e.labels && e.labels.length && e.labels[0].textContent);
  if (!label) faults.push('no name: ' + e.outerHTML.slice(0, 80));
}
for (const e of document.querySelectorAll('p, td, th, h1, h2, h3, li, dt, dd, a, figcaption, button')) {
  if (!e.textContent.trim() || !e.offsetParent) continue;
  let back = e;
  while (back && numbers(getComputedStyle(back).backgroundColor)[3] === 0) back = back.parentElement;
  const fore = luminance(numbers(getComputedStyle(e).color).slice(0, 3));
  const paper = luminance(numbers(getComputedStyle(back || document.body).backgroundColor).slice(0, 3));
  const ratio = (Math.max(fore, paper) + 0.05) / (Math.min(fore, paper) + 0.05);
  if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(1)}: ${e.tagName} ${e.textContent.slice(0, 40)}`);
}
const rgb = (text) => numbers(text).slice(0, 3);
const paper = rgb(getComputedStyle(document.body).backgroundColor);
const shapes = (svg) => [...svg.querySelectorAll('rect, circle, path.area')].map((e) => {
  const style = getComputedStyle(e);
  return {e, box: e.getBBox(), fill: style.fill, opacity: Number(style.fillOpacity)};
}).filter((s) => s.fill !== 'none' && s.opacity > 0);
for (const svg of document.querySelectorAll('figure svg')) {
  const marks = shapes(svg);
  for (const e of svg.querySelectorAll('text')) {
    const style = getComputedStyle(e), box = e.getBBox();
    if (!e.textContent || style.display === 'none' || e.closest('[transform]')) continue;
    let back = paper;
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    if (style.stroke === 'none') for (const m of marks) {
      if (x < m.box.x || x > m.box.x + m.box.width || y < m.box.y || y > m.box.y + m.box.height ||
          !(m.e.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING) || !m.e.isPointInFill(new DOMPoint(x, y))) continue;
      back = rgb(m.fill).map((v, i) => m.opacity * v + (1 - m.opacity) * back[i]);
    }
    const [a, b] = [luminance(rgb(style.fill)), luminance(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(1)}: ${svg.parentElement.parentElement.id} ${e.textContent.slice(0, 30)}`);
  }
}
return [...new Set(faults)].slice(0, 5);
"""

# Texts of figures that lie on each other, or beyond their figure.  Boxes of
# letters have room above and below them.
LAYOUT = """
const faults = [];
const show = (value) => document.querySelectorAll('.view').forEach((view) => { view.style.contentVisibility = value; });
show('visible');
const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
for (const svg of document.querySelectorAll('figure svg')) {
  const name = svg.closest('figure').id, frame = svg.getBoundingClientRect(), seen = [];
  for (const e of svg.querySelectorAll('text')) {
    const style = getComputedStyle(e), b = e.getBoundingClientRect();
    if (!e.textContent || style.display === 'none' || style.visibility === 'hidden') continue;
    if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1)
      faults.push(`${name}: beyond the figure: ${e.textContent}`);
    if (e.closest('[transform]')) continue;
    for (const other of seen) if (meet(b, other.b)) faults.push(`${name}: ${other.e.textContent} under ${e.textContent}`);
    seen.push({e, b});
  }
}
show('');
return [...new Set(faults)].slice(0, 5);
"""

problems = []


def expect(what, got, want=True):
    if got != want:
        problems.append(f"{what}: {got!r}, not {want!r}")


def check_quiet(page, name, own="file:"):
    expect(f"{name}: console", page.messages(), [])
    asked = [url for url in page.requests()
             if not re.match(r"(data|about|blob):", url)
             and not url.startswith(own)]
    expect(f"{name}: requests", asked, [])


def check_look(page, where):
    expect(f"{where}: access", page.run(ACCESS), [])
    expect(f"{where}: texts of figures", page.run(LAYOUT), [])
    expect(f"{where}: wider than the window", page.run(
        "return document.documentElement.scrollWidth <= innerWidth;"))
