import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Runs a program with nothing but a PATH in its environment: no home, no region, no credentials. */
const runBare = (program: string, ...args: string[]) =>
  spawnSync(join(root, 'node_modules/.bin', program), args, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: `${join(root, 'node_modules/.bin')}:/usr/bin:/bin`, HOME: '/nonexistent' },
  });

/** Modules of Node that every bundle loads when it is imported. */
const usual = [
  ...['node:console', 'node:crypto', 'node:fs', 'node:fs/promises', 'node:https', 'node:module'],
  ...['node:os', 'node:path', 'node:stream', 'node:url', 'node:zlib'],
];
const sleeping = ['node:timers', 'node:timers/promises'];
const sending = ['node:dns/promises', 'node:net'];

/** By entry: the KiB that its bundle may have, the present size rounded up to the next five; and further modules of Node. */
const limits: Readonly<Record<string, readonly [kibibytes: number, modules: readonly string[]]>> = {
  'auth/endpoints/discovery': [275, ['node:timers']],
  'auth/endpoints/introspect': [320, ['node:timers']],
  'auth/endpoints/revoke': [315, ['node:timers']],
  'auth/endpoints/token': [340, ['node:timers']],
  'auth/keys/rotate-keys': [275, sleeping],
  'delivery/api/deliveries-api': [390, sleeping],
  'delivery/sweeper/sweep': [320, sleeping],
  'delivery/worker/deliver': [415, [...sleeping, ...sending, 'node:tls']],
  'smoke/receiver': [270, []],
  'smoke/scheduled-test': [325, sleeping],
  'webhooks/webhooks-api': [355, ['node:timers', ...sending]],
};

describe('synthesising without credentials', () => {
  let output: string;
  let exit: ReturnType<typeof runBare>;
  /** The bundle of each entry, by the entry's name: its source map names its sources. */
  let bundles: ReadonlyMap<string, string>;
  beforeAll(() => {
    output = mkdtempSync(join(tmpdir(), 'emissor-synth-'));
    exit = runBare('cdk', 'synth', '--quiet', '--strict', '--output', output, '-c', 'smokeSchedule=15m'); // all functions
    bundles = new Map(
      globSync('asset.*/index.mjs', { cwd: output }).map(path => [entryOf(join(output, path)), join(output, path)]),
    );
  });
  afterAll(() => rmSync(output, { recursive: true }));

  it('passes cdk-nag and CloudFormation validation', () => {
    expect(exit.stderr).toContain('Successfully synthesized');
    expect(exit.status).toBe(0);
  });

  it('gives each entry a bundle of its own, and each has its limits', () => {
    const entries = globSync('lambdas/**/*.handler.ts', { cwd: root }).map(nameOf).sort();
    expect(globSync('asset.*/index.mjs', { cwd: output })).toHaveLength(entries.length);
    expect(new Set([...bundles.values()].map(path => readFileSync(path, 'utf8'))).size).toBe(entries.length);
    expect([...bundles.keys()].sort()).toEqual(entries);
    expect(Object.keys(limits).sort()).toEqual(entries);
  });

  it.each(Object.entries(limits))('keeps the bundle of %s within its KiB and its modules of Node', (name, limit) => {
    const bundle = bundles.get(name) ?? '';
    const [kibibytes, modules] = limit;
    expect(statSync(bundle).size / 1024).toBeLessThanOrEqual(kibibytes);
    const specifiers = [...readFileSync(bundle, 'utf8').matchAll(/(?:from|import)\s*["'](node:[\w/]+)["']/g)];
    expect([...new Set(specifiers.map(([, specifier]) => specifier))].sort()).toEqual([...usual, ...modules].sort());
  });

  it('puts the client of SNS, which most processes never need, in a file that they do not load', async () => {
    const all = [...bundles.values()];
    const tellers = all.filter(path => readFileSync(path, 'utf8').includes('import("./client-sns.mjs")'));
    expect(tellers).toHaveLength(2); // one for the consumers, one for the sweeper
    for (const path of tellers) {
      expect(await import(join(dirname(path), 'client-sns.mjs'))).toHaveProperty('PublishCommand');
      expect(readFileSync(path, 'utf8')).not.toContain('AuthorizationErrorException');
    }
  });
});

describe('a mistake', () => {
  it('in the context ends the CDK with that line and no stack trace', () => {
    const { status, stderr } = runBare('cdk', 'synth', '--quiet', '-c', 'stage=no-such-stage');
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/^Unknown stage "no-such-stage": the stages are .*prod/m);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

function entryOf(bundle: string): string {
  const { sources } = JSON.parse(readFileSync(`${bundle}.map`, 'utf8')) as { readonly sources: readonly string[] };
  return nameOf(sources.find(source => source.endsWith('.handler.ts')) ?? '');
}

function nameOf(entry: string): string {
  return entry.replace(/^lambdas\//, '').replace(/\.handler\.ts$/, '');
}
