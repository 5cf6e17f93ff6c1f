import type { Emulator } from './emulator.ts';
import { failing } from './infidelities.ts';
import { isSkipped, type ReportedTest, runEndToEndSuites } from './suite-run.ts';

/** The values written into the file of each stage, so that the suites need not wait for hours, or for a lock to end. */
export const trialValues = {
  gradual: false, // the emulator has no CodeDeploy
  retrySchedule: '1s,1s,1s',
  attemptTimeout: '4s', // a busy machine takes two for what is at once elsewhere
  clientFailureLimit: 100_000,
  registrationLimit: 100_000,
};
const attempts = trialValues.retrySchedule.split(',').length + 1;

/** Besides, for a stage that tests itself on a schedule: with a receiver of the functions' Internet, not one of the stage's own. */
export const smokeValues = { smokeReceiverUrl: 'https://receiver.example.com/smoke', smokeSchedule: '12h' };

/** The report of the suites. */
export interface EndToEndResult {
  readonly counts: Readonly<Record<'passed' | 'failed' | 'skipped', number>>;
  /** The number of tests that passed at their second attempt only. */
  readonly again: number;
  /** Problems beyond what the emulator does otherwise: one line each. */
  readonly problems: readonly string[];
  /** All output, for when there are problems. */
  readonly output: string;
}

/**
 * Runs the end-to-end suites, unchanged, against a deployed stage whose file has `trialValues`. Exactly the tests that
 * `infidelities.ts` names must fail.
 */
export async function runEndToEnd(emulator: Emulator, outputsFile: string): Promise<EndToEndResult> {
  const environment = {
    ...emulator.environment,
    EMISSOR_TESTS: 'full',
    EMISSOR_OUTPUTS: outputsFile,
    EMISSOR_HOSTS: emulator.hostsFile,
    EMISSOR_ATTEMPTS: String(attempts),
  };
  // Suites share a dead-letter queue. A reader hides its messages from the others for a moment, which is long here. Some start ten
  // programs, while other drills take the processors.
  const options = ['--retry=1', '--testTimeout=180000'];
  const { tests, output } = await runEndToEndSuites(`${outputsFile}.report.json`, environment, options);
  const again = output.match(/\(retry x1\)/g)?.length ?? 0;
  const skipped = tests.filter(isSkipped).filter(({ file }) => !localSuites.includes(file));
  const { counts, problems } = judge(tests);
  return {
    counts,
    problems: [...problems, ...skipped.map(({ file, name }) => `${file}: "${name}" was skipped.`)],
    again,
    output,
  };
}

/** Suites about local runs: all that a run writes, and the deaths of its processes. */
const localSuites = ['secrets.e2e.test.ts', 'killed-processes.long.e2e.test.ts'];

function judge(tests: readonly ReportedTest[]): Pick<EndToEndResult, 'counts' | 'problems'> {
  const count = (wanted: string) => tests.filter(({ status }) => status === wanted).length;
  const isTold = (test: ReportedTest) => failing.some(([file, name]) => file === test.file && name === test.name);
  const unexpected = tests
    .filter(test => test.status === 'failed' && !isTold(test))
    .map(({ file, name, message }) => `${file}: "${name}" failed: ${message}`);
  const gone = failing.flatMap(([file, wanted]) => {
    const found = tests.find(test => test.file === file && test.name === wanted);
    if (!found) return [`infidelities.ts names "${wanted}" of ${file}, which is no test.`];
    return found.status === 'failed' ? [] : [`infidelities.ts names "${wanted}" of ${file}, but it ${found.status}.`];
  });
  const none = count('passed') === 0 ? ['No end-to-end test passed.'] : [];
  return {
    counts: { passed: count('passed'), failed: count('failed'), skipped: tests.filter(isSkipped).length },
    problems: [...unexpected, ...gone, ...none],
  };
}
