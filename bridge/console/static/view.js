// A view of ours: built once when it is shown, notified when it ends.

/** build(element, object) fills the element and returns how to end it. */
export function addView(openmct, type, name, cssClass, build) {
  openmct.types.addType(type, { name, cssClass, creatable: false });
  openmct.objectViews.addProvider({
    key: `${type}.view`,
    name,
    cssClass,
    canView: (object) => object.type === type,
    view(object) {
      let end = null;
      return {
        show: (element) => {
          end = build(element, object);
        },
        destroy: () => end?.(),
        priority: () => openmct.priority.HIGH
      };
    }
  });
}

/** A builder of views that say above them when their values are old. */
export function present(openmct, link, build) {
  return (element, object) => {
    const banner = make('p', { className: 'lj-banner', role: 'status' });
    const content = make('div', { className: 'lj-content' });
    element.append(make('div', { className: 'lj-present' }, banner, content));
    const show = () => {
      const { current, state, text } = link.condition;
      const old = !current && state !== 'replay'; // of a replay they are of the moment that it shows
      banner.textContent = old ? `Old values: ${text}.` : '';
      content.classList.toggle('lj-old', old);
    };
    const ends = [link.on('condition', show), build(content, object)];
    show();
    return () => ends.forEach((end) => end());
  };
}

/** "14:03:12" of ms since 1970, UTC. */
export function clockTime(utc) {
  return new Date(utc).toISOString().slice(11, 19);
}

/** An element with attributes (or properties) and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}
