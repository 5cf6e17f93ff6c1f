import { parseArgs } from 'node:util';
import { wholeNumber } from '../program.ts';
import { type FaultClass, faultClasses } from './fault-classes.ts';
import { firstSeedOfTree } from './gate.ts';
import { type Kind, kinds } from './world-result.ts';

/** The output of `npm run world -- --help`. */
export const usage = `npm run world [-- OPTIONS]

Runs delivery, the base API and the token endpoints with the product's own functions in virtual time, with faults and people by seed, and
exits with 1 if a promise is broken.

  --seeds N      seeds from the first on, of each kind (20)
  --from N       the first seed (1)
  --seed N       this seed only
  --kind KIND    ${kinds.join(', ')}; without it both
  --class CLASS  ${faultClasses.join(', ')}; without it, by the seed
  --trace ID     with --seed: the history of a delivery, a request or a session
  --gate         a first seed from the files of the commit, and all seeds of found-seeds.json, which found a fault before
  --isolation    attacks next to healthy accounts, without faults; it has its own options
  --help         this text
`;

export interface WorldOptions {
  readonly seeds: readonly number[];
  readonly kinds: readonly Kind[];
  readonly faultClass: FaultClass | undefined;
  /** The id of a delivery, a request or a session. */
  readonly trace: string | undefined;
  readonly gate: boolean;
  readonly help: boolean;
}

/**
 * Reads the options of a run.
 *
 * @throws {TypeError} for an unknown option or value.
 */
export function readOptions(args: readonly string[]): WorldOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '20' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      kind: { type: 'string' },
      class: { type: 'string' },
      trace: { type: 'string' },
      gate: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { seed, trace, gate, help } = values;
  if (trace !== undefined && seed === undefined) throw new TypeError('--trace needs --seed.');
  const from = gate ? String(firstSeedOfTree()) : values.from;
  const first = seed === undefined ? numberOf('--from', from) : numberOf('--seed', seed);
  const count = seed === undefined ? numberOf('--seeds', values.seeds) : 1;
  const seeds = Array.from({ length: count }, (_, index) => first + index);
  return { seeds, kinds: readKinds(values.kind), faultClass: readClass(values.class), trace, gate, help };
}

function readKinds(text: string | undefined): readonly Kind[] {
  const found = kinds.filter(name => text === undefined || name === text);
  if (found.length === 0) throw new TypeError(`--kind "${text}" must be one of ${kinds.join(', ')}.`);
  return found;
}

function readClass(text: string | undefined): FaultClass | undefined {
  const found = faultClasses.find(name => name === text);
  if (text !== undefined && found === undefined)
    throw new TypeError(`--class "${text}" must be one of ${faultClasses.join(', ')}.`);
  return found;
}

function numberOf(option: string, text: string): number {
  return wholeNumber(option, text, 1, 9_999_999);
}
