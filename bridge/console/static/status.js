// The indicators at the top: connection, engine, role.

const PERIOD_MS = 500;
const SILENT_PERIODS = 6; // so many without a sample: the engine waits, or is silent

const WORDS = {
  lost: 'console lost, connecting again',
  silent: 'no telemetry',
  live: 'live',
  failed: 'engine failed'
};
const STATUS = {
  lost: 's-status-error',
  silent: 's-status-caution',
  live: 's-status-on',
  failed: 's-status-error'
};

export function installStatus(openmct, link) {
  const connection = openmct.indicators.simpleIndicator();
  const role = openmct.indicators.simpleIndicator();
  openmct.indicators.add(connection);
  openmct.indicators.add(role);
  let periods = SILENT_PERIODS;
  const show = () => {
    const lost = link.state !== 'connected';
    const silent = periods >= SILENT_PERIODS;
    const running = link.newest.get('engine.running')?.value !== 0;
    const state = lost ? 'lost' : silent ? 'silent' : running ? 'live' : 'failed';
    connection.text(`${link.hello?.model ?? ''} ${WORDS[state]}`);
    connection.statusClass(STATUS[state]);
    connection.iconClass(state === 'live' ? 'icon-connectivity' : 'icon-alert-triangle');
    connection.element.dataset.state = state;
  };
  link.on('time', () => {
    periods = 0;
  });
  link.on('state', show);
  link.on('hello', (hello) => {
    role.text(hello.role);
    role.description(hello.role === 'operator' ? 'You may command this engine.' : 'You may watch, not command.');
    role.iconClass('icon-person');
  });
  link.on('problem', ({ text }) => openmct.notifications.error(text));
  link.subscribe('engine.running', () => {});
  setInterval(() => {
    periods += 1;
    show();
  }, PERIOD_MS);
}
