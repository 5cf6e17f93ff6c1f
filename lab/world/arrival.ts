import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { makeRandom, pick, type Random } from '../../tools/support/random.ts';
import { receiverKinds } from './receivers.ts';
import { deadLetters, queueOf } from './stage.ts';
import { day, minute } from './times.ts';

/** An account with a webhook for one event. An account with several webhooks has an entry for each. */
export interface Account {
  readonly id: string;
  /** The host name of the account's receiver. */
  readonly host: string;
  /** The kind of the account's receiver, or `undefined` if the account has no webhook. */
  readonly kind: string | undefined;
  /** True if integrators and operators change the webhook. The strictest invariants exclude such accounts. */
  readonly isModified: boolean;
  /** The event of the webhook. @default eventName */
  readonly event?: EventName;
  /** The duration of the webhook's failures before the start, in milliseconds. It is 30 s less than 1, 4 or 5 days. */
  readonly failingFor?: number;
}

/** A published message. */
export interface Publication {
  /** The time at which the publisher sends the message or operators last redrive it, in milliseconds after the start. */
  readonly at: number;
  readonly account: string;
  readonly event: EventName;
  readonly deliveryId: string;
  readonly body: string;
  readonly isMalformed: boolean;
  /** The first queue of the message. Messages that operators redrive start in the dead-letter queue. */
  readonly queue: string;
}

/** The event of most webhooks. */
export const eventName = 'demanda.criada';

/** Returns an account for each kind of receiver, an account without a webhook, and four modified accounts. */
export function makeAccounts(seed: number): readonly Account[] {
  const random = makeRandom(seed * 6_151);
  const modified = Array.from({ length: modifiedAccounts }, () => pick(kinds, random));
  return [...kinds, undefined, ...modified].map((kind, index) => {
    const id = `conta-${index}`;
    const isFailing = index < kinds.length && ['down', 'hangs', 'refuses'].includes(kind ?? '');
    const failingFor = (failingDays[seed % 3] ?? 1) * day - minute / 2;
    return {
      ...{ id, host: `${id}.example.com`, kind, isModified: index > kinds.length },
      ...(isFailing && { failingFor }),
    };
  });
}

/** The service notifies operators after 1 and 4 days of failures, and suspends the webhook after 5 days. */
const failingDays = [1, 4, 5] as const;

const kinds = Object.keys(receiverKinds);

const modifiedAccounts = 4;

/**
 * Returns the messages of the first minute (five minutes for modified accounts), in bursts or individually. Some messages are malformed,
 * some are copies with the same or different fields, and some start in the dead-letter queue.
 */
export function makePublications(seed: number, accounts: readonly Account[]): readonly Publication[] {
  const random = makeRandom(seed * 7_919);
  return accounts.flatMap(({ id: account, kind, isModified }) => {
    const isBurst = random() < 0.5;
    const burstAt = random() * 40_000;
    const isBacklog = isSlowKind(kind) && random() < 0.3;
    const events = Array.from({ length: isBacklog ? backlogSize : eventsPerAccount }, (_, number) => {
      const at = isBurst ? burstAt + random() * 200 : random() * (isModified ? 5 * minute : minute);
      return publicationOf({ account, at, number, isMalformed: random() < 0.01 });
    });
    const deadLetterMessages = isModified
      ? [{ ...publicationOf({ account, at: lastRedrive, number: backlogSize }), queue: deadLetters.queue }]
      : [];
    return [...events, ...copiesOf(pick(events, random), random), ...deadLetterMessages, ...floodOf(account, random)];
  });
}

/** Returns the message for an event. `fields` contains additional event fields. */
export function publicationOf(
  { account, event = eventName, at, number, isMalformed = false }: PublicationPlan,
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

/** Returns the time at which a message enters its first queue, in milliseconds after the start. Redriven messages enter it before `at`. */
export function sentAt({ at, queue }: Pick<Publication, 'at' | 'queue'>): number {
  return queue === queueOf.first ? at : deadLetterSentAt;
}

const deadLetterSentAt = 20_000;

/** The time at which operators redrive dead-letter messages for the last time, in milliseconds after the start. */
export const lastRedrive = 4 * minute;

const eventsPerAccount = 25;

/** The number of events in a backlog. At a few attempts a second, the slow lane needs more than a minute for them. */
const backlogSize = 250;

function isSlowKind(kind: string | undefined): boolean {
  return kind === 'hangs' || kind === 'slow';
}

/** Returns copies that arrive at least 1 minute later, after the event is stored. The consumer may deliver earlier copies again. */
function copiesOf(original: Publication, random: Random): readonly Publication[] {
  if (original.isMalformed) return [];
  const at = original.at + minute + random() * minute;
  const changed = original.body.replace(/"id_demanda":(\d+)/, '"id_demanda":9$1');
  return [
    { ...original, at },
    { ...original, at: at + 10_000 * random(), body: changed },
  ];
}

/** Returns no messages, or 20 malformed messages, which exceed the limit for individual rejection notices. */
function floodOf(account: string, random: Random): readonly Publication[] {
  if (random() > 0.1) return [];
  const at = random() * 2 * minute;
  return Array.from({ length: 20 }, (_, index) =>
    publicationOf({ account, at: at + 500 * random(), number: 1_000 + index, isMalformed: true }),
  );
}

interface PublicationPlan {
  readonly account: string;
  readonly event?: EventName | undefined;
  readonly at: number;
  readonly number: number;
  readonly isMalformed?: boolean;
}
