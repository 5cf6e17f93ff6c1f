import { parseArgs } from 'node:util';

/** The parts of the benchmark, in the order of docs/performance.md. */
export const partNames = ['calls', 'bundles', 'service', 'delivery', 'bursts', 'floods'] as const;

export type PartName = (typeof partNames)[number];

/** The output of `npm run bench -- --help`. */
export const usage = `npm run bench [-- PART… OPTIONS]

Measures the size and cost of the functions. The parts are ${partNames.join(', ')} (default: all).
Without parts and options, also writes docs/performance.md. Do not run other programs at the same time.

  --against COMMIT  compare the working tree with COMMIT and print the ratio of each figure
  --json            print one JSON object to standard output
  --quick           run fewer rounds, to check that the benchmark works
  --help            print this help
`;

export interface BenchOptions {
  /** The parts in the order of `partNames`, without duplicates. */
  readonly parts: readonly PartName[];
  readonly against: string | undefined;
  readonly json: boolean;
  readonly quick: boolean;
  readonly help: boolean;
}

/** Reads the options of the benchmark. @throws {TypeError} for an unknown option or part. */
export function readOptions(args: readonly string[]): BenchOptions {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { against: { type: 'string' }, json: flag, quick: flag, help: flag },
  });
  const unknown = positionals.find(name => !partNames.some(part => part === name));
  if (unknown !== undefined) throw new TypeError(`Unknown part "${unknown}". Specify one of ${partNames.join(', ')}.`);
  const parts = positionals.length === 0 ? partNames : partNames.filter(part => positionals.includes(part));
  return { parts, ...values, against: values.against };
}
