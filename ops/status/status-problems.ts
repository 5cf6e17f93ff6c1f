import { wireReasons } from '../../lambdas/webhooks/representation.ts';
import { isUnread } from '../stage/operator.ts';
import type { StageStacks } from '../stage/stage-stacks.ts';
import { awsProblems } from './aws-view.ts';
import { deliveryProblems } from './delivery-problems.ts';
import { counted, opsOf } from './sentences.ts';
import { stageProblems } from './stage-problems.ts';
import type { Facts, KeysView, QueueView } from './status-facts.ts';

/**
 * Finds what needs somebody, each in a sentence with what to do, the worst first.
 *
 * @param now - milliseconds since the epoch.
 */
export function findProblems(facts: Facts, deployed: StageStacks | undefined, now: number): readonly string[] {
  return [
    ...(deployed ? stageProblems(facts, deployed) : []),
    ...alarms(facts),
    ...awsProblems(facts),
    ...deliveryProblems(facts),
    ...backlog(facts),
    ...deadLetters(facts),
    ...webhooks(facts, now),
    ...users(facts),
    ...keys(facts, now),
  ];
}

function alarms({ alarms }: Pick<Facts, 'alarms'>): readonly string[] {
  if (isUnread(alarms) || alarms.ringing.length === 0) return [];
  const { length } = alarms.ringing;
  return [`${length === 1 ? 'an alarm rings' : `${length} alarms ring`}: docs/runbook.md says what each means.`];
}

function backlog({ queues, stage }: Pick<Facts, 'queues' | 'stage'>): readonly string[] {
  if (isUnread(queues)) return [];
  return queues.filter(isBehind).map(({ queue, waiting, inFlight, oldestSeconds }) => {
    const age = oldestSeconds === null ? '' : `, the oldest for ${oldestSeconds} s`;
    const wait = counted(waiting, 'message waits', 'messages wait');
    // A consumer that reads its queue has messages in flight.
    if (inFlight === 0) {
      return `${wait} in the ${queue} queue, none is in flight${age}: does anybody read it? docs/runbook.md, "SourceOff".`;
    }
    const held = counted(inFlight, 'is', 'are');
    return `${wait} in the ${queue} queue, ${held} in flight${age}: ${opsOf(stage)} webhooks list --slow shows who holds it up.`;
  });
}

/** Only CloudWatch knows the age of messages; a local run's queues are empty within seconds. */
function isBehind({ queue, waiting, inFlight, oldestSeconds }: QueueView): boolean {
  if (queue === 'dead letters') return false;
  if (oldestSeconds === null) return waiting + inFlight >= longQueue;
  return waiting > 0 && oldestSeconds > longestInQueue;
}

/** Messages that wait or are in flight: a look at a quiet run finds fewer. */
const longQueue = 25;

/** Seconds. */
const longestInQueue = 300;

function deadLetters({ queues, stage }: Pick<Facts, 'queues' | 'stage'>): readonly string[] {
  if (isUnread(queues)) return [];
  const dead = queues.find(({ queue }) => queue === 'dead letters');
  const letters = dead ? dead.waiting + dead.inFlight : 0;
  return letters === 0 ? [] : [`${counted(letters, 'dead letter')}: ${opsOf(stage)} dlq list says why.`];
}

function webhooks({ webhooks, stage }: Pick<Facts, 'webhooks' | 'stage'>, now: number): readonly string[] {
  if (isUnread(webhooks)) return [];
  const long = webhooks.failing.filter(({ since }) => Date.parse(since) <= now - day);
  // What an operator suspended needs nobody: it was meant.
  const suspended = webhooks.suspended.filter(({ reason }) => reason !== wireReasons.operator);
  const list = `${opsOf(stage)} webhooks list`;
  return [
    ...troubled(long, 'had nothing but failures for over a day', `${list} --failing`),
    ...troubled(suspended, 'suspended for failing', `${list} --suspended`),
  ];
}

interface Troubled {
  readonly account: string;
  readonly event: string;
  readonly since: string;
}

/** Says what happened to webhooks, of which the first is named. */
function troubled(found: readonly Troubled[], what: string, command: string): readonly string[] {
  const [first] = found;
  if (!first) return [];
  const example = `${first.account} for ${first.event} since ${first.since}`;
  return [`${counted(found.length, 'webhook')} ${what} (${example}): ${command}.`];
}

const day = 86_400_000;

function users({ users, stage }: Pick<Facts, 'users' | 'stage'>): readonly string[] {
  if (isUnread(users)) return [];
  const [first] = users.beingDeleted;
  if (!first) return [];
  const number = counted(users.beingDeleted.length, 'user is', 'users are');
  return [
    `${number} being deleted (${first.userId} of account ${first.account} since ${first.since}): unless that is under way, ${opsOf(stage)} users delete ${first.userId} completes it.`,
  ];
}

function keys({ keys, stage }: Pick<Facts, 'keys' | 'stage'>, now: number): readonly string[] {
  if (isUnread(keys)) return [];
  return keys.flatMap(key => keyProblem(key, `${opsOf(stage)} keys rotate makes it`, now));
}

function keyProblem({ kind, activeSince, nextMadeAt }: KeysView, next: string, now: number): readonly string[] {
  if (activeSince === null) return [`there is no ${kind} key: nothing works without one. ${next}.`];
  if (nextMadeAt === null || now - Date.parse(nextMadeAt) <= rotationLateAfter) return [];
  return [`the next ${kind} key has been due since ${nextMadeAt}: does the daily rotation run? ${next}.`];
}

/** The rotation runs once a day: a key that is due may wait for this long. In milliseconds. */
const rotationLateAfter = 26 * 3_600_000;
