import { parseArgs } from 'node:util';

/** The parts of a benchmark, in the order of the page. */
export const partNames = ['calls', 'bundles', 'service', 'delivery', 'bursts', 'floods'] as const;

/** A part of a benchmark. */
export type PartName = (typeof partNames)[number];

/** The output of `npm run bench -- --help`. */
export const usage = `npm run bench [-- PART… OPTIONS]

Measures the size and cost of the functions. Parts: ${partNames.join(', ')}; without one it measures all, and
writes docs/performance.md unless an option is given. Run no other program on the machine meanwhile.

  --against COMMIT  also measures that commit's files, alternately with these, and prints the ratio of each figure
  --json            one JSON object on standard output
  --quick           fewer rounds, as a check that it works
  --help            this text
`;

/** The options of a benchmark. */
export interface BenchOptions {
  /** The parts in the order of the page, without duplicates. */
  readonly parts: readonly PartName[];
  readonly against: string | undefined;
  readonly json: boolean;
  readonly quick: boolean;
  readonly help: boolean;
}

/**
 * Reads the options of a benchmark.
 *
 * @throws {TypeError} for an unknown option or part.
 */
export function readOptions(args: readonly string[]): BenchOptions {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { against: { type: 'string' }, json: flag, quick: flag, help: flag },
  });
  const unknown = positionals.find(name => !partNames.some(part => part === name));
  if (unknown !== undefined) throw new TypeError(`Unknown part "${unknown}": the parts are ${partNames.join(', ')}.`);
  const parts = positionals.length === 0 ? partNames : partNames.filter(part => positionals.includes(part));
  return { parts, ...values, against: values.against };
}
