import { parseArgs } from 'node:util';
import { wholeNumber } from '../../program.ts';
import { situations, type Trial, trialsOf } from './plan.ts';

/** The output of `npm run world -- --isolation --help`. */
export const isolationUsage = `npm run world -- --isolation [OPTIONS]

Runs attacks on delivery next to healthy accounts, in virtual time. Exits with 1 if a limit of the contract is exceeded.

  --attack TEXT  run only attacks whose names contain TEXT
  --situation S  run only in situation S: "in order", "fair" or "fair at 10"
  --seed N       start with seed N (default: 1)
  --seeds N      run N seeds (default: 1)
  --quick        run only the three trials of the gate
  --help         print this help
`;

export interface IsolationOptions {
  readonly trials: readonly Trial[];
  readonly seeds: readonly number[];
  readonly isQuick: boolean;
  /** True if all trials run. */
  readonly isWhole: boolean;
  readonly help: boolean;
}

/** Parses the command-line options for `--isolation`. @throws {TypeError} for an unknown option, or if the options select no trial. */
export function readIsolationOptions(args: readonly string[]): IsolationOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      isolation: { type: 'boolean' },
      attack: { type: 'string', default: '' },
      situation: { type: 'string' },
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { attack, situation, quick: isQuick, help } = values;
  const names = situations.map(({ name }) => name);
  if (situation !== undefined && !names.includes(situation)) {
    throw new TypeError(`--situation must be one of ${names.join(', ')}, not "${situation}".`);
  }
  const first = wholeNumber('--seed', values.seed, 1, 999);
  const seeds = Array.from({ length: wholeNumber('--seeds', values.seeds, 1, 999) }, (_, index) => first + index);
  const isWhole = attack === '' && situation === undefined && !isQuick;
  const trials = trialsOf({ attack, situation, isQuick });
  return { trials, seeds, isQuick, isWhole, help };
}
