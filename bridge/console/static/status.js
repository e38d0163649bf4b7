// The indicators at the top: connection, engine, role.

const OLD_MS = 3000; // without a sample for so long the engine counts as silent

export function installStatus(openmct, link) {
  const connection = openmct.indicators.simpleIndicator();
  const role = openmct.indicators.simpleIndicator();
  openmct.indicators.add(connection);
  openmct.indicators.add(role);
  let sampleAt = 0;
  const show = () => {
    const lost = link.state !== 'connected';
    const silent = Date.now() - sampleAt > OLD_MS;
    const running = link.newest.get('engine.running')?.value !== 0;
    const [text, good] = lost
      ? ['console lost, connecting again', false]
      : silent
        ? ['no telemetry', false]
        : [running ? 'live' : 'engine failed', running];
    connection.text(`${link.hello?.model ?? ''} ${text}`);
    connection.statusClass(good ? 's-status-on' : 's-status-error');
    connection.iconClass(good ? 'icon-connectivity' : 'icon-disconnect');
    connection.element.dataset.state = good ? 'live' : 'lost';
  };
  link.on('time', () => {
    sampleAt = Date.now();
  });
  link.on('state', show);
  link.on('hello', (hello) => {
    role.text(hello.role);
    role.description(hello.role === 'operator' ? 'You may command this engine.' : 'You may watch, not command.');
    role.iconClass('icon-person');
  });
  link.on('problem', ({ text }) => openmct.notifications.error(text));
  link.subscribe('engine.running', () => {});
  setInterval(show, 500);
}
