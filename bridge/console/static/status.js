// The indicators at the top: connection and engine, role.

const STATUS = { live: 's-status-on', overrunning: 's-status-caution', paused: 's-status-caution', stale: 's-status-caution', replay: 's-status-on' };

export function installStatus(openmct, link) {
  const engine = openmct.indicators.simpleIndicator();
  const role = openmct.indicators.simpleIndicator();
  openmct.indicators.add(engine);
  openmct.indicators.add(role);
  const show = ({ state, text }) => {
    engine.text(`${link.hello?.model ?? ''} ${text}`);
    engine.statusClass(STATUS[state] ?? 's-status-error');
    engine.iconClass(state === 'live' ? 'icon-connectivity' : state === 'replay' ? 'icon-play' : 'icon-alert-triangle');
    engine.element.dataset.state = state;
  };
  link.on('condition', show);
  link.on('hello', (hello) => {
    show(link.condition);
    role.text(hello.role);
    role.description(hello.role === 'operator' ? 'You may command this engine.' : 'You may watch, not command.');
    role.iconClass('icon-person');
  });
  link.on('problem', ({ text }) => openmct.notifications.error(text));
}
