import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, type ProvidedContext } from 'vitest';
import { startLocalRun } from '../../tools/support/local-run.ts';
import type { SynthesisedRelease } from './set-up.ts';

/** Expects the end-to-end suite of the previous release to pass while each release serves every second invocation. */
export async function expectBothToServe({ current, previous }: ProvidedContext['releases']): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-side-by-side-'));
  try {
    await expectBothToServeIn(folder, current, previous);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function expectBothToServeIn(
  folder: string,
  current: SynthesisedRelease,
  previous: SynthesisedRelease,
): Promise<void> {
  const hostsFile = path.join(folder, 'hosts.json');
  writeFileSync(hostsFile, '{}');
  const run = await startLocalRun(
    ...['--assembly', current.assembly, '--beside', previous.assembly, '--hosts', hostsFile],
  );
  const suite = await runSuite(previous.root, folder, {
    EMISSOR_OUTPUTS: run.outputsFile,
    EMISSOR_HOSTS: hostsFile,
    EMISSOR_ATTEMPTS: '4',
  });
  const output = await run.stop();
  const { passed, failed, skipped } = suite;
  console.info(`${previous.version}'s end-to-end suite against both releases: ${passed} tests passed.`);
  expect(failed).toEqual([]);
  expect(suite.code, suite.output).toBe(0);
  expect(skipped.filter(name => !name.startsWith('what the functions write'))).toEqual([]); // needs the log of its run
  expect(passed).toBeGreaterThan(0);

  const served = servedBy(output);
  console.info(`Invocations by this release and by the other: ${JSON.stringify(Object.fromEntries(served))}`);
  expect([...served.keys()]).toEqual(expect.arrayContaining(['auth/token', 'delivery/deliver-first']));
  for (const [name, [own, other]] of served) {
    if (runsOnItsOwn.test(name)) continue;
    expect(own, name).toBeGreaterThan(0);
    expect(other, name).toBeGreaterThan(0);
  }
}

/**
 * Runs the end-to-end suite of the previous release: of what this one adds, or does differently, that release knows nothing,
 * and every second request is its.
 */
async function runSuite(root: string, folder: string, environment: Record<string, string>) {
  const reportFile = path.join(folder, 'report.json');
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const outerRun = Object.keys(process.env).filter(name => name.startsWith('VITEST'));
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--project', 'e2e', '--reporter', 'json', '--outputFile', reportFile],
    {
      cwd: root,
      env: { ...process.env, ...Object.fromEntries(outerRun.map(name => [name, undefined])), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [[code], ...written] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8')) as SuiteReport;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    code,
    output: written.join('\n'),
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: [
      ...tests.filter(({ status }) => status === 'failed').map(test => [test.fullName, ...test.failureMessages]),
      ...testResults.filter(isFailedAsAWhole).map(({ name, message }) => [name, message]),
    ],
    skipped: tests.filter(({ status }) => !['passed', 'failed'].includes(status)).map(({ fullName }) => fullName),
  };
}

/** A suite that could not be loaded or prepared: its tests are skipped or not there. */
function isFailedAsAWhole({ status, assertionResults }: SuiteReport['testResults'][number]): boolean {
  return status === 'failed' && !assertionResults.some(test => test.status === 'failed');
}

/** As Vitest's JSON reporter writes it. */
interface SuiteReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Returns the number of invocations of each release, by function, as the run says when it stops. */
function servedBy(output: string): ReadonlyMap<string, readonly [own: number, other: number]> {
  const lines = output.matchAll(/beside +(\S+): (\d+) invocations by this release, (\d+) by the other/g);
  return new Map(Array.from(lines, ([, name = '', own, other]) => [name, [Number(own), Number(other)]]));
}

/** Functions that run once a day, once a minute, or in deployments only, such as the one with which the CDK calls AWS itself. */
const runsOnItsOwn = /rotate-keys|sweep|custom-resource-provider|aws679f53fac/;
