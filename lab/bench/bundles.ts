import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { buildSync } from 'esbuild';
import { stageConfiguration } from '../../lib/config.ts';
import { bundleHandlers, bundleOptions, writeBundle } from '../../lib/constructs/bundle.ts';
import { NodeFunction } from '../../lib/constructs/node-function.ts';
import { addStage } from '../../lib/stage.ts';
import { median } from '../../tools/support/statistics.ts';

/** The size and import time of a bundle. Times are medians over several new processes, in milliseconds. */
export interface BundleRow {
  readonly name: string;
  readonly kibibytes: number;
  readonly importMs: number;
  /** The median ratio to a bundle that only creates plain clients for DynamoDB and KMS, imported alternately. */
  readonly ratio: number;
}

/** Measures the bundle of each function in `runs` new processes. */
export function measureBundles(runs: number, progress: (label: string) => void): readonly BundleRow[] {
  const directory = mkdtempSync(join(tmpdir(), 'emissor-bench-'));
  try {
    const all = functions(join(directory, 'cdk.out'));
    const bundles = bundleHandlers(all.map(({ entry }) => entry));
    const plain = join(directory, 'plain.mjs');
    buildSync({ ...bundleOptions(), entryPoints: [join(import.meta.dirname, 'plain-clients.ts')], outfile: plain });
    return all.map(({ name, entry, environment }) => {
      progress(name);
      const bundle = writeBundle(bundles.get(entry), join(directory, name));
      const importBoth = () => [importTime(bundle, environment), importTime(plain, {})] as const;
      importBoth(); // fills the disk cache
      const times = Array.from({ length: runs }, importBoth);
      const ratio = median(times.map(([own, other]) => own / other));
      return { name, kibibytes: statSync(bundle).size / 1024, importMs: median(times.map(([own]) => own)), ratio };
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Returns the functions of a stage, one per entry point, with their environment variables. */
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
      // A placeholder replaces unresolved references. The handlers accept any text as a name, an address or an ARN.
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
