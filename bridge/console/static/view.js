// Views that Limberjack adds to Open MCT: built when shown, ended when closed.

/** build(element, object) fills the element and returns a function that ends the view. */
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

/** Wraps `build`: a banner above the view says when its values are old. */
export function present(openmct, link, build) {
  return (element, object) => {
    const banner = make('p', { className: 'lj-banner', role: 'status' });
    const content = make('div', { className: 'lj-content' });
    element.append(make('div', { className: 'lj-present' }, banner, content));
    const show = () => {
      const { current, state, text } = link.condition;
      const old = !current && state !== 'replay'; // in a replay the values belong to the moment shown
      banner.textContent = old ? `Old values: ${text}.` : '';
      content.classList.toggle('lj-old', old);
    };
    const ends = [link.on('condition', show), build(content, object)];
    show();
    return () => ends.forEach((end) => end());
  };
}

/** UTC time of day, "14:03:12", from ms since 1970. */
export function clockTime(utc) {
  return new Date(utc).toISOString().slice(11, 19);
}

/** The parts of a name, with places between them where a line may break. */
export function parts(name) {
  return name.split(/(?<=[._])/).flatMap((part, i) => (i === 0 ? [part] : [document.createElement('wbr'), part]));
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
