import { parseArgs } from 'node:util';

/** The output of `npm run simulate -- --help`. */
export const usage = `npm run simulate [-- OPTIONS]

Simulates what attacks on delivery do to others, in virtual time and by the product's own rules, and ends with 1 if
others wait longer than promised.

  --only TEXT  only attacks whose name contains this
  --seeds N    runs of each attack with other random numbers (3)
  --hours N    length of the slow lane's run (24)
  --help       this text
`;

/** The options of a simulation. */
export interface SimulateOptions {
  readonly only: string;
  readonly seeds: number;
  readonly hours: number;
  readonly help: boolean;
}

/**
 * Reads the options of a simulation.
 *
 * @throws {TypeError} for an unknown option, or a value that would simulate nothing.
 */
export function readOptions(args: readonly string[]): SimulateOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '' },
      seeds: { type: 'string', default: '3' },
      hours: { type: 'string', default: '24' },
      help: { type: 'boolean', default: false },
    },
  });
  const { only, help } = values;
  return {
    only,
    seeds: wholeNumber('--seeds', values.seeds),
    hours: wholeNumber('--hours', values.hours),
    help,
  };
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new TypeError(`${option} "${text}" is not a whole number from 1 to 999.`);
  return Number(text);
}
