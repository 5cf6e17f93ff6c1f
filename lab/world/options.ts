import { parseArgs } from 'node:util';
import { wholeNumber } from '../program.ts';
import { type FaultClass, faultClasses } from './fault-classes.ts';
import { firstSeedOfTree } from './gate.ts';
import { type Kind, kinds } from './world-result.ts';

/** The output of `npm run world -- --help`. */
export const usage = `npm run world [-- OPTIONS]

Runs delivery, the base API and the token endpoints in virtual time, with faults and users derived from a seed.
Exits with 1 if a guarantee is violated.

  --seeds N      run N seeds of each kind (default: 20)
  --from N       start with seed N (default: 1)
  --seed N       run only seed N
  --kind KIND    run only one kind of world: ${kinds.join(', ')} (default: both)
  --class CLASS  inject one class of faults: ${faultClasses.join(', ')} (default: derived from the seed)
  --trace ID     print the history of a delivery, a request or a session (requires --seed)
  --gate         derive the first seed from the commit, and also run the seeds in found-seeds.json, which detected faults
  --isolation    run attacks next to healthy accounts, without faults (see --isolation --help)
  --help         print this help
`;

export interface WorldOptions {
  readonly seeds: readonly number[];
  readonly kinds: readonly Kind[];
  readonly faultClass: FaultClass | undefined;
  /** The id of the delivery, request or session to trace. */
  readonly trace: string | undefined;
  readonly gate: boolean;
  readonly help: boolean;
}

/** Parses the command-line options. @throws {TypeError} for an unknown option or value. */
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
  if (trace !== undefined && seed === undefined) throw new TypeError('--trace requires --seed.');
  const from = gate ? String(firstSeedOfTree()) : values.from;
  const first = seed === undefined ? numberOf('--from', from) : numberOf('--seed', seed);
  const count = seed === undefined ? numberOf('--seeds', values.seeds) : 1;
  const seeds = Array.from({ length: count }, (_, index) => first + index);
  return { seeds, kinds: readKinds(values.kind), faultClass: readClass(values.class), trace, gate, help };
}

function readKinds(text: string | undefined): readonly Kind[] {
  const selected = kinds.filter(name => text === undefined || name === text);
  if (selected.length === 0) throw new TypeError(`--kind must be one of ${kinds.join(', ')}, not "${text}".`);
  return selected;
}

function readClass(text: string | undefined): FaultClass | undefined {
  const selected = faultClasses.find(name => name === text);
  if (text !== undefined && selected === undefined)
    throw new TypeError(`--class must be one of ${faultClasses.join(', ')}, not "${text}".`);
  return selected;
}

function numberOf(option: string, text: string): number {
  return wholeNumber(option, text, 1, 9_999_999);
}
