import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonTestResults } from 'vitest/node';
import { root, runNode } from '../support/run-node.ts';
import type { Emulator } from './emulator.ts';
import { expectedFailures } from './emulator-differences.ts';

/** The values for the file of each stage. With these values, tests do not wait for long retries or lockouts. */
export const trialValues = {
  gradual: false, // the emulator has no CodeDeploy
  retrySchedule: '1s,1s,1s',
  attemptTimeout: '4s', // a response takes up to 2 s on a busy machine
  clientFailureLimit: 100_000,
  registrationLimit: 100_000,
};
const attempts = trialValues.retrySchedule.split(',').length + 1;

/** Additional values for a stage with scheduled smoke tests. Their receiver is in the functions' emulated Internet. */
export const smokeValues = { smokeReceiverUrl: 'https://receiver.example.com/smoke', smokeSchedule: '12h' };

/** Runs the end-to-end tests against a deployed stage with `trialValues`. Exactly the tests that `emulator-differences.ts` lists must fail. */
export async function runEndToEnd(emulator: Emulator, outputsFile: string) {
  const environment = {
    ...emulator.environment,
    EMISSOR_TESTS: 'full',
    EMISSOR_OUTPUTS: outputsFile,
    EMISSOR_HOSTS: emulator.hostsFile,
    EMISSOR_ATTEMPTS: String(attempts),
  };
  // Readers of the shared dead-letter queue hide messages from each other, so tests may need a retry. Other drills slow down the tests.
  const options = ['--retry=1', '--testTimeout=180000'];
  const reportFile = `${outputsFile}.report.json`;
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e', ...reporters, ...options];
  const { output } = await runNode({ args: words, directory: root, environment, timeout: 480_000 });
  const { testResults }: JsonTestResults = existsSync(reportFile)
    ? JSON.parse(readFileSync(reportFile, 'utf8'))
    : { testResults: [] };
  const tests = testResults.flatMap(testsOf);
  const retried = output.match(/\(retry x1\)/g)?.length ?? 0; // passed only on the second attempt
  return { counts: countsOf(tests), retried, problems: problemsIn(tests), output };
}

/** The suite that reads the log file of a local run. A deployed stage has no such file. */
const localSuite = 'secrets.e2e.test.ts';

interface ReportedTest {
  readonly file: string;
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly message: string;
}

function countsOf(tests: readonly ReportedTest[]): Readonly<Record<ReportedTest['status'], number>> {
  const count = (expected: string) => tests.filter(({ status }) => status === expected).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

/** Returns one line for each problem that is not a known difference between the emulator and AWS. */
function problemsIn(tests: readonly ReportedTest[]): readonly string[] {
  const isExpected = (test: ReportedTest) =>
    expectedFailures.some(([file, name]) => file === test.file && name === test.name);
  const unexpected = tests
    .filter(test => test.status === 'failed' && !isExpected(test))
    .map(({ file, name, message }) => `${file}: "${name}" failed: ${message}`);
  const skipped = tests
    .filter(({ status, file }) => status === 'skipped' && file !== localSuite)
    .map(({ file, name }) => `${file}: "${name}" was skipped.`);
  const obsolete = expectedFailures.flatMap(([file, name]) => {
    const status = tests.find(test => test.file === file && test.name === name)?.status ?? 'missing';
    return status === 'failed'
      ? []
      : [`emulator-differences.ts lists "${name}" of ${file}, but its status is ${status}.`];
  });
  const noneMessages = countsOf(tests).passed === 0 ? ['No end-to-end test passed.'] : [];
  return [...unexpected, ...skipped, ...obsolete, ...noneMessages];
}

/** Returns the tests of a suite. A suite that failed to load or set up counts as a failed test. */
function testsOf({ name, status, message, assertionResults }: JsonTestResults['testResults'][number]): ReportedTest[] {
  const file = path.basename(name);
  const tests = assertionResults.map(result => {
    const [failure = ''] = result.failureMessages ?? [];
    const outcome = result.status === 'passed' || result.status === 'failed' ? result.status : 'skipped';
    return { file, name: result.fullName.trim(), status: outcome, message: failure.split('\n')[0] ?? '' } as const;
  });
  const isBroken = status === 'failed' && !tests.some(test => test.status === 'failed');
  return isBroken ? [...tests, { file, name: '(the suite)', status, message }] : tests;
}
