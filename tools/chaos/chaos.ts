/**
 * `npm run chaos`: publishes thousands of events to the local cloud while receivers misbehave, consumers are killed, the
 * store throttles and the queues deliver twice. Then it measures how attacks delay other accounts, and how many guesses of a
 * password get in before the lockout. Ends with 1 if an event is lost, ends in the wrong state or cannot be accounted for,
 * if an attack delays others too long, or if too many guesses get in.
 */
import { parseArgs } from 'node:util';
import { runChaos } from './chaos-run.ts';
import { measureIsolation } from './isolation.ts';
import { describeGuesses, guessRun, measureGuesses } from './password-guesses.ts';
import { describeChaos, describeIsolation } from './report.ts';
import { fullRun, isolationRun } from './run-settings.ts';

const usage = `npm run chaos -- [--events N] [--accounts N] [--seed N] [--minutes N] [--isolation | --guesses] [--help]
  --events     number of events (default ${fullRun.events})
  --accounts   number of accounts (default ${fullRun.accounts})
  --seed       seed of the random choices (default ${fullRun.seed})
  --minutes    gives up after so many minutes (default ${fullRun.limit / 60_000})
  --isolation  measures isolation only
  --guesses    measures the lockout only`;

// A signal becomes an `exit`, which ends the local run too.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

process.exit(
  await main().catch(error => {
    console.error(error instanceof TypeError ? `${error.message}\n${usage}` : error);
    return 1;
  }),
);

async function main(): Promise<number> {
  const { help, isolation, guesses, settings } = options();
  if (help) {
    console.log(usage);
    return 0;
  }
  if (guesses) return (await isLockoutHeld()) ? 0 : 1;
  let isComplete = true;
  if (!isolation) {
    const report = await runChaos(settings, say);
    console.log(`\n# No event is lost\n\n${describeChaos(report)}`);
    isComplete = report.findings.length === 0;
  }
  say('Measuring isolation …');
  const { text, isTooLate } = describeIsolation(await measureIsolation(isolationRun, say), isolationRun);
  console.log(`\n# Isolation between accounts\n\n${text}`);
  const isHeld = isolation || (await isLockoutHeld());
  return isComplete && !isTooLate && isHeld ? 0 : 1;
}

function options() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const all = { events: text, accounts: text, seed: text, minutes: text, isolation: flag, guesses: flag, help: flag };
  const { values } = parseArgs({ options: all });
  const settings = {
    ...fullRun,
    events: wholeNumber(values.events, fullRun.events),
    accounts: wholeNumber(values.accounts, fullRun.accounts),
    seed: wholeNumber(values.seed, fullRun.seed),
    limit: wholeNumber(values.minutes, fullRun.limit / 60_000) * 60_000,
  };
  return { ...values, settings };
}

async function isLockoutHeld(): Promise<boolean> {
  say('Guessing passwords …');
  const { text, isTooFar } = describeGuesses(await measureGuesses(guessRun, say), guessRun);
  console.log(`\n# Lockout\n\n${text}`);
  return !isTooFar;
}

function say(line: string): void {
  console.error(line);
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new TypeError(`"${text}" is not a whole number from 1.`);
  return Number(text);
}
