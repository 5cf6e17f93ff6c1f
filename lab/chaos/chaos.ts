/**
 * `npm run chaos`: publishes thousands of events to the local cloud while receivers misbehave, consumers are killed, the
 * store throttles and the queues deliver twice. Then it measures what floods below the headers cost, how many guesses of a password
 * get in before the lockout, and what floods of requests take from logins. Ends with 1 if an event is lost, comes too late, ends in the wrong state or cannot be accounted for, if a flood delays others too long, if too many
 * guesses get in, or if a flood of another path than theirs refuses logins.
 */
import { runChaos } from './chaos-run.ts';
import { describeFloods } from './flood-report.ts';
import { measureFloods } from './floods.ts';
import { describeLoginFloods, loginFloodRun, measureLoginFloods } from './login-floods.ts';
import { type ChaosOptions, readOptions, usage } from './options.ts';
import { describeGuesses, guessRun, measureGuesses } from './password-guesses.ts';
import { describeChaos } from './report.ts';
import { floodRun, withoutKills } from './run-settings.ts';

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
async function areKept({ part, settings }: ChaosOptions): Promise<boolean> {
  try {
    if (part === 'faults') return await isNothingLost(settings);
    if (part === 'guesses') return await isLockoutHeld();
    if (part === 'login-floods') return await areLoginsLeftAlone();
    if (part === 'tls-floods') return await areFloodsHeld();
    const isComplete = await isNothingLost(settings);
    const others = [await areFloodsHeld(), await isLockoutHeld(), await areLoginsLeftAlone()];
    return [isComplete, ...others].every(Boolean);
  } catch (error) {
    console.error(error);
    return false;
  }
}

async function isNothingLost(settings: ChaosOptions['settings']): Promise<boolean> {
  const runs = [
    { name: 'No event is lost, or late, while no process dies', run: withoutKills(settings) },
    { name: 'No event is lost, or late, while processes die', run: settings },
  ];
  let areNone = true;
  for (const { name, run } of runs) {
    const report = await runChaos(run, say);
    console.log(`\n# ${name}\n\n${describeChaos(report)}`);
    areNone &&= report.findings.length === 0;
  }
  return areNone;
}

async function areFloodsHeld(): Promise<boolean> {
  say('Flooding below the headers …');
  const { text, isTooMuch } = describeFloods(await measureFloods(floodRun, say), floodRun);
  console.log(`\n# Floods below the headers\n\n${text}`);
  return !isTooMuch;
}

async function isLockoutHeld(): Promise<boolean> {
  say('Guessing passwords …');
  const { text, isTooFar } = describeGuesses(await measureGuesses(guessRun, say), guessRun);
  console.log(`\n# Lockout\n\n${text}`);
  return !isTooFar;
}

async function areLoginsLeftAlone(): Promise<boolean> {
  say('Flooding the gateway …');
  const { text, isTaken } = describeLoginFloods(await measureLoginFloods(loginFloodRun, say), loginFloodRun);
  console.log(`\n# Logins beside floods\n\n${text}`);
  return !isTaken;
}

function say(line: string): void {
  console.error(line);
}
