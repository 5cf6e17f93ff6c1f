import type { TestProject } from 'vitest/node';
import type { Run } from '../e2e-target.ts';
import { summarize } from './summary.ts';

/**
 * Prints in one line which parts of the OpenAPI document the suites met.
 *
 * @throws when a whole run against a local run did not meet an answer that it can bring about.
 */
export function reportContract(run: Run, project: TestProject): void {
  const summary = summarize(run.contractFile);
  if (!summary) return;
  process.stdout.write(`\n${summary.text}\n`);
  if (run.processId === null || summary.missing.length === 0 || !isWhole(project)) return;
  throw new Error(`docs/api/*.openapi.json describe what no end-to-end test met: ${summary.missing.join('; ')}`);
}

/** Returns whether all suites ran, with all their tests, and none failed. */
function isWhole({ vitest }: TestProject): boolean {
  const { filenamePattern, state, config } = vitest as typeof vitest & { filenamePattern?: readonly string[] };
  return !filenamePattern?.length && !config.testNamePattern && state.getCountOfFailedTests() === 0;
}
