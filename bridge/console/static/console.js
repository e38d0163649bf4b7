// The page of the console: Open MCT with the telemetry of one engine.

import { installAlarms } from './alarms.js';
import { installAttitude } from './attitude.js';
import { installCommands } from './commands.js';
import { get, Link } from './link.js';
import { installLog } from './log.js';
import { installHistories } from './order_history.js';
import { installPlots } from './plots.js';
import { installReplay, replayOption } from './replay.js';
import { installProgress } from './progress.js';
import { installStatus } from './status.js';
import { installTelemetry } from './telemetry.js';
import { installValues } from './values.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const WIDE_PX = 1400; // windows at least so wide show the overview with four columns
const FIRST = '#/browse/limberjack:root/limberjack:overview';
const SPANS = [
  ['Last 30 seconds', 30 * SECOND],
  ['Last minute', MINUTE],
  ['Last 5 minutes', 5 * MINUTE],
  ['Last 15 minutes', 15 * MINUTE],
  ['Last hour', 60 * MINUTE]
];

/** Set up the time conductor: it begins with the last minute; the operator can choose any span of the past. */
function installTime(openmct, link) {
  const offsets = (span) => ({ start: -span, end: 0 });
  const presets = SPANS.map(([label, span]) => ({ label, bounds: offsets(span) }));
  openmct.install(openmct.plugins.UTCTimeSystem());
  openmct.install(
    openmct.plugins.Conductor({
      menuOptions: [
        ...(link.hello.condition.state === 'replay' ? [replayOption(presets)] : []), // a record: nothing is live
        { name: 'Real time', timeSystem: 'utc', clock: 'limberjack.clock', clockOffsets: offsets(MINUTE), presets },
        ...(link.hello.condition.state === 'replay' ? [] : [replayOption(presets)]),
        {
          name: 'Fixed',
          timeSystem: 'utc',
          bounds: { start: link.now() - 15 * MINUTE, end: link.now() },
          records: 10
        }
      ]
    })
  );
}

async function main() {
  const openmct = window.openmct;
  const [{ objects }, panel] = await Promise.all([get('/api/objects'), get('/api/panel')]);
  const link = new Link();
  await link.ready();
  window.limberjack = { link, objects };
  openmct.setAssetPath('/openmct/');
  openmct.install(openmct.plugins.LocalStorage());
  openmct.install(openmct.plugins.Espresso());
  openmct.install(openmct.plugins.MyItems());
  openmct.install(openmct.plugins.LADTable());
  openmct.install(openmct.plugins.DisplayLayout({ showAsView: ['summary-widget', 'telemetry.plot.stacked'] }));
  installTelemetry(openmct, link, objects);
  window.limberjack.player = installReplay(openmct, link);
  installTime(openmct, link);
  installPlots(openmct, link);
  installValues(openmct, link, objects);
  installStatus(openmct, link);
  window.limberjack.siren = installAlarms(openmct, link, objects);
  installAttitude(openmct, link);
  installLog(openmct, link);
  installHistories(openmct, link);
  installCommands(openmct, link, panel);
  installProgress(openmct, link);
  if (location.hash.length < 3) {
    location.replace(`${FIRST}${window.innerWidth < WIDE_PX ? '.narrow' : ''}?hideTree=true&hideInspector=true`);
  }
  openmct.start();
}

main().catch((error) => {
  document.body.textContent = `The console cannot start: ${error.message}`;
});
