// A view of our own: built once when it is shown, told of its end.

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
