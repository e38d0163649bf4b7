"""What a person would find wrong with the geometry of a page: controls cut off, texts upon each other."""

#: the part of an element's rectangle that no ancestor clips; null where nothing of it is seen
_SEEN = """
const seenPart = (element, rect) => {
  let [left, top, right, bottom] = [Math.max(rect.left, 0), Math.max(rect.top, 0),
    Math.min(rect.right, innerWidth), Math.min(rect.bottom, innerHeight)];
  for (let e = element; e && e !== document.body; e = e.parentElement) {
    const style = getComputedStyle(e);
    if (style.position === 'fixed') break;
    if (style.overflowX === 'visible' && style.overflowY === 'visible') continue;
    const box = e.getBoundingClientRect();
    [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
    [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
  }
  return right - left > 1 && bottom - top > 1 ? {left, top, right, bottom} : null;
};
const visible = e => e.checkVisibility({opacityProperty: true, visibilityProperty: true});
const scrolls = (e, axis) => { // whether an ancestor scrolls, so that what it hides can be reached
  for (let at = e.parentElement; at; at = at.parentElement) {
    const style = getComputedStyle(at);
    if (['auto', 'scroll'].includes(style['overflow' + axis])) return true;
  }
  return false;
};
const named = e => `${e.tagName.toLowerCase()}.${e.className?.baseVal ?? e.className}`.slice(0, 60)
  + ` "${(e.ariaLabel ?? e.title ?? '').slice(0, 30)}${(e.textContent ?? '').trim().slice(0, 40)}"`;
"""

#: controls of which a part is cut off and cannot be scrolled to
CLIPPED = f"""(() => {{ {_SEEN}
  return [...document.querySelectorAll('button, input, select, textarea, progress, meter, [role=button]')]
    .filter(visible).filter(e => {{
      const r = e.getBoundingClientRect(), part = seenPart(e, r);
      if (r.width < 1 || r.height < 1) return false;
      const wide = part && part.right - part.left > r.width - 2, high = part && part.bottom - part.top > r.height - 2;
      return !(wide || scrolls(e, 'X')) || !(high || scrolls(e, 'Y'));
    }}).map(named); }})()"""

#: pairs of texts that are drawn upon each other
OVERLAPPING = f"""(() => {{ {_SEEN}
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), pieces = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {{
    const e = node.parentElement;
    if (!node.data.trim() || !visible(e) || e.closest('script, style, title, option')) continue;
    const range = document.createRange(); range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {{
      const part = seenPart(e, rect);
      if (!part) continue;
      const [x, y] = [(part.left + part.right) / 2, (part.top + part.bottom) / 2];
      const top = document.elementFromPoint(x, y); // a text under a menu or dialog is not seen
      if (top && !top.contains(e) && !e.contains(top) && top.closest('.c-overlay, .c-menu, dialog')) continue;
      pieces.push([node, part]);
    }}
  }}
  const found = [];
  for (let i = 0; i < pieces.length; i++) for (let j = i + 1; j < pieces.length; j++) {{
    const [[a, p], [b, q]] = [pieces[i], pieces[j]];
    if (a === b) continue;
    const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    const least = Math.min(p.bottom - p.top, q.bottom - q.top);
    const short = ({{data}}) => `"${{data.trim().slice(0, 40)}}"`;
    if (across > 2 && down > 0.3 * least) found.push(`${{short(a)}} on ${{short(b)}}`);
  }}
  return [...new Set(found)]; }})()"""

#: texts that an ellipsis cuts short, and hints that their field is too narrow for
SHORTENED = f"""(() => {{ {_SEEN}
  const hints = () => [...document.querySelectorAll('input[placeholder]')].filter(e => {{
    const style = getComputedStyle(e), hint = getComputedStyle(e, '::placeholder');
    const hidden = e.value || hint.color === 'rgba(0, 0, 0, 0)' || !seenPart(e, e.getBoundingClientRect());
    if (hidden || !visible(e)) return false;
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = `${{hint.fontStyle}} ${{hint.fontSize}} ${{hint.fontFamily}}`;
    const room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return pen.measureText(e.placeholder).width > room + 1;
  }}).map(e => `hint "${{e.placeholder}}"`);
  const leaves = [...document.querySelectorAll('body *')].filter(e => e.childElementCount === 0);
  return leaves.filter(e => visible(e) && e.textContent.trim()
    && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible'
    && getComputedStyle(e).display !== 'inline' && seenPart(e, e.getBoundingClientRect())).map(named)
    .concat(hints()); }})()"""
