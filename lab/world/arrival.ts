import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { makeRandom, pick, type Random } from '../../tools/support/random.ts';
import { receiverKinds } from './receivers.ts';
import { deadLetters, queueOf } from './stage.ts';
import { day, minute } from './times.ts';

/** An account with a webhook for one event. An account with several has a row for each. */
export interface Account {
  readonly id: string;
  /** The host name of its receiver. */
  readonly host: string;
  /** The kind of its receiver; without one it has no webhook. */
  readonly kind: string | undefined;
  /** True where people change its webhook, and operators suspend or delete it. The strictest promises hold for the others. */
  readonly isRestless: boolean;
  /** The event of its webhook, in place of `eventName`. */
  readonly event?: EventName;
  /** The age of the webhook's failures when the world begins, in milliseconds: half a minute less than one, four or five days. */
  readonly failingFor?: number;
}

/** A message that somebody publishes. */
export interface Publication {
  /** Milliseconds after the beginning, when it is due: sent, or redriven for the last time. */
  readonly at: number;
  readonly account: string;
  readonly event: EventName;
  readonly deliveryId: string;
  readonly body: string;
  readonly isMalformed: boolean;
  /** Where it is found first: what an operator has to redrive stands among the dead letters. */
  readonly queue: string;
}

/** The event that most accounts have their webhook for. */
export const eventName = 'demanda.criada';

/** Returns an account for each kind of receiver and one without a webhook, which are left alone, and four restless ones. */
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

/** Operators are told of failures of one day and of four; those of five days suspend the webhook. */
const failingDays = [1, 4, 5] as const;

const kinds = Object.keys(receiverKinds);

const restlessAccounts = 4;

/**
 * Returns the events of the first minute, in bursts or one by one. Some are malformed; some come again, the same or with other fields
 * under the same id; some are among the dead letters. Events of restless accounts come for five minutes.
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

/** Returns the message of an event. `fields` has the fields that only some events have. */
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

/** Returns when a message is sent, in milliseconds after the beginning: dead letters stand in their queue before they are due. */
export function sentAt({ at, queue }: Pick<Publication, 'at' | 'queue'>): number {
  return queue === queueOf.first ? at : strayAt;
}

const strayAt = 20_000;

/** Operators redrive dead letters once more at this time. */
export const lastRedrive = 4 * minute;

const eventsOfAccount = 25;

/** More than the slow lane attempts in a minute, at least if few start in a second. */
const eventsOfBacklog = 250;

function isSlowKind(kind: string | undefined): boolean {
  return kind === 'hangs' || kind === 'slow';
}

/** By then an event is stored, and its copy told from it. Before that copies may each be sent. */
function copiesOf(original: Publication, random: Random): readonly Publication[] {
  if (original.isMalformed) return [];
  const at = original.at + minute + random() * minute;
  const changed = original.body.replace(/"id_demanda":(\d+)/, '"id_demanda":9$1');
  return [
    { ...original, at },
    { ...original, at: at + 10_000 * random(), body: changed },
  ];
}

/** A publisher with a bug sends more malformed messages in a minute than it is told of one by one. */
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
