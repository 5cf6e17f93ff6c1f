import type { Delivery } from '../../lambdas/delivery/delivery.ts';
import { sweeperActsAt } from '../../lambdas/delivery/transitions.ts';
import type { PublishedEvent } from './publisher.ts';
import { receiverBehaviours } from './receiver-behaviours.ts';
import type { Arrival } from './receivers.ts';

/** The evidence that an audit reads, when the run is over. */
export interface Evidence {
  readonly published: readonly PublishedEvent[];
  /** The table `Deliveries`, by id. */
  readonly deliveries: ReadonlyMap<string, Delivery>;
  readonly arrivals: readonly Arrival[];
  /** Requests to the target of a redirect. */
  readonly followed: number;
  readonly deadLetters: number;
  /** The log of the run. */
  readonly log: string;
  /** True when the run did not wait for recoveries that take minutes. */
  readonly mayWait: boolean;
  /** The time of the audit, in milliseconds since the epoch. */
  readonly at: number;
}

/** The result of an audit. */
export interface Audit {
  readonly rows: readonly ReceiverRow[];
  /** The faults found, one line each. */
  readonly findings: readonly string[];
}

/** One row of the table: the events of receivers with one behaviour. */
interface ReceiverRow extends Record<'published' | 'delivered' | 'failed' | 'waiting' | 'requests', number> {
  readonly behaviour: string;
}

/** Accounts for every event that was published, and for everything that arrived. */
export function audit(evidence: Evidence): Audit {
  const { published, deliveries, arrivals, followed, deadLetters, log } = evidence;
  const events = new Map(published.map(event => [event.deliveryId, event]));
  const arrived = Map.groupBy(arrivals, ({ deliveryId }) => deliveryId);
  const strangers = [...deliveries.keys()].filter(id => !events.has(id));
  return {
    rows: countByReceiver(evidence, arrived),
    findings: [
      ...published.flatMap(event => auditEvent(event, evidence, arrived.has(event.deliveryId))),
      ...strangers.map(id => `delivery ${id}: nobody published it`),
      ...arrivals.flatMap(arrival => auditArrival(arrival, events.get(arrival.deliveryId))),
      ...(followed > 0 ? [`${followed} redirects were followed`] : []),
      ...(deadLetters > 0 ? [`${deadLetters} messages are in the dead-letter queue`] : []),
      ...auditLog(log, published),
    ],
  };
}

/**
 * Returns whether a delivery is in order, and goes on only after a minute or more: an internal error kept its last attempt from
 * being made, or its message is lost, and it stands in the index that the sweeper reads.
 */
export function waitsForMinutes({ wait, internalErrors }: Delivery, now: number): boolean {
  if (!wait) return false;
  const isDelayed = internalErrors > 0 && wait.nextAttemptAt > now;
  return isDelayed || (wait.nextAttemptAt + 2_000 < now && sweeperActsAt(wait) > now);
}

/** An event ends in the state of its receiver's behaviour, after attempts that ended as these may. */
function auditEvent(
  { deliveryId, registration: { behaviour } }: PublishedEvent,
  { deliveries, mayWait, at }: Evidence,
  hasArrived: boolean,
): readonly string[] {
  const delivery = deliveries.get(deliveryId);
  const attempts = delivery?.attempts ?? [];
  const isMissed = delivery?.state !== behaviour.state || (behaviour.state === 'delivered' && !hasArrived);
  const isLost = isMissed && !(mayWait && delivery && waitsForMinutes(delivery, at));
  const became = `${delivery?.state ?? 'not stored'}, not ${behaviour.state}`;
  const made = attempts.map(({ result, durationMs }) => `${result} in ${durationMs} ms`).join(', ') || 'no attempt';
  const expected = [...behaviour.results, ...resultsOfAny];
  return [
    ...(isLost ? [`LOST ${deliveryId} (${behaviour.name}): ${became}: ${made}`] : []),
    ...attempts
      .filter(({ result }) => !expected.includes(result))
      .map(({ number, result }) => `${deliveryId} (${behaviour.name}): attempt ${number} ended as ${result}`),
  ];
}

/** On a busy machine any receiver may time out. */
const resultsOfAny = ['timeout', 'slow', 'internal'] as const;

/** A delivery comes as its event was published, to the receiver and with the authorization that were registered for it. */
function auditArrival(
  { deliveryId, host, authorization, body }: Arrival,
  event: PublishedEvent | undefined,
): readonly string[] {
  if (!event) return [`arrival of ${deliveryId}: nobody published it`];
  const { registration, idDemanda } = event;
  const said = JSON.parse(body);
  const problems = {
    [`it came to ${host}`]: host !== registration.host,
    'the authorization is not the registered one': authorization !== registration.authorization,
    'the body is another event’s': said.event !== registration.eventName || said.id_demanda !== idDemanda,
  };
  return Object.entries(problems).flatMap(([problem, isFound]) =>
    isFound ? [`arrival of ${deliveryId}: ${problem}`] : [],
  );
}

/** The log must hold neither secrets nor payloads. */
function auditLog(log: string, published: readonly PublishedEvent[]): readonly string[] {
  const secrets = new Set(published.flatMap(({ registration }) => [registration.secret, registration.authorization]));
  const leaked = [...secrets, '"id_demanda":'].filter(text => log.includes(text)).length;
  return leaked > 0 ? [`${leaked} secrets or payloads are in the run's log`] : [];
}

function countByReceiver(
  { published, deliveries, at }: Evidence,
  arrived: ReadonlyMap<string, readonly Arrival[]>,
): readonly ReceiverRow[] {
  return receiverBehaviours.map(behaviour => {
    const own = published.filter(({ registration }) => registration.behaviour === behaviour);
    const found = own.flatMap(({ deliveryId }) => deliveries.get(deliveryId) ?? []);
    return {
      behaviour: behaviour.name,
      published: own.length,
      delivered: found.filter(({ state }) => state === 'delivered').length,
      failed: found.filter(({ state }) => state === 'failed').length,
      waiting: found.filter(delivery => waitsForMinutes(delivery, at)).length,
      requests: own.reduce((sum, { deliveryId }) => sum + (arrived.get(deliveryId)?.length ?? 0), 0),
    };
  });
}
