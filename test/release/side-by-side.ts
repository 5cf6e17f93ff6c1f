import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { startLocalRun } from '../../tools/support/local-run.ts';
import { isSkipped, runEndToEndSuites } from '../support/suite-run.ts';
import type { Releases } from './set-up.ts';

/**
 * Expects the end-to-end suite of the previous release to pass while each release serves every second invocation: of what this one
 * adds, or does differently, that release knows nothing, and every second request is its.
 */
export async function expectBothToServe({ current, previous }: Releases): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-side-by-side-'));
  try {
    const hostsFile = path.join(folder, 'hosts.json');
    writeFileSync(hostsFile, '{}');
    const run = await startLocalRun(
      ...['--assembly', current.assembly, '--beside', previous.assembly, '--hosts', hostsFile],
    );
    let output = '';
    const suite = await runEndToEndSuites(previous.root, path.join(folder, 'report.json'), {
      EMISSOR_OUTPUTS: run.outputsFile,
      EMISSOR_HOSTS: hostsFile,
      EMISSOR_ATTEMPTS: '4',
    }).finally(async () => {
      output = await run.stop();
    });
    const { tests } = suite;
    const passed = tests.filter(({ status }) => status === 'passed').length;
    console.info(`${previous.version}'s end-to-end suite against both releases: ${passed} tests passed.`);
    expect(tests.filter(({ status }) => status === 'failed')).toEqual([]);
    expect(suite.code, suite.output).toBe(0);
    const skipped = tests.filter(isSkipped).map(({ name }) => name);
    expect(skipped.filter(name => !name.startsWith('what the functions write'))).toEqual([]); // needs the log of its run
    expect(passed).toBeGreaterThan(0);
    expectBothServed(output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Expects that the run says, when it stops, of each function that both releases served some of its invocations. */
function expectBothServed(output: string): void {
  const lines = output.matchAll(/beside +(\S+): (\d+) invocations by this release, (\d+) by the other/g);
  const served = Array.from(lines, ([, name = '', own, other]) => [name, Number(own), Number(other)] as const);
  console.info(`Invocations by this release and by the other: ${JSON.stringify(served)}`);
  expect(served.map(([name]) => name)).toEqual(expect.arrayContaining(['auth/token', 'delivery/deliver-first']));
  for (const [name, own, other] of served) {
    if (runsOnItsOwn.test(name)) continue;
    expect(own, name).toBeGreaterThan(0);
    expect(other, name).toBeGreaterThan(0);
  }
}

/** Functions that run once a day, once a minute, or in deployments only, such as the one with which the CDK calls AWS itself. */
const runsOnItsOwn = /rotate-keys|sweep|custom-resource-provider|aws679f53fac/;
