import { parseArgs } from 'node:util';
import type { ChaosSettings } from './chaos-run.ts';
import { fullRun } from './run-settings.ts';

/** The output of `npm run chaos -- --help`. */
export const usage = `npm run chaos -- [OPTIONS]

Publishes events while everything goes wrong, measures what floods below the headers cost, how many guesses of a password get in before the lockout, and what floods of requests take from logins. Nothing else should run on the machine meanwhile.

  --events N          number of events (${fullRun.events})
  --accounts N        number of accounts (${fullRun.accounts})
  --seed N            seed of the random choices (${fullRun.seed})
  --minutes N         each run of events gives up after N minutes (${fullRun.limit / 60_000})
  --faults            publishes events amid faults only: once while no process dies, once while some do
  --guesses           measures the lockout only
  --tls-floods        measures what floods below the headers of an answer cost only
  --login-floods      measures logins beside floods of requests only
  --help              this text
`;

/** The options of a chaos run. */
export interface ChaosOptions {
  /** The part to run: all of it, or one. */
  readonly part: 'all' | Part;
  readonly settings: ChaosSettings;
  readonly help: boolean;
}

/**
 * Reads the options of a chaos run.
 *
 * @throws {TypeError} for an unknown option, a value that would measure nothing, or options that exclude each other.
 */
export function readOptions(args: readonly string[]): ChaosOptions {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ events: text, accounts: text, seed: text, minutes: text },
      ...{
        faults: flag,
        'tls-floods': flag,
        guesses: flag,
        'login-floods': flag,
        help: flag,
      },
    },
  });
  const { help } = values;
  const chosen = parts.filter(part => values[part]);
  if (chosen.length > 1) throw new TypeError(`${chosen.map(part => `--${part}`).join(' and ')} exclude each other.`);
  return {
    part: chosen[0] ?? 'all',
    settings: {
      ...fullRun,
      events: wholeNumber(values.events, fullRun.events),
      accounts: wholeNumber(values.accounts, fullRun.accounts),
      seed: wholeNumber(values.seed, fullRun.seed),
      limit: wholeNumber(values.minutes, fullRun.limit / 60_000) * 60_000,
    },
    help,
  };
}

/** The parts that can be measured alone. */
const parts = ['faults', 'tls-floods', 'guesses', 'login-floods'] as const;
type Part = (typeof parts)[number];

function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new TypeError(`"${text}" is not a whole number from 1.`);
  return Number(text);
}
