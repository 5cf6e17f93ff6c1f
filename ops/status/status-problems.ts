import { wireReasons } from '../../lambdas/webhooks/representation.ts';
import { isUnread, opsOf } from '../stage/operator.ts';
import { counted } from '../stage/sentences.ts';
import type { Facts, KeysView, QueueView } from './status-facts.ts';

export function alarmProblems({ alarms }: Pick<Facts, 'alarms'>): readonly string[] {
  if (isUnread(alarms) || alarms.firing.length === 0) return [];
  const { length: count } = alarms.firing;
  return [`${counted(count, 'alarm is', 'alarms are')} firing. docs/runbook.md has a section about each alarm.`];
}

export function backlogProblems({ queues, stage }: Pick<Facts, 'queues' | 'stage'>): readonly string[] {
  if (isUnread(queues)) return [];
  return queues.filter(isBehind).map(queue => backlogOf(queue, stage));
}

function backlogOf({ queue, waiting, inFlight, oldestSeconds }: QueueView, stage: string | null): string {
  const age = oldestSeconds === null ? '' : `, the oldest for ${oldestSeconds} s`;
  const wait = counted(waiting, 'message waits', 'messages wait');
  // A consumer that reads its queue has messages in flight.
  if (inFlight === 0) {
    return `${wait} in the ${queue} queue, none is in flight${age}. Check that the consumer of the queue runs. See docs/runbook.md, "EventsStuck".`;
  }
  const inFlightText = counted(inFlight, 'is', 'are');
  return `${wait} in the ${queue} queue, ${inFlightText} in flight${age}. "${opsOf(stage)} webhooks list --slow" shows the slow receivers.`;
}

/**
 * Returns whether a queue has too many messages or a message that is too old. CloudWatch reports the age of a message only until its third
 * receive. For queues other than the events queue, only waiting messages can be too old.
 */
function isBehind({ queue, waiting, inFlight, oldestSeconds }: QueueView): boolean {
  if (queue === 'dead letters') return false;
  const number = waiting + inFlight;
  if (number >= (oldestSeconds === null ? queueThreshold : stageQueueThreshold)) return true;
  return (queue === 'events' ? number : waiting) > 0 && (oldestSeconds ?? 0) > maxInQueue;
}

/** The threshold for waiting and in-flight messages if the age is unknown. A quiet run empties its queues within seconds. */
const queueThreshold = 25;

/** The threshold if the age is known. A busy stage has hundreds of attempts in flight. */
const stageQueueThreshold = 1_000;

/** The maximum age of a message, in seconds. */
const maxInQueue = 300;

export function deadLetterProblems({ queues, stage }: Pick<Facts, 'queues' | 'stage'>): readonly string[] {
  if (isUnread(queues)) return [];
  const dead = queues.find(({ queue }) => queue === 'dead letters');
  const count = dead ? dead.waiting + dead.inFlight : 0;
  return count === 0 ? [] : [`${counted(count, 'dead-letter message')}. "${opsOf(stage)} dlq list" shows the reasons.`];
}

export function webhookProblems(
  { webhooks, stage }: Pick<Facts, 'webhooks' | 'stage'>,
  now: number,
): readonly string[] {
  if (isUnread(webhooks)) return [];
  const failingLong = webhooks.failing.filter(({ since }) => Date.parse(since) <= now - day);
  // A suspension by an operator is not a problem.
  const suspended = webhooks.suspended.filter(({ reason }) => reason !== wireReasons.operator);
  const list = `${opsOf(stage)} webhooks list`;
  return [
    ...describeWebhooks(failingLong, 'failing for over a day', `${list} --failing`),
    ...describeWebhooks(suspended, 'suspended after failures', `${list} --suspended`),
  ];
}

/** Returns a sentence about webhooks with the same problem, with the first one as an example. */
function describeWebhooks(found: readonly UnhealthyWebhook[], what: string, command: string): readonly string[] {
  const [first] = found;
  if (!first) return [];
  const since = first.since === undefined ? '' : ` since ${first.since}`;
  const example = `${first.account} for ${first.event}${since}`;
  return [`${counted(found.length, 'webhook')} ${what} (${example}). Run: ${command}`];
}

/** A webhook, with the start of its failures, if known. */
interface UnhealthyWebhook {
  readonly account: string;
  readonly event: string;
  readonly since?: string;
}

const day = 86_400_000;

export function keyProblems({ keys, stage }: Pick<Facts, 'keys' | 'stage'>, now: number): readonly string[] {
  if (isUnread(keys)) return [];
  return keys.flatMap(key => keyProblem(key, `"${opsOf(stage)} keys rotate" creates the key`, now));
}

function keyProblem({ kind: key, activeSince, nextCreatedAt }: KeysView, next: string, now: number): readonly string[] {
  if (activeSince === null) {
    return [`there is no ${key} key, which the service requires. ${next}.`];
  }
  if (nextCreatedAt === null || now - Date.parse(nextCreatedAt) <= maxRotationDelay) return [];
  return [`the next ${key} key has been due since ${nextCreatedAt}. Check the daily rotation. ${next}.`];
}

/** The maximum delay of a due key, in milliseconds. The rotation runs once a day. */
const maxRotationDelay = 26 * 3_600_000;
