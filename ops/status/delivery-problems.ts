import { isUnread, opsOf } from '../stage/operator.ts';
import { counted } from '../stage/sentences.ts';
import type { OverdueCause, OverdueDeliveries, OverdueGroup } from './overdue-deliveries.ts';
import type { DeliveriesView } from './status-deliveries.ts';
import type { Facts } from './status-facts.ts';

/** Finds overdue, failed and held deliveries. Returns a sentence about each account and event, or about each state. */
export function deliveryProblems({ deliveries, stage }: Pick<Facts, 'deliveries' | 'stage'>): readonly string[] {
  if (isUnread(deliveries)) return [];
  const list = `${opsOf(stage)} deliveries list`;
  return [
    ...overdueDeliveries(deliveries.late, opsOf(stage)),
    ...endedDeliveries(deliveries, 'failed', `${list} --state failed`),
    ...endedDeliveries(deliveries, 'held', `${list} --state held`),
  ];
}

function overdueDeliveries({ groups, isCutOff }: OverdueDeliveries, ops: string): readonly string[] {
  const sentences = groups.slice(0, maxSentences).map(group => `${atLeast(isCutOff)}${describeGroup(group, ops)}`);
  const count = groups.length - sentences.length;
  if (count === 0) return sentences;
  const number = counted(count, 'more account and event has', 'more accounts and events have');
  return [...sentences, `${number} overdue deliveries. --json shows all of them.`];
}

/** The maximum number of sentences about overdue deliveries of an account and event. */
const maxSentences = 5;

function describeGroup({ account, event, cause, count, since, first }: OverdueGroup, ops: string): string {
  const number = counted(count, 'delivery', 'deliveries');
  const section = cause === 'internal error' ? 'InternalErrors' : 'RetriesLate';
  return `${number} of account ${account} for ${event} ${overdueReasons[cause]} ${since}. "${ops} deliveries show ${first}" shows the first one. See docs/runbook.md, "${section}".`;
}

function atLeast(isCutOff: boolean): string {
  return isCutOff ? 'at least ' : '';
}

const overdueReasons: Readonly<Record<OverdueCause, string>> = {
  'internal error': 'stopped by an internal error, with the next attempt at',
  overdue: 'overdue since',
};

/** Returns a sentence about the deliveries in a state, with the webhook that has the most. */
function endedDeliveries(view: DeliveriesView, kind: 'failed' | 'held', command: string): readonly string[] {
  const groups = view[kind];
  const [largest] = groups;
  if (!largest) return [];
  const { account, event } = largest;
  const count = groups.reduce((sum, { count }) => sum + count, 0);
  const number = `${atLeast(view.isCutOff)}${counted(count, `${kind} delivery`, `${kind} deliveries`)}`;
  return [
    `${number}, ${largest.count} of account ${account} for ${event}. Run: ${command} --account ${account} --event ${event}`,
  ];
}
