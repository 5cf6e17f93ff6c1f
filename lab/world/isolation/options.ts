import { parseArgs } from 'node:util';
import { wholeNumber } from '../../program.ts';
import { type Trial, trialsOf } from './plan.ts';

/** The output of `npm run world -- --isolation --help`. */
export const isolationUsage = `npm run world -- --isolation [OPTIONS]

Runs attacks on delivery beside accounts that are well, by the product's own functions in virtual time, and ends with 1 if these
wait longer than promised.

  --attack TEXT  only attacks whose name contains this
  --order ORDER  fair, or arrival; without it both
  --seed N       the first seed (1)
  --seeds N      seeds from there on (1)
  --quick        the three runs of the gate
  --help         this text
`;

export interface IsolationOptions {
  readonly trials: readonly Trial[];
  readonly seeds: readonly number[];
  readonly isQuick: boolean;
  /** True where all attacks are run. */
  readonly isWhole: boolean;
  readonly help: boolean;
}

/**
 * Reads the options of runs of isolation.
 *
 * @throws {TypeError} for an unknown option, or a value that would run nothing.
 */
export function readIsolationOptions(args: readonly string[]): IsolationOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      isolation: { type: 'boolean' },
      attack: { type: 'string', default: '' },
      order: { type: 'string' },
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { attack, order, quick: isQuick, help } = values;
  if (order !== undefined && order !== 'fair' && order !== 'arrival') {
    throw new TypeError(`--order "${order}" is none of fair, arrival.`);
  }
  const first = wholeNumber('--seed', values.seed, 1, 999);
  const seeds = Array.from({ length: wholeNumber('--seeds', values.seeds, 1, 999) }, (_, index) => first + index);
  const isWhole = attack === '' && order === undefined && !isQuick;
  const trials = trialsOf({ attack, order, isQuick });
  return { trials, seeds, isQuick, isWhole, help };
}
