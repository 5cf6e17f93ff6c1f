import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonTestResults } from 'vitest/node';
import { root, runNode } from '../support/run-node.ts';

/** A test, as a run of suites reported it. */
export interface ReportedTest {
  readonly file: string;
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

/**
 * Runs the end-to-end suites. Vitest writes its report to a file. `options`: further options of Vitest, and the suites; all if none is named.
 *
 * @throws with all output if there is no report.
 */
export async function runEndToEndSuites(
  reportFile: string,
  environment: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): Promise<{ code: number | null; output: string; tests: readonly ReportedTest[] }> {
  writeFileSync(reportFile, '');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e', ...reporters, ...options];
  const { code, output } = await runNode({ words, directory: root, environment, limit: 480_000 });
  const text = readFileSync(reportFile, 'utf8');
  if (text === '') throw new Error(`The end-to-end suites ended with ${code} and no report:\n${output}`);
  const { testResults }: JsonTestResults = JSON.parse(text);
  return { code, output, tests: testResults.flatMap(testsOf) };
}

/** Returns whether a test was not run. */
export function isSkipped({ status }: ReportedTest): boolean {
  return ['pending', 'skipped', 'todo'].includes(status);
}

/** Returns the tests of a suite. One that could not be loaded, or whose set-up failed, has no test that did. */
function testsOf({ name, status, message, assertionResults }: JsonTestResults['testResults'][number]): ReportedTest[] {
  const file = path.basename(name);
  const tests = assertionResults.map(result => {
    const [failure = ''] = result.failureMessages ?? [];
    return { file, name: result.fullName.trim(), status: result.status, message: failure.split('\n')[0] ?? '' };
  });
  const isBroken = status === 'failed' && !tests.some(test => test.status === 'failed');
  return isBroken ? [...tests, { file, name: '(the suite)', status, message }] : tests;
}
