import { isEventName } from '../../../lambdas/webhooks/webhook.ts';
import { documents } from './document.ts';
import { readMet } from './observer.ts';
import { type Answered, allAnswers } from './responses.ts';
import { isBeyondTests } from './unmet.ts';

/** The parts of the document that the suites met. */
export interface Summary {
  /** One line for people. */
  readonly text: string;
  /** The described answers that were never met, although a test can bring them about, a line each. */
  readonly missing: readonly string[];
}

/** Sums up what all processes have met; `undefined` where they met nothing. */
export function summarize(file: string): Summary | undefined {
  const met = readMet(file);
  if (met.length === 0) return undefined;
  const keys = new Set(met.map(({ answered }) => keyOf(answered)));
  const events = Object.keys(documents.base.webhooks ?? {}).filter(isEventName);
  const described = [
    ...allAnswers(),
    ...events.map(event => ({ operation: `deliver.${event}`, status: '', code: '' })),
  ];
  const unmet = described.filter(answered => !keys.has(keyOf(answered)));
  const missing = unmet.filter(answered => !isBeyondTests(answered)).map(keyOf);

  const isDelivery = ({ operation }: Answered) => operation.startsWith('deliver.');
  const operations = new Set(allAnswers().map(({ operation }) => operation));
  const metAnswers = described.filter(answered => keys.has(keyOf(answered)) && !isDelivery(answered));
  const sum = (wanted: (answered: Answered) => boolean) =>
    met.filter(({ answered }) => wanted(answered)).reduce((total, { count }) => total + count, 0);
  const text = [
    `${new Set(metAnswers.map(({ operation }) => operation)).size} of ${operations.size} operations`,
    `${new Set(metAnswers.map(({ status }) => status)).size} statuses`,
    `${new Set(metAnswers.map(({ code }) => code).filter(code => code !== '')).size} codes`,
    `${metAnswers.length} of ${described.length - events.length} described answers`,
    `${sum(answered => !isDelivery(answered))} responses and ${sum(isDelivery)} deliveries checked`,
    `${unmet.length - missing.length} that no test can bring about`,
    `${missing.length || 'no'} others unmet`,
  ].join(', ');
  return { text: `Contract: ${text}.`, missing };
}

function keyOf({ operation, status, code }: Answered): string {
  return [operation, status, code].filter(part => part !== '').join(' ');
}
