import { parseArgs } from 'node:util';
import type { FaultRunSettings } from './fault-run.ts';
import { fullRun } from './fault-settings.ts';

/** The output of `npm run chaos -- --help`. */
export const usage = `npm run chaos -- [OPTIONS]

Tries what needs real processes and sockets. Nothing else should run on the machine meanwhile. Without one of these it tries all:

  --faults        publishes events while everything goes wrong
  --tls-floods    measures what floods below the headers of an answer cost
  --guesses       measures how many guesses of a password get in before the lockout
  --login-floods  measures what floods of requests take from logins

  --events N      number of events of --faults (${fullRun.events})
  --minutes N     --faults gives up after N minutes (${fullRun.limit / 60_000})
  --help          this text
`;

/** A part that can be tried alone. */
export type Part = (typeof allParts)[number];

/** The options of a chaos run. */
export interface ChaosOptions {
  readonly parts: readonly Part[];
  readonly faultRun: FaultRunSettings;
  readonly help: boolean;
}

/**
 * Reads the options of a chaos run.
 *
 * @throws {TypeError} for an unknown option, or a value that would measure nothing.
 */
export function readOptions(args: readonly string[]): ChaosOptions {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ faults: flag, 'tls-floods': flag, guesses: flag, 'login-floods': flag },
      ...{ events: text, minutes: text, help: flag },
    },
  });
  const chosen = allParts.filter(part => values[part]);
  return {
    parts: chosen.length > 0 ? chosen : allParts,
    faultRun: {
      ...fullRun,
      events: wholeNumber(values.events, fullRun.events),
      limit: wholeNumber(values.minutes, fullRun.limit / 60_000) * 60_000,
    },
    help: values.help,
  };
}

const allParts = ['faults', 'tls-floods', 'guesses', 'login-floods'] as const;

function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new TypeError(`"${text}" is not a whole number from 1.`);
  return Number(text);
}
