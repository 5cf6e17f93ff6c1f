import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root, runNode } from './run-node.ts';

/** A test, as a run of suites reported it. */
export interface ReportedTest {
  readonly file: string;
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

/** A run of the end-to-end suites. */
export interface SuiteRun {
  readonly code: number | null;
  readonly output: string;
  readonly tests: readonly ReportedTest[];
}

/**
 * Runs the end-to-end suites.
 *
 * @param reportFile - where Vitest writes its report.
 * @param options - further options of Vitest, and the suites; all suites if none is named.
 * @throws with all output where there is no report.
 */
export async function runEndToEndSuites(
  reportFile: string,
  environment: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): Promise<SuiteRun> {
  writeFileSync(reportFile, '');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const { code, output } = await runNode({
    words: ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e', ...reporters, ...options],
    directory: root,
    environment,
    limit: 480_000,
  });
  const text = readFileSync(reportFile, 'utf8');
  if (text === '') throw new Error(`The end-to-end suites ended with ${code} and no report:\n${output}`);
  return { code, output, tests: readReport(JSON.parse(text)) };
}

/** Returns whether a test was not run. */
export function isSkipped({ status }: ReportedTest): boolean {
  return ['pending', 'skipped', 'todo'].includes(status);
}

/** The report of Vitest's JSON reporter, which is Jest's. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

function readReport({ testResults }: Report): ReportedTest[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = path.basename(name);
    const tests = assertionResults.map(result => ({
      file,
      name: result.fullName.trim(),
      status: result.status,
      message: result.failureMessages?.[0]?.split('\n')[0] ?? '',
    }));
    const hasFailed = tests.some(test => test.status === 'failed');
    // A suite that could not be loaded, or whose set-up failed, has no test that did.
    return status === 'failed' && !hasFailed ? [...tests, { file, name: '(the suite)', status, message }] : tests;
  });
}
