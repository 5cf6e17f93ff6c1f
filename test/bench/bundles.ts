import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { buildSync } from 'esbuild';
import { stageConfiguration } from '../../lib/config.ts';
import { bundleHandler, bundleOptions } from '../../lib/constructs/bundle.ts';
import { NodeFunction } from '../../lib/constructs/node-function.ts';
import { addStage } from '../../lib/stage.ts';
import { median } from './figures.ts';

/** One function's bundle beside a plain bundle that imports the same SDK clients and nothing else. */
export interface BundleFigures {
  readonly name: string;
  readonly kibibytes: number;
  readonly importMs: number;
  readonly plainKibibytes: number;
  readonly plainImportMs: number;
  /** Median of the ratios of neighbouring runs: it holds when the machine's speed drifts. */
  readonly ratio: number;
}

const importer = `
const start = performance.now();
await import(process.argv[1]);
process.stdout.write(String(performance.now() - start));
process.exit(0);`;

const importTime = (bundle: string, environment: Record<string, string>): number =>
  Number(
    execFileSync(process.execPath, ['--input-type=module', '-e', importer, bundle], {
      encoding: 'utf8',
      env: { ...environment, AWS_REGION: 'sa-east-1', AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench' },
    }),
  );

const kibibytes = (path: string): number => statSync(path).size / 1024;

/** The functions of a stage, one per entry, with what their handlers read from the environment. */
const functions = (): { name: string; entry: string; environment: Record<string, string> }[] => {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
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
};

/** The class that each client's package is imported for. */
const clientClasses: Record<string, string> = {
  '@aws-sdk/client-dynamodb': 'DynamoDBClient',
  '@aws-sdk/client-kms': 'KMSClient',
  '@aws-sdk/client-sns': 'SNSClient',
  '@aws-sdk/client-sqs': 'SQSClient',
  '@aws-sdk/lib-dynamodb': 'DynamoDBDocumentClient',
};

/** A module that does nothing but import the clients that a bundle has inside. */
const plainSource = (inputs: readonly string[]): string =>
  Object.entries(clientClasses)
    .filter(([name]) => inputs.some(path => path.includes(`node_modules/${name}/`)))
    .map(([name, client]) => `export { ${client} } from '${name}';`)
    .join('\n');

/** Measures every function's bundle, `runs` cold processes each, in turn with its plain counterpart. */
export const measureBundles = (runs: number): BundleFigures[] => {
  const directory = mkdtempSync(join(tmpdir(), 'emissor-bench-'));
  try {
    return functions().map(({ name, entry, environment }) => {
      const ours = join(directory, `${name}.mjs`);
      const plain = join(directory, `${name}.plain.mjs`);
      const inputs = bundleHandler(entry, ours);
      const source = join(directory, `${name}.ts`);
      writeFileSync(source, plainSource(inputs));
      const { alias: _, ...options } = bundleOptions(plain);
      buildSync({ ...options, entryPoints: [source], nodePaths: [join(import.meta.dirname, '../../node_modules')] });
      importTime(ours, environment); // warms the disk
      importTime(plain, {});
      const pairs = Array.from({ length: runs }, () => [importTime(ours, environment), importTime(plain, {})] as const);
      return {
        name,
        kibibytes: kibibytes(ours),
        importMs: median(pairs.map(([time]) => time)),
        plainKibibytes: kibibytes(plain),
        plainImportMs: median(pairs.map(([, time]) => time)),
        ratio: median(pairs.map(([time, plainTime]) => time / plainTime)),
      };
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
};
