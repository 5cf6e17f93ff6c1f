import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root, runNode } from './command.ts';
import type { Emulator } from './emulator.ts';
import { infidelities } from './infidelities.ts';

/** The values written into the file of each stage, so that the suites need not wait for hours, or for a lock to end. */
export const trialValues = {
  retrySchedule: '1s,1s,1s',
  attemptTimeout: '2s',
  addressFailureLimit: 100_000,
  clientFailureLimit: 100_000,
};
const attempts = trialValues.retrySchedule.split(',').length + 1;

/** Besides, for a stage that tests itself on a schedule: with a receiver of the functions' Internet, not one of the stage's own. */
export const smokeValues = { smokeReceiverUrl: 'https://receiver.example.com/smoke', smokeSchedule: '12h' };

/** The report of the suites. */
export interface EndToEndResult {
  readonly counts: Readonly<Record<'passed' | 'failed' | 'skipped', number>>;
  /** The number of tests that passed at their second attempt only. */
  readonly again: number;
  /** Problems beyond the infidelities of the emulator: one line each. */
  readonly problems: readonly string[];
  /** All output, for when there are problems. */
  readonly output: string;
}

/**
 * Runs the end-to-end suites, unchanged, against a deployed stage whose file has `trialValues`. Exactly the tests that the
 * infidelities name must fail.
 *
 * @param files - the suites by name (`token-grants`); all if there are none.
 * @param only - a part of the names of the tests to run; all if it is not there.
 */
export async function runEndToEnd(
  emulator: Emulator,
  outputsFile: string,
  { files = [], only }: { readonly files?: readonly string[]; readonly only?: string } = {},
): Promise<EndToEndResult> {
  const reportFile = `${outputsFile}.report.json`;
  writeFileSync(reportFile, '');
  const paths = files.map(name => `test/e2e/${name}.e2e.test.ts`);
  // Suites share a dead-letter queue. A reader hides its messages from the others for a moment, which is long here.
  const reporters = ['--retry=1', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const filter = only === undefined ? [] : ['--testNamePattern', RegExp.escape(only)];
  const { code, output } = await runNode({
    words: ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e', ...reporters, ...filter, ...paths],
    directory: root,
    environment: {
      ...emulator.environment,
      EMISSOR_TESTS: 'full',
      EMISSOR_OUTPUTS: outputsFile,
      EMISSOR_HOSTS: emulator.hostsFile,
      EMISSOR_ATTEMPTS: String(attempts),
    },
    limit: 480_000,
  });
  const text = readFileSync(reportFile, 'utf8');
  if (text === '') throw new Error(`The end-to-end suites ended with ${code} and no report:\n${output}`);
  const tests = readReport(JSON.parse(text));
  const again = output.match(/\(retry x1\)/g)?.length ?? 0;
  const skipped = only === undefined ? tests.filter(isSkipped).filter(({ file }) => !localSuites.includes(file)) : [];
  const { counts, problems } = judge(tests, new Set(tests.map(({ file }) => file)));
  return {
    counts,
    problems: [...problems, ...skipped.map(({ file, name }) => `${file}: "${name}" was skipped.`)],
    again,
    output,
  };
}

/** Suites about local runs: keys that are revoked, in a run of its own, lines of requests, and all that a run writes. */
const localSuites = ['ops-keys.long.e2e.test.ts', 'ops-requests.e2e.test.ts', 'secrets.e2e.test.ts'];

function isSkipped({ status }: ReportedTest): boolean {
  return ['pending', 'skipped', 'todo'].includes(status);
}

interface ReportedTest {
  readonly file: string;
  readonly name: string;
  readonly status: string;
  readonly message: string;
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

function judge(
  tests: readonly ReportedTest[],
  files: ReadonlySet<string>,
): Pick<EndToEndResult, 'counts' | 'problems'> {
  const count = (wanted: string) => tests.filter(({ status }) => status === wanted).length;
  const told = infidelities
    .flatMap(({ name, failing = [] }) => failing.map(([file, test]) => ({ name, file, test })))
    .filter(({ file }) => files.has(file));
  const isTold = (test: ReportedTest) => told.some(({ file, test: name }) => file === test.file && name === test.name);

  const unexpected = tests
    .filter(test => test.status === 'failed' && !isTold(test))
    .map(({ file, name, message }) => `${file}: "${name}" failed: ${message}`);
  const gone = told.flatMap(({ name, file, test: wanted }) => {
    const found = tests.find(test => test.file === file && test.name === wanted);
    if (!found) return [`infidelities.ts: "${name}" names "${wanted}" of ${file}, which is no test.`];
    return found.status === 'failed' ? [] : [`infidelities.ts: "${name}" names "${wanted}", but it ${found.status}.`];
  });
  const none = count('passed') === 0 ? ['No end-to-end test passed.'] : [];
  return {
    counts: { passed: count('passed'), failed: count('failed'), skipped: tests.filter(isSkipped).length },
    problems: [...unexpected, ...gone, ...none],
  };
}
