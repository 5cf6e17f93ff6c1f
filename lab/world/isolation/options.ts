import { parseArgs } from 'node:util';
import { wholeNumber } from '../../program.ts';
import { situations, type Trial, trialsOf } from './plan.ts';

/** The output of `npm run world -- --isolation --help`. */
export const isolationUsage = `npm run world -- --isolation [OPTIONS]

Runs attacks on delivery next to healthy accounts, on the product's own functions in virtual time, and exits with 1 if a bound of the
contract is broken.

  --attack TEXT  only attacks whose name contains this
  --situation S  only this one of "in order", "fair", "fair at 10"
  --seed N       the first seed (1)
  --seeds N      seeds from there on (1)
  --quick        the three runs of the gate
  --help         this text
`;

export interface IsolationOptions {
  readonly trials: readonly Trial[];
  readonly seeds: readonly number[];
  readonly isQuick: boolean;
  /** True if all attacks run. */
  readonly isWhole: boolean;
  readonly help: boolean;
}

/**
 * Reads the options of runs of isolation.
 *
 * @throws {TypeError} for an unknown option or a value that selects no run.
 */
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
    throw new TypeError(`--situation "${situation}" must be one of ${names.join(', ')}.`);
  }
  const first = wholeNumber('--seed', values.seed, 1, 999);
  const seeds = Array.from({ length: wholeNumber('--seeds', values.seeds, 1, 999) }, (_, index) => first + index);
  const isWhole = attack === '' && situation === undefined && !isQuick;
  const trials = trialsOf({ attack, situation, isQuick });
  return { trials, seeds, isQuick, isWhole, help };
}
