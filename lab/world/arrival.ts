import { deliveryIdOf } from '../../lambdas/delivery/intake/event.ts';
import { makeRandom } from '../../tools/support/random.ts';
import { receiverKinds } from './receivers.ts';
import { minute } from './times.ts';

/** An account with a webhook for one event. */
export interface Account {
  readonly id: string;
  /** The host name of its receiver. */
  readonly host: string;
  /** The kind of its receiver; without one it has no webhook. */
  readonly kind: string | undefined;
}

/** A message that somebody publishes. */
export interface Publication {
  /** Milliseconds after the beginning. */
  readonly at: number;
  readonly account: string;
  readonly deliveryId: string;
  readonly body: string;
  readonly isMalformed: boolean;
}

/** The event that all accounts have their webhook for. */
export const eventName = 'demanda.criada';

/** Returns an account for each kind of receiver, and one without a webhook. */
export function makeAccounts(): readonly Account[] {
  return [...Object.keys(receiverKinds), undefined].map((kind, index) => {
    const id = `conta-${index}`;
    return { id, host: `${id}.example.com`, kind };
  });
}

/** Returns the events of the first minute, in bursts or one by one. Some are malformed. */
export function makeArrival(seed: number, accounts: readonly Account[]): readonly Publication[] {
  const random = makeRandom(seed * 7_919);
  return accounts.flatMap(account => {
    const isBurst = random() < 0.5;
    const burstAt = random() * 40_000;
    const isBacklog = isSlowKind(account.kind) && random() < 0.3;
    return Array.from({ length: isBacklog ? eventsOfBacklog : eventsOfAccount }, (_, number) => {
      const at = isBurst ? burstAt + random() * 200 : random() * minute;
      const isMalformed = random() < 0.01;
      return publicationOf({ account: account.id, at, number, isMalformed });
    });
  });
}

const eventsOfAccount = 25;

/** More than have slots in a minute, at least where few begin in a second. */
const eventsOfBacklog = 250;

function isSlowKind(kind: string | undefined): boolean {
  return kind === 'hangs' || kind === 'slow';
}

function publicationOf({ account, at, number, isMalformed }: Planned): Publication {
  const id = `${account}-${number}`;
  const body = JSON.stringify({
    id_conta: account,
    event: eventName,
    id_demanda: isMalformed ? 'ten' : number + 1,
    id,
  });
  return { at, account, deliveryId: deliveryIdOf(account, eventName, id), body, isMalformed };
}

interface Planned {
  readonly account: string;
  readonly at: number;
  readonly number: number;
  readonly isMalformed: boolean;
}
