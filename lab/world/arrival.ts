import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { makeRandom, pick, type Random } from '../../tools/support/random.ts';
import { receiverKinds } from './receivers.ts';
import { deadLetters, queueOf } from './stage.ts';
import { day, minute } from './times.ts';

/** An account with a webhook for one event. An account with several webhooks has an entry for each. */
export interface Account {
  readonly id: string;
  /** The host name of its receiver. */
  readonly host: string;
  /** The kind of its receiver. If undefined, the account has no webhook. */
  readonly kind: string | undefined;
  /** True if people change its webhook and operators suspend or delete it. The strictest judges skip it. */
  readonly isRestless: boolean;
  /** The event of its webhook, instead of `eventName`. */
  readonly event?: EventName;
  /** The age of the webhook's failures at the start, in milliseconds. Half a minute less than 1, 4 or 5 days. */
  readonly failingFor?: number;
}

/** A published message. */
export interface Publication {
  /** The time at which it is sent, or redriven for the last time, in milliseconds after the start. */
  readonly at: number;
  readonly account: string;
  readonly event: EventName;
  readonly deliveryId: string;
  readonly body: string;
  readonly isMalformed: boolean;
  /** Its first queue. Messages that operators have to redrive start in the dead-letter queue. */
  readonly queue: string;
}

/** The event of most webhooks. */
export const eventName = 'demanda.criada';

/** Returns an account for each kind of receiver and one without a webhook, all undisturbed, and four restless ones. */
export function makeAccounts(seed: number): readonly Account[] {
  const random = makeRandom(seed * 6_151);
  const restless = Array.from({ length: restlessAccounts }, () => pick(kinds, random));
  return [...kinds, undefined, ...restless].map((kind, index) => {
    const id = `conta-${index}`;
    const isOld = index < kinds.length && ['down', 'hangs', 'refuses'].includes(kind ?? '');
    const failingFor = (failingDays[seed % 3] ?? 1) * day - minute / 2;
    return {
      ...{ id, host: `${id}.example.com`, kind, isRestless: index > kinds.length },
      ...(isOld && { failingFor }),
    };
  });
}

/** Operators are notified after failures of one day and of four. Failures of five days suspend the webhook. */
const failingDays = [1, 4, 5] as const;

const kinds = Object.keys(receiverKinds);

const restlessAccounts = 4;

/**
 * Returns the events of the first minute, in bursts or one by one. Some are malformed, repeated (also with other fields), or in the dead-
 * letter queue. Events of restless accounts arrive for five minutes.
 */
export function makeArrival(seed: number, accounts: readonly Account[]): readonly Publication[] {
  const random = makeRandom(seed * 7_919);
  return accounts.flatMap(({ id: account, kind, isRestless }) => {
    const isBurst = random() < 0.5;
    const burstAt = random() * 40_000;
    const isBacklog = isSlowKind(kind) && random() < 0.3;
    const once = Array.from({ length: isBacklog ? eventsOfBacklog : eventsOfAccount }, (_, number) => {
      const at = isBurst ? burstAt + random() * 200 : random() * (isRestless ? 5 * minute : minute);
      return publicationOf({ account, at, number, isMalformed: random() < 0.01 });
    });
    const strays = isRestless
      ? [{ ...publicationOf({ account, at: lastRedrive, number: eventsOfBacklog }), queue: deadLetters.queue }]
      : [];
    return [...once, ...copiesOf(pick(once, random), random), ...strays, ...floodOf(account, random)];
  });
}

/** Returns the message of an event. `fields` has the optional fields. */
export function publicationOf(
  { account, event = eventName, at, number, isMalformed = false }: Planned,
  fields?: object,
): Publication {
  const id = `${account}-${number}`;
  const body = JSON.stringify({
    id_conta: account,
    event,
    id_demanda: isMalformed ? 'ten' : number + 1,
    id,
    ...fields,
  });
  return { at, account, event, deliveryId: deliveryIdOf(account, event, id), body, isMalformed, queue: queueOf.first };
}

/** Returns when a message is sent, in milliseconds after the start. Dead-letter messages are sent before `at`. */
export function sentAt({ at, queue }: Pick<Publication, 'at' | 'queue'>): number {
  return queue === queueOf.first ? at : strayAt;
}

const strayAt = 20_000;

/** The time at which operators redrive dead-letter messages again. */
export const lastRedrive = 4 * minute;

const eventsOfAccount = 25;

/** More events than the slow lane attempts in a minute, if few start in a second. */
const eventsOfBacklog = 250;

function isSlowKind(kind: string | undefined): boolean {
  return kind === 'hangs' || kind === 'slow';
}

/** After this time the event is stored, and copies are recognised. Each earlier copy may be sent. */
function copiesOf(original: Publication, random: Random): readonly Publication[] {
  if (original.isMalformed) return [];
  const at = original.at + minute + random() * minute;
  const changed = original.body.replace(/"id_demanda":(\d+)/, '"id_demanda":9$1');
  return [
    { ...original, at },
    { ...original, at: at + 10_000 * random(), body: changed },
  ];
}

/** Returns a minute of malformed messages from a publisher with a bug. They exceed the limit of its single notices. */
function floodOf(account: string, random: Random): readonly Publication[] {
  if (random() > 0.1) return [];
  const at = random() * 2 * minute;
  return Array.from({ length: 20 }, (_, index) =>
    publicationOf({ account, at: at + 500 * random(), number: 1_000 + index, isMalformed: true }),
  );
}

interface Planned {
  readonly account: string;
  readonly event?: EventName | undefined;
  readonly at: number;
  readonly number: number;
  readonly isMalformed?: boolean;
}
