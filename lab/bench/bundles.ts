import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { buildSync } from 'esbuild';
import { stageConfiguration } from '../../lib/config.ts';
import { bundleHandler, bundleOptions } from '../../lib/constructs/bundle.ts';
import { NodeFunction } from '../../lib/constructs/node-function.ts';
import { addStage } from '../../lib/stage.ts';
import { median, rotated } from '../../tools/support/statistics.ts';

/** One function's bundle beside a plain bundle that imports the same SDK clients and nothing else. */
export interface BundleResult {
  readonly name: string;
  readonly kibibytes: number;
  readonly importMs: number;
  readonly plainKibibytes: number;
  readonly plainImportMs: number;
  /** Of a plain bundle that also makes the clients, as any function must. */
  readonly madeImportMs: number;
  /** Medians of the ratios of neighbouring runs: they hold when the machine's speed drifts. */
  readonly ratio: number;
  readonly ratioMade: number;
}

/** Measures every function's bundle, `runs` cold processes each, in turn with its plain counterparts. */
export function measureBundles(runs: number, progress: (what: string) => void): BundleResult[] {
  const directory = mkdtempSync(join(tmpdir(), 'emissor-bench-'));
  try {
    return functions(join(directory, 'cdk.out')).map(({ name, entry, environment }) => {
      progress(name);
      const ours = join(directory, `${name}.mjs`);
      const plain = join(directory, `${name}.plain.mjs`);
      const made = join(directory, `${name}.made.mjs`);
      const clients = clientsIn(bundleHandler(entry, ours));
      bundlePlain(importing(clients), plain);
      bundlePlain(making(clients), made);
      const contenders = [ours, plain, made];
      for (const bundle of contenders) importTime(bundle, environment); // warms the disk
      const times = new Map(contenders.map(bundle => [bundle, [] as number[]]));
      for (let run = 0; run < runs; run++)
        for (const bundle of rotated(contenders, run)) times.get(bundle)?.push(importTime(bundle, environment));
      const timesOf = (bundle: string): readonly number[] => times.get(bundle) ?? [];
      const ratioTo = (other: string): number =>
        median(timesOf(ours).map((time, run) => time / (timesOf(other)[run] ?? Number.NaN)));
      return {
        name,
        kibibytes: kibibytes(ours),
        importMs: median(timesOf(ours)),
        plainKibibytes: kibibytes(plain),
        plainImportMs: median(timesOf(plain)),
        madeImportMs: median(timesOf(made)),
        ratio: ratioTo(plain),
        ratioMade: ratioTo(made),
      };
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function kibibytes(path: string): number {
  return statSync(path).size / 1024;
}

/** Returns the functions of a stage, one per entry, with what their handlers read from the environment. */
function functions(outdir: string): { name: string; entry: string; environment: Record<string, string> }[] {
  const app = new App({ outdir, context: { 'aws:cdk:bundling-stacks': [] } });
  addStage(app, stageConfiguration('local'));
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

/** Returns the clients that a bundle has inside, by package. */
function clientsIn(inputs: readonly string[]): [string, string][] {
  return Object.entries(clientClasses).filter(([name]) => inputs.some(path => path.includes(`node_modules/${name}/`)));
}

/** Bundles as the functions are, but with all of the SDK: minified, with the same reader of credentials and stand-in for `node:process`. */
function bundlePlain(source: string, outfile: string): void {
  const resolveDir = join(import.meta.dirname, '../..');
  buildSync({ ...bundleOptions(outfile), stdin: { contents: source, resolveDir } });
}

/** Returns a module that does nothing but import clients. */
function importing(clients: readonly [string, string][]): string {
  return clients.map(([name, client]) => `export { ${client} } from '${name}';`).join('\n');
}

/** Returns a module that imports clients and makes one of each. */
function making(clients: readonly [string, string][]): string {
  return clients
    .map(([name, client], at) => {
      const made = client === 'DynamoDBDocumentClient' ? `${client}.from(client0)` : `new ${client}()`;
      return `import { ${client} } from '${name}';\nexport const client${at} = ${made};`;
    })
    .join('\n');
}

function importTime(bundle: string, environment: Record<string, string>): number {
  return Number(
    execFileSync(process.execPath, ['--input-type=module', '-e', importer, bundle], {
      encoding: 'utf8',
      env: { ...environment, AWS_REGION: 'sa-east-1', AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench' },
    }),
  );
}

/** The class that each client's package is imported for. */
const clientClasses: Record<string, string> = {
  '@aws-sdk/client-dynamodb': 'DynamoDBClient',
  '@aws-sdk/client-kms': 'KMSClient',
  '@aws-sdk/client-sns': 'SNSClient',
  '@aws-sdk/client-sqs': 'SQSClient',
  '@aws-sdk/lib-dynamodb': 'DynamoDBDocumentClient',
};

const importer = `
const start = performance.now();
await import(process.argv[1]);
process.stdout.write(String(performance.now() - start));
process.exit(0);`;
