import { parseArgs } from 'node:util';

/** The parts of a benchmark, in the order of the page. */
export const partNames = ['bundles', 'service', 'delivery', 'bursts', 'fresh', 'comparison'] as const;

/** One of the parts. */
export type PartName = (typeof partNames)[number];

/** The output of `npm run bench -- --help`. */
export const usage = `npm run bench [-- PART… OPTIONS]

Measures the size and cost of the functions and writes docs/performance.md. Parts: ${partNames.join(', ')};
all of them by default. Nothing else should run on the machine meanwhile.

  --json    one JSON object on standard output, for comparing two commits; the page is not written
  --quick   fewer rounds, to see that it works; the page is not written
  --help    this text
`;

/** The options of a benchmark. */
export interface BenchOptions {
  /** In the order of the page, each once. */
  readonly parts: readonly PartName[];
  readonly json: boolean;
  readonly quick: boolean;
  readonly help: boolean;
}

/**
 * Reads the options of a benchmark.
 *
 * @throws {TypeError} for an option or a part that there is not.
 */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const unknown = positionals.find(name => !partNames.some(part => part === name));
  if (unknown !== undefined)
    throw new TypeError(`There is no part "${unknown}": the parts are ${partNames.join(', ')}.`);
  const parts = positionals.length === 0 ? partNames : partNames.filter(part => positionals.includes(part));
  return { parts, ...values };
}
