/**
 * `npm run chaos`: what needs real processes and sockets. It publishes events to the local cloud while receivers misbehave, processes
 * are killed, the store throttles and the queues deliver twice. Then it measures what floods below the headers cost, how many guesses
 * of a password get in before the lockout, and what floods of requests take from logins. Ends with 1 if a promise is not kept.
 */
import { describeFaultRun } from './fault-report.ts';
import { runAmidFaults } from './fault-run.ts';
import { describeFloods } from './flood-report.ts';
import { measureFloods } from './floods.ts';
import { describeLoginFloods, measureLoginFloods } from './login-floods.ts';
import { type ChaosOptions, type Part, readOptions, usage } from './options.ts';
import { describeGuesses, measureGuesses } from './password-guesses.ts';

// A signal becomes an `exit`, which ends the local run too.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

const options = readOrExit();
if (options.help) console.log(usage);
else process.exit((await areKept(options)) ? 0 : 1);

function readOrExit(): ChaosOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

/** Tries the parts that the options name. Returns whether every promise is kept. */
async function areKept({ parts, faultRun }: ChaosOptions): Promise<boolean> {
  const tries: Record<Part, () => Promise<{ readonly text: string; readonly isHeld: boolean }>> = {
    faults: async () => describeFaultRun(await runAmidFaults(faultRun, say)),
    'tls-floods': async () => describeFloods(await measureFloods(say)),
    guesses: async () => describeGuesses(await measureGuesses(say)),
    'login-floods': async () => describeLoginFloods(await measureLoginFloods(say)),
  };
  let areAllKept = true;
  for (const part of parts) {
    say(`--${part} …`);
    const { text, isHeld } = await tries[part]();
    console.log(`\n# ${part}\n\n${text}`);
    areAllKept &&= isHeld;
  }
  return areAllKept;
}

function say(line: string): void {
  console.error(line);
}
