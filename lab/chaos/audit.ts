import { Webhook } from 'standardwebhooks';
import type { AttemptRecord, Delivery } from '../../lambdas/delivery/delivery.ts';
import { sweeperActsAt } from '../../lambdas/delivery/transitions.ts';
import type { PublishedEvent } from './publisher.ts';
import type { ReceiverBehaviour } from './receiver-behaviours.ts';
import type { Arrival, Inspect } from './receivers.ts';
import type { Registration } from './registrations.ts';

/** The evidence that an audit reads, when the run is over. */
export interface Evidence {
  readonly behaviours: readonly ReceiverBehaviour[];
  readonly published: readonly PublishedEvent[];
  /** The table `Deliveries`, by id. */
  readonly deliveries: ReadonlyMap<string, Delivery>;
  readonly arrivals: readonly Arrival[];
  /** Waits between attempts in milliseconds. */
  readonly schedule: readonly number[];
  /** The deadline of an attempt, in milliseconds. */
  readonly attemptTimeout: number;
  /** The most that an attempt may be late, in milliseconds. */
  readonly mostLate: number;
  /** The time of the audit, in milliseconds since the epoch. */
  readonly at: number;
}

/** One row of the table: the events of receivers with one behaviour. */
export interface ReceiverRow {
  readonly behaviour: string;
  readonly published: number;
  readonly delivered: number;
  readonly failed: number;
  readonly held: number;
  readonly cancelled: number;
  /** No webhook, hence no delivery. */
  readonly unstored: number;
  /** Requests that arrived. */
  readonly requests: number;
  /** Requests beyond the recorded attempts: repeated, since the outcome of the first was not stored. */
  readonly duplicates: number;
  /** Attempts that internal errors kept from being made. */
  readonly internalErrors: number;
  /** Deliveries that still wait after an internal error. */
  readonly delayed: number;
  /** Deliveries that still wait, since their message was lost with the process that was to send it: the sweeper sends it again. */
  readonly leftToSweeper: number;
  /** Events that did not end in the state of their behaviour. */
  readonly lost: number;
}

/** The result of an audit. */
export interface Audit {
  readonly rows: readonly ReceiverRow[];
  /** The faults found, one line each. */
  readonly findings: readonly string[];
  /**
   * The lateness of attempts, in milliseconds, in ascending order: of a first one since its event was accepted, of others since they
   * were due. What an internal error makes wait is not late.
   */
  readonly lateness: readonly number[];
}

/** Makes the inspection of arrivals: each must carry the registered authorization and a valid signature. */
export function inspectionOf(registrations: readonly Registration[]): Inspect {
  const byHost = new Map(registrations.map(registration => [registration.host, registration]));
  return (headers, body) => {
    const registration = byHost.get(String(headers.host));
    if (!registration) return `it came to ${headers.host}`;
    if (headers.authorization !== registration.authorization) return 'the authorization is not the registered one';
    try {
      new Webhook(registration.secret).verify(body, headers as Record<string, string>);
    } catch {
      return 'the signature does not fit';
    }
    return undefined;
  };
}

/** Returns whether a delivery is overdue, but in the index that the sweeper reads, and too young for the sweeper. */
export function isLeftToSweeper(delivery: Delivery | undefined, now: number): boolean {
  return (
    delivery?.wait !== undefined && delivery.wait.nextAttemptAt + 2_000 < now && sweeperActsAt(delivery.wait) > now
  );
}

/** Returns whether a delivery waits since an internal error kept its last attempt from being made. */
export function isDelayedByError(delivery: Delivery | undefined, now: number): boolean {
  return delivery?.wait !== undefined && delivery.internalErrors > 0 && delivery.wait.nextAttemptAt > now;
}

/** Accounts for every event that was published, and for everything that arrived. */
export function audit(evidence: Evidence): Audit {
  const { behaviours, published, deliveries, arrivals, at } = evidence;
  const findings: string[] = [];
  const lateness: number[] = [];
  const events = new Map(published.map(event => [event.deliveryId, event]));
  const arrived = new Map<string, number>();
  const firstArrival = new Map<string, number>();

  for (const arrival of arrivals) {
    const id = String(arrival.headers['webhook-id']);
    arrived.set(id, (arrived.get(id) ?? 0) + 1);
    firstArrival.set(id, Math.min(firstArrival.get(id) ?? arrival.at, arrival.at));
    const problem = auditArrival(arrival, events.get(id));
    if (problem) findings.push(`arrival of ${id}: ${problem}`);
  }
  for (const id of deliveries.keys()) if (!events.has(id)) findings.push(`delivery ${id}: nobody published it`);

  const rows = behaviours.map((behaviour): ReceiverRow => {
    const own = [...events.values()].filter(({ registration }) => registration.behaviour === behaviour);
    const found = own.map(({ deliveryId }) => deliveries.get(deliveryId));
    const lost = own.filter(({ deliveryId }, index) => {
      const delivery = found[index];
      if (isLeftToSweeper(delivery, at) || isDelayedByError(delivery, at)) return false;
      const isMissed =
        !isIn(delivery, behaviour.state) || (behaviour.state === 'delivered' && !arrived.has(deliveryId));
      if (isMissed) {
        const made = delivery?.attempts.map(({ result, durationMs }) => `${result} in ${durationMs} ms`).join(', ');
        const became = `${delivery?.state ?? 'not stored'}, not ${behaviour.state}: ${made || 'no attempt'}`;
        findings.push(`LOST ${deliveryId} (${behaviour.name}): ${became}`);
      }
      return isMissed;
    });
    for (const delivery of found.filter(value => value !== undefined)) {
      const late = latenessesOf(delivery, behaviour, evidence, firstArrival.get(delivery.id));
      lateness.push(...late);
      const tooLate = late.filter(milliseconds => milliseconds > evidence.mostLate);
      const problems = [
        ...auditAttempts(delivery, behaviour, evidence),
        ...tooLate.map(milliseconds => `an attempt was late by ${Math.round(milliseconds / 1_000)} s`),
      ];
      findings.push(...problems.map(problem => `${delivery.id} (${behaviour.name}): ${problem}`));
    }
    const inState = (state: string) => found.filter(delivery => delivery?.state === state).length;
    const made = found.flatMap(delivery => delivery?.attempts ?? []);
    const requestsOf = (id: string) => arrived.get(id) ?? 0;
    const chargedOf = (delivery: Delivery | undefined) => delivery?.attempts.filter(isCompleted).length ?? 0;
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    const charged = sum(found.map(chargedOf));
    return {
      behaviour: behaviour.name,
      published: own.length,
      delivered: inState('delivered'),
      failed: inState('failed'),
      held: inState('held'),
      cancelled: inState('cancelled'),
      unstored: found.filter(delivery => delivery === undefined).length,
      requests: sum(own.map(({ deliveryId }) => requestsOf(deliveryId))),
      duplicates: sum(
        own.map(({ deliveryId }, index) => Math.max(0, requestsOf(deliveryId) - chargedOf(found[index]))),
      ),
      internalErrors: made.length - charged,
      delayed: found.filter(delivery => isDelayedByError(delivery, at)).length,
      leftToSweeper: found.filter(delivery => isLeftToSweeper(delivery, at)).length,
      lost: lost.length,
    };
  });
  return { rows, findings, lateness: lateness.sort((one, other) => one - other) };
}

/** Returns what is wrong with an arrival: a delivery comes as the event was published, to the receiver it was registered for. */
function auditArrival({ problem, headers, body }: Arrival, event: PublishedEvent | undefined): string | undefined {
  if (!event) return 'nobody published it';
  const { registration, idDemanda } = event;
  if (headers.host !== registration.host) return `it came to ${headers.host}`;
  const said = JSON.parse(body);
  if (said.event !== registration.eventName || said.id_demanda !== idDemanda) return 'the body is another event’s';
  return problem;
}

function isIn(delivery: Delivery | undefined, state: ReceiverBehaviour['state']): boolean {
  return state === 'not stored' ? delivery === undefined : delivery?.state === state;
}

/** Checks the attempts of one delivery against its receiver's behaviour and the schedule. */
function auditAttempts(
  { attempts, state, charged: stored }: Delivery,
  behaviour: ReceiverBehaviour,
  { schedule, attemptTimeout }: Evidence,
): readonly string[] {
  const findings: string[] = [];
  let charged = 0;
  for (const [index, record] of attempts.entries()) {
    const { result, number } = record;
    if (isCompleted(record)) charged += 1;
    // On a busy machine every receiver may time out, but only after the whole deadline.
    const isLate = result === 'timeout' && record.durationMs >= attemptTimeout - rounding;
    const isExpected = !isCompleted(record) || isLate || behaviour.results.includes(result);
    if (!isExpected) findings.push(`attempt ${number}: ${result}`);
    const next = attempts[index + 1];
    if (!next) continue;
    if (next.number <= number) findings.push(`attempt ${next.number} comes after ${number}`);
    if (result === 'delivered') findings.push(`attempt ${next.number} after a success`);
    const asked = askedBy(record, behaviour);
    const scheduled = result === 'internal' ? shortestErrorWait : (schedule[charged - 1] ?? 0);
    if (result === 'slow') continue; // repeated as soon as its webhook has a slot
    const earliest = result === 'internal' ? scheduled : Math.max(scheduled * 0.8, asked);
    const waited = startOf(next) - endOf(record);
    if (waited < earliest - rounding) findings.push(`attempt ${next.number} after ${waited} ms, not ${earliest} ms`);
  }
  const due = attempts.filter(isChargeable).length;
  if (stored !== due) findings.push(`charged ${stored} attempts, not ${due}`);
  if (state === 'failed' && charged !== schedule.length + 1) findings.push(`failed after ${charged} attempts`);
  if (state === 'delivered' && attempts.at(-1)?.result !== 'delivered') findings.push('delivered without a success');
  return findings;
}

/** Returns by how many milliseconds each attempt of a delivery was late. */
function latenessesOf(
  { attempts, createdAt }: Delivery,
  behaviour: ReceiverBehaviour,
  { schedule }: Evidence,
  firstArrival = Number.POSITIVE_INFINITY,
): readonly number[] {
  const latenesses: number[] = [];
  const [first] = attempts;
  // An internal error that repeats is one record: the number of the latest, and the waits between them are not known.
  if (first?.number === 1) latenesses.push(Math.min(startOf(first), firstArrival) - createdAt);
  let charged = 0;
  for (const [index, record] of attempts.entries()) {
    if (isCompleted(record)) charged += 1;
    const next = attempts[index + 1];
    if (!next || record.result === 'internal' || next.number !== record.number + 1) continue;
    const scheduled = record.result === 'slow' ? 0 : (schedule[charged - 1] ?? 0);
    const waited = startOf(next) - endOf(record);
    latenesses.push(waited - Math.max(scheduled, askedBy(record, behaviour)));
  }
  return latenesses;
}

/** Returns for how many milliseconds the receiver asked to wait. */
function askedBy({ status }: AttemptRecord, { retryAfterMs = 0 }: ReceiverBehaviour): number {
  return status === 429 || status === 503 ? retryAfterMs : 0;
}

/** Returns whether an attempt was completed: not prevented by an internal error, nor given up and repeated in the slow lane. */
function isCompleted({ result }: AttemptRecord): boolean {
  return result !== 'internal' && result !== 'slow';
}

/** The clock that attempts are recorded by has milliseconds, and durations are rounded. */
const rounding = 3;

/** The shortest wait after an internal error, in milliseconds. */
const shortestErrorWait = 60_000;

function startOf({ startedAt }: AttemptRecord): number {
  return Date.parse(startedAt);
}

function endOf(record: AttemptRecord): number {
  return startOf(record) + record.durationMs;
}

/** Returns whether an attempt counts towards the attempts that a delivery has: it was made, and its receiver failed. */
function isChargeable(record: AttemptRecord): boolean {
  return isCompleted(record) && record.result !== 'delivered' && record.status !== 410;
}
