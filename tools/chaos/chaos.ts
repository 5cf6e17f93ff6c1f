/**
 * `npm run chaos`: publishes thousands of events to the local cloud while receivers misbehave, consumers are killed, the
 * store throttles and the queues deliver twice. Then it measures how attacks delay other accounts, how many guesses of a
 * password get in before the lockout, and what floods take from logins. Ends with 1 if an event is lost, ends in the wrong state
 * or cannot be accounted for, if an attack delays others too long, if too many guesses get in, or if a flood of another path than
 * theirs refuses logins.
 */
import { runChaos } from './chaos-run.ts';
import { measureIsolation } from './isolation.ts';
import { planRuns } from './isolation-plan.ts';
import { describeIsolation } from './isolation-report.ts';
import { describeFloods, floodRun, measureFloods } from './login-floods.ts';
import { type ChaosOptions, readOptions, usage } from './options.ts';
import { describeGuesses, guessRun, measureGuesses } from './password-guesses.ts';
import { describeChaos } from './report.ts';
import { isolationRun } from './run-settings.ts';

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

/** Tries what the options name. Gives whether every promise is kept. */
async function areKept({ part, settings, rounds, attacks }: ChaosOptions): Promise<boolean> {
  try {
    if (part === 'guesses') return await isLockoutHeld();
    if (part === 'floods') return await areLoginsLeftAlone();
    if (part === 'isolation') return await isIsolationHeld(attacks, rounds);
    const isComplete = await isNothingLost(settings);
    const isHeld = await isIsolationHeld(attacks, rounds);
    const isLimited = await isLockoutHeld();
    return (await areLoginsLeftAlone()) && isComplete && isHeld && isLimited;
  } catch (error) {
    console.error(error);
    return false;
  }
}

async function isNothingLost(settings: ChaosOptions['settings']): Promise<boolean> {
  const report = await runChaos(settings, say);
  console.log(`\n# No event is lost\n\n${describeChaos(report)}`);
  return report.findings.length === 0;
}

async function isIsolationHeld(attacks: ChaosOptions['attacks'], rounds: number): Promise<boolean> {
  say('Measuring isolation …');
  const { text, isHeld } = describeIsolation(
    await measureIsolation(planRuns(attacks, rounds), isolationRun, say),
    isolationRun,
  );
  console.log(`\n# Isolation between accounts\n\n${text}`);
  return isHeld;
}

async function isLockoutHeld(): Promise<boolean> {
  say('Guessing passwords …');
  const { text, isTooFar } = describeGuesses(await measureGuesses(guessRun, say), guessRun);
  console.log(`\n# Lockout\n\n${text}`);
  return !isTooFar;
}

async function areLoginsLeftAlone(): Promise<boolean> {
  say('Flooding …');
  const { text, isTaken } = describeFloods(await measureFloods(floodRun, say), floodRun);
  console.log(`\n# Logins beside floods\n\n${text}`);
  return !isTaken;
}

function say(line: string): void {
  console.error(line);
}
