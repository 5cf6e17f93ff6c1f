/**
 * `npm run chaos`: what needs real processes and sockets. It publishes events to the local cloud while receivers misbehave, processes
 * are killed, the store throttles and the queues deliver twice. Then it measures what floods below the headers cost. Ends with 1 if a
 * promise is not kept.
 */
import { parseArgs } from 'node:util';
import { runProgram } from '../program.ts';
import { describeFaultRun } from './fault-report.ts';
import { runAmidFaults } from './fault-run.ts';
import { fullRun } from './fault-settings.ts';
import { describeFloods } from './flood-report.ts';
import { measureFloods } from './floods.ts';

const usage = `npm run chaos -- [OPTIONS]

Tries what needs real processes and sockets. Nothing else should run on the machine meanwhile. Without one of these it tries both:

  --faults      publishes events while everything goes wrong
  --tls-floods  measures what floods below the headers of an answer cost

  --help        this text
`;

// A signal becomes an `exit`, which ends the local run too.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

const parts = {
  faults: async () => describeFaultRun(await runAmidFaults(fullRun, say)),
  'tls-floods': async () => describeFloods(await measureFloods(say)),
};

await runProgram(usage, readOptions, areKept);

function readOptions(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  return parseArgs({ args: [...args], options: { faults: flag, 'tls-floods': flag, help: flag } }).values;
}

/** Tries the parts that the options name. Returns whether every promise is kept. */
async function areKept(options: ReturnType<typeof readOptions>): Promise<boolean> {
  const isAny = options.faults || options['tls-floods'];
  const names = (['faults', 'tls-floods'] as const).filter(name => options[name] || !isAny);
  let areAllKept = true;
  for (const name of names) {
    say(`--${name} …`);
    const { text, isHeld } = await parts[name]();
    console.log(`\n# ${name}\n\n${text}`);
    areAllKept &&= isHeld;
  }
  return areAllKept;
}

function say(line: string): void {
  console.error(line);
}
