import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { bundleHandler } from '../../lib/constructs/bundle.ts';

const root = path.join(import.meta.dirname, '../..');
const directory = mkdtempSync(path.join(tmpdir(), 'emissor-bundles-'));
afterAll(() => rmSync(directory, { recursive: true }));

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
  'auth/endpoints/introspect': [315, ['node:timers']],
  'auth/endpoints/revoke': [315, ['node:timers']],
  'auth/endpoints/token': [340, ['node:timers']],
  'auth/keys/rotate-keys': [275, sleeping],
  'delivery/api/deliveries-api': [385, sleeping],
  'delivery/sweeper/sweep': [315, sleeping],
  'delivery/worker/deliver': [400, [...sleeping, ...sending, 'node:tls']],
  'smoke/receiver': [270, []],
  'smoke/scheduled-test': [325, sleeping],
  'webhooks/webhooks-api': [350, ['node:timers', ...sending]],
};

it('every entry has its limits', () => {
  const entries = globSync('lambdas/**/*.handler.ts', { cwd: root }).map(entry => entry.replace(/^lambdas\//, ''));
  expect(entries.sort()).toEqual(Object.keys(limits).map(name => `${name}.handler.ts`));
});

it.each(Object.entries(limits))('the bundle of %s stays within its KiB and its modules of Node', (name, limit) => {
  const bundle = path.join(directory, `${name.replaceAll('/', '-')}.mjs`);
  bundleHandler(`lambdas/${name}.handler.ts`, bundle);
  const [kibibytes, modules] = limit;
  expect(statSync(bundle).size / 1024).toBeLessThanOrEqual(kibibytes);
  const specifiers = [...readFileSync(bundle, 'utf8').matchAll(/(?:from|import)\s*["'](node:[\w/]+)["']/g)];
  expect([...new Set(specifiers.map(([, specifier]) => specifier))].sort()).toEqual([...usual, ...modules].sort());
});
