import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { stageConfiguration } from '../../lib/config.ts';
import { bundleHandlers, writeBundle } from '../../lib/constructs/bundle.ts';
import { NodeFunction } from '../../lib/constructs/node-function.ts';
import { addStage } from '../../lib/stage.ts';
import { median } from '../../tools/support/statistics.ts';

/** One function's production bundle. */
export interface BundleResult {
  readonly name: string;
  readonly kibibytes: number;
  /** Median of cold processes, in milliseconds. */
  readonly importMs: number;
}

/** Measures every function's bundle in `runs` cold processes each. */
export function measureBundles(runs: number, progress: (what: string) => void): BundleResult[] {
  const directory = mkdtempSync(join(tmpdir(), 'emissor-bench-'));
  try {
    const all = functions(join(directory, 'cdk.out'));
    const bundles = bundleHandlers(all.map(({ entry }) => entry));
    return all.map(({ name, entry, environment }) => {
      progress(name);
      const bundle = writeBundle(bundles.get(entry), join(directory, name));
      importTime(bundle, environment); // warms the disk
      const times = Array.from({ length: runs }, () => importTime(bundle, environment));
      return { name, kibibytes: statSync(bundle).size / 1024, importMs: median(times) };
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Returns the functions of a stage, one per entry, with what their handlers read from the environment. */
function functions(outdir: string): { name: string; entry: string; environment: Record<string, string> }[] {
  const app = new App({ outdir, context: { 'aws:cdk:bundling-stacks': [] } });
  addStage(app, stageConfiguration('local'), 'bench');
  return app.node
    .findAll()
    .filter(construct => construct instanceof NodeFunction)
    .filter(({ entry }, at, all) => all.findIndex(other => other.entry === entry) === at)
    .map(({ node, entry, variables }) => ({
      name: node.id,
      entry,
      // References are not resolved here: any text that a handler takes for a name, an address or an ARN will do.
      environment: Object.fromEntries(
        Object.entries(variables as Record<string, string>).map(([key, value]) => [
          key,
          value.includes('${Token') ? 'https://example.com' : value,
        ]),
      ),
    }));
}

function importTime(bundle: string, environment: Record<string, string>): number {
  return Number(
    execFileSync(process.execPath, ['--input-type=module', '-e', importer, bundle], {
      encoding: 'utf8',
      env: { ...environment, AWS_REGION: 'sa-east-1', AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench' },
    }),
  );
}

const importer = `
const start = performance.now();
await import(process.argv[1]);
process.stdout.write(String(performance.now() - start));
process.exit(0);`;
