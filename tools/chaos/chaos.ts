/**
 * `npm run chaos`: thousands of events through the local cloud while receivers misbehave, consumers are killed, the
 * store throttles and the queues deliver twice; then, what attacks do to those beside them, and how far guesses of a password
 * outrun the lockout. Ends with 1 if an event is lost, ends wrongly or cannot be accounted for, if others feel an attack, or
 * if the guesses get too far.
 */
import { parseArgs } from 'node:util';
import { runChaos } from './chaos-run.ts';
import { describeGuesses, guessPlan, measureGuesses } from './guesses.ts';
import { measureIsolation } from './isolation.ts';
import { fullPlan, isolationPlan } from './plans.ts';
import { describeChaos, describeIsolation } from './report.ts';

const usage = `npm run chaos -- [--events N] [--accounts N] [--seed N] [--minutes N] [--isolation | --guesses] [--help]
  --events     how many are published (default ${fullPlan.events})
  --accounts   of how many accounts (default ${fullPlan.accounts})
  --seed       repeats the same choices (default ${fullPlan.seed})
  --minutes    gives up after so long (default ${fullPlan.limit / 60_000})
  --isolation  measures isolation only
  --guesses    measures the lockout only`;

// Whoever ends this ends the local run too: it hears of `exit`, not of signals.
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
  const { help, isolation, guesses, plan } = options();
  if (help) {
    console.log(usage);
    return 0;
  }
  if (guesses) return (await isLockoutHeld()) ? 0 : 1;
  let isWell = true;
  if (!isolation) {
    const report = await runChaos(plan, say);
    console.log(`\n# Nothing is lost\n\n${describeChaos(report)}`);
    isWell = report.findings.length === 0;
  }
  say('Measuring isolation …');
  const { text, isFelt } = describeIsolation(await measureIsolation(isolationPlan, say), isolationPlan);
  console.log(`\n# Nobody waits for a neighbour\n\n${text}`);
  const isHeld = isolation || (await isLockoutHeld());
  return isWell && !isFelt && isHeld ? 0 : 1;
}

function options() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const all = { events: text, accounts: text, seed: text, minutes: text, isolation: flag, guesses: flag, help: flag };
  const { values } = parseArgs({ options: all });
  const plan = {
    ...fullPlan,
    events: wholeNumber(values.events, fullPlan.events),
    accounts: wholeNumber(values.accounts, fullPlan.accounts),
    seed: wholeNumber(values.seed, fullPlan.seed),
    limit: wholeNumber(values.minutes, fullPlan.limit / 60_000) * 60_000,
  };
  return { ...values, plan };
}

/** Whether the lockout holds. */
async function isLockoutHeld(): Promise<boolean> {
  say('Guessing passwords …');
  const { text, isTooFar } = describeGuesses(await measureGuesses(guessPlan, say), guessPlan);
  console.log(`\n# A burst of guesses is locked out\n\n${text}`);
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
