import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleHandlers, bundleOptions } from '../../lib/constructs/bundle.ts';

const root = join(import.meta.dirname, '../..');

/** Runs a program without a home directory, Region or credentials in its environment. */
const runProgram = (program: string, ...args: string[]) =>
  spawnSync(join(root, 'node_modules/.bin', program), args, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: `${join(root, 'node_modules/.bin')}:/usr/bin:/bin`, HOME: '/nonexistent' },
  });

/** The Node.js modules that every bundle with the SDK imports. */
const usualModules = [
  ...['node:crypto', 'node:fs', 'node:fs/promises', 'node:https', 'node:os'],
  ...['node:path', 'node:stream', 'node:timers/promises'],
];
const resolverModules = ['node:dns/promises', 'node:net', 'node:timers'];

/** The maximum size of each entry's bundle (the current size, rounded up to 5 KiB), and its Node.js modules in addition to the usual ones. */
const limits: Readonly<
  Record<string, readonly [kibibytes: number, more?: readonly string[], usual?: readonly string[]]>
> = {
  'auth/endpoints/discovery': [235, ['node:timers']],
  'auth/endpoints/introspect': [270, ['node:timers']],
  'auth/endpoints/revoke': [275, ['node:timers']],
  'auth/endpoints/token': [275, ['node:timers', 'node:url']],
  'auth/keys/rotate-keys': [235, ['node:timers']],
  'base-api/deliveries-api': [345, ['node:timers']],
  'base-api/webhooks-api': [320, resolverModules],
  'delivery/sweeper/sweep': [265, ['node:timers']],
  'delivery/consumer/deliver': [350, [...resolverModules, 'node:tls']],
  'platform/deployment/pre-traffic': [80, ['node:timers'], ['node:crypto', 'node:timers/promises']],
  'smoke/receiver': [5],
  'smoke/scheduled-test': [265, ['node:timers']],
};

/** The bundled files that use randomness, and their purpose. */
const randomness: Readonly<Record<string, string>> = {
  'lambdas/platform/random.ts': 'all random values in our code',
  'node_modules/@aws-sdk/endpoint-cache/dist-es/EndpointCache.js': 'the choice of an endpoint',
  'node_modules/@smithy/core/dist-es/submodules/client/util-waiter/poller.js': 'the pauses between polls',
  'node_modules/@smithy/core/dist-es/submodules/retry/util-retry/DefaultRetryBackoffStrategy.js':
    'the pauses between retries',
  'node_modules/@smithy/core/dist-es/submodules/serde/index.js': 'the ids of calls',
  'node_modules/@smithy/core/dist-es/submodules/serde/uuid/v4.js': 'the ids of calls',
  'node_modules/bcryptjs/index.js': 'salts of new hashes, which the service never creates',
  'node_modules/zod/v4/core/util.js': 'an unused helper for random strings',
};

describe('a synthesis without credentials', () => {
  let output: string;
  let exit: ReturnType<typeof runProgram>;
  /** The path of each entry's bundle, by the entry's name. */
  let bundles: ReadonlyMap<string, string>;
  let sources: readonly string[];
  beforeAll(() => {
    sources = bundledSources();
    output = mkdtempSync(join(tmpdir(), 'emissor-synth-'));
    exit = runProgram('cdk', 'synth', '--quiet', '--strict', '--output', output, '-c', 'smokeSchedule=15m'); // all functions
    const handlers = bundleHandlers(globSync('lambdas/**/*.handler.ts', { cwd: root }));
    const names = new Map(
      [...handlers].map(([entry, files]) => [Buffer.from(files.get('index.mjs') ?? '').toString(), nameOf(entry)]),
    );
    bundles = new Map(
      globSync('asset.*/index.mjs', { cwd: output }).map(path => {
        const bundle = join(output, path);
        return [names.get(readFileSync(bundle, 'utf8')) ?? path, bundle];
      }),
    );
  });
  afterAll(() => rmSync(output, { recursive: true }));

  it('passes cdk-nag and CloudFormation validation', () => {
    expect(exit.stderr).toContain('Successfully synthesized');
    expect(exit.status).toBe(0);
  });

  it('creates one bundle for each entry in the table of limits', () => {
    const entries = globSync('lambdas/**/*.handler.ts', { cwd: root }).map(nameOf).sort();
    expect(globSync('asset.*/index.mjs', { cwd: output })).toHaveLength(entries.length);
    expect(new Set([...bundles.values()].map(path => readFileSync(path, 'utf8'))).size).toBe(entries.length);
    expect([...bundles.keys()].sort()).toEqual(entries);
    expect(Object.keys(limits).sort()).toEqual(entries);
  });

  it.each(Object.entries(limits))('keeps the bundle of %s within its limits', (name, limit) => {
    const bundle = bundles.get(name) ?? '';
    const [kibibytes, more, usual = usualModules] = limit;
    expect(statSync(bundle).size / 1024).toBeLessThanOrEqual(kibibytes);
    const specifiers = [...readFileSync(bundle, 'utf8').matchAll(/(?:from|import)\s*["'](node:[\w/]+)["']/g)];
    expect([...new Set(specifiers.map(([, specifier]) => specifier))].sort()).toEqual(
      more ? [...usual, ...more].sort() : [],
    );
  });

  it.each(['auth/endpoints/token', 'auth/endpoints/introspect', 'delivery/sweeper/sweep'])(
    'creates the same bundle of %s without the other entries',
    name => {
      const entry = `lambdas/${name}.handler.ts`;
      const directory = dirname(bundles.get(name) ?? '');
      const alone = [...(bundleHandlers([entry]).get(entry) ?? [])];
      expect(alone.map(([file]) => file).sort()).toEqual(globSync('*', { cwd: directory }).sort());
      for (const [file, content] of alone)
        expect(readFileSync(join(directory, file)).equals(Buffer.from(content))).toBe(true);
    },
  );

  it('bundles only our functions and their libraries', () => {
    for (const source of sources) expect(source).toMatch(/^(?:lambdas|node_modules)\//);
  });

  it('bundles only known sources of randomness', () => {
    const random = sources.filter(source =>
      /randomBytes|randomFill|randomInt|getRandomValues|randomUUID|Math\.random/.test(
        readFileSync(join(root, source), 'utf8'),
      ),
    );
    expect(random.toSorted()).toEqual(Object.keys(randomness));
  });

  it('puts the SNS client, which few processes need, into a separate file', async () => {
    const all = [...bundles.values()];
    const publishers = all.filter(path => readFileSync(path, 'utf8').includes('import("./client-sns.mjs")'));
    expect(publishers).toHaveLength(2); // the consumers and the sweeper
    for (const path of publishers) {
      expect(await import(join(dirname(path), 'client-sns.mjs'))).toHaveProperty('PublishCommand');
      expect(readFileSync(path, 'utf8')).not.toContain('AuthorizationErrorException');
    }
  });
});

describe('an unknown stage in the context', () => {
  it('stops the CDK with a one-line error and no stack trace', () => {
    const { status, stderr } = runProgram('cdk', 'synth', '--quiet', '-c', 'stage=no-such-stage');
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/^Unknown stage "no-such-stage": the stages are .*prod/m);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

/** Returns the paths of all source files that contribute at least 1 byte to a bundle. */
function bundledSources(): readonly string[] {
  const entryPoints = globSync('lambdas/**/*.handler.ts', { cwd: root });
  const { metafile } = buildSync({ ...bundleOptions(), entryPoints, outdir: 'none', write: false, metafile: true });
  const inputs = Object.values(metafile.outputs).flatMap(output => Object.entries(output.inputs));
  return [...new Set(inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])))];
}

function nameOf(entry: string): string {
  return entry.replace(/^lambdas\//, '').replace(/\.handler\.ts$/, '');
}
