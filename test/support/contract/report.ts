import type { TestProject } from 'vitest/node';
import { isEventName } from '../../../lambdas/webhooks/webhook.ts';
import type { Run } from '../e2e-target.ts';
import { documents } from './document.ts';
import { type Answered, allAnswers } from './judge.ts';
import { readMet } from './observer.ts';

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

/**
 * Sums up what all processes have met; `undefined` if they met nothing. `missing`: the described answers that were never met, although a test
 * can bring them about.
 */
function summarize(file: string): { text: string; missing: readonly string[] } | undefined {
  const met = new Set(readMet(file).map(keyOf));
  if (met.size === 0) return undefined;
  const events = Object.keys(documents.base.webhooks ?? {}).filter(isEventName);
  const deliveries = events.map(event => ({ operation: `deliver.${event}`, status: '', code: '' }));
  const described = [...allAnswers(), ...deliveries];
  const unmet = described.filter(answered => !met.has(keyOf(answered)));
  const missing = unmet.filter(answered => !isBeyondTests(answered)).map(keyOf);
  const text = [
    `${described.length - unmet.length} of ${described.length} described answers and deliveries`,
    `${unmet.length - missing.length} that no test can bring about`,
    `${missing.length || 'no'} others unmet`,
  ].join(', ');
  return { text: `Contract: ${text}.`, missing };
}

function keyOf({ operation, status, code }: Answered): string {
  return [operation, status, code].filter(part => part !== '').join(' ');
}

/**
 * Returns whether an answer cannot occur or show in a healthy run. Unit tests cover 500, 503 and limits of 100,000 a minute. HEAD does not
 * show which answer of a status it is, and `fetch` sends no body with GET.
 */
function isBeyondTests({ operation, status, code }: Answered): boolean {
  return (
    ['500', '503'].includes(status) ||
    ['client_rate_limit', 'gateway'].includes(code) ||
    (['registerWebhook', 'replaceWebhook'].includes(operation) && code === 'rate_limited') ||
    (operation.endsWith('Head') && ['413', '429', '431'].includes(status)) ||
    (/^(?:list|get)/.test(operation) && code === 'payload_too_large')
  );
}
