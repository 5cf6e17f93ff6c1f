import { isDeliveryId } from '../../lambdas/delivery/delivery.ts';
import { unregisteredEventsId } from '../../lambdas/delivery/intake/unregistered-events.ts';
import { slownessPrefix } from '../../lambdas/delivery/lanes/slow-since.ts';
import { replaysPrefix } from '../../lambdas/delivery/replay/replay-store.ts';
import { headPart } from '../../lambdas/delivery/store/head-key.ts';
import { responsesPrefix } from '../../lambdas/delivery/store/response-item.ts';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';

/** One kind of item in the tables. */
interface ItemKind {
  readonly table: string;
  /** Returns whether a table item is of this kind. */
  readonly is: (key: Item) => boolean;
  /** The `type` of the lines in an account export. */
  readonly exportedAs?: string;
  /** The reason why the export omits the kind. */
  readonly notExported?: string;
  /** True if `accounts delete` deletes the items explicitly. */
  readonly isDeleted?: true;
  /** The reason why the items are not deleted explicitly. */
  readonly notDeleted?: string;
}

const ofNoAccount = 'they do not belong to an account';

/**
 * All kinds of items. `accounts export` writes them in this order, and `accounts delete` deletes them. A test writes items
 * with all stores and fails if an item has no kind.
 */
export const itemKinds = {
  deliveries: {
    table: 'Deliveries',
    is: ({ id, part }) => isDeliveryId(String(id)) && part === headPart,
    exportedAs: 'delivery',
    isDeleted: true,
  },
  answers: {
    table: 'Deliveries',
    is: ({ part }) => String(part).startsWith(responsesPrefix),
    notExported: 'they are in the line of their delivery',
    notDeleted: 'they are deleted with their delivery',
  },
  clients: { table: 'Clients', is: () => true, exportedAs: 'client', isDeleted: true },
  refusedPasswords: {
    table: 'Lockouts',
    is: ({ pk }) => String(pk).startsWith('client#'),
    notExported: 'they are counters for one minute',
    notDeleted: 'they are deleted with their client',
  },
  users: { table: 'Users', is: () => true, exportedAs: 'user', isDeleted: true },
  sessions: {
    table: 'Sessions',
    is: () => true,
    exportedAs: 'session',
    notDeleted: 'they are deleted with their user',
  },
  failedLogins: {
    table: 'Lockouts',
    is: ({ pk }) => String(pk).startsWith('lock#'),
    exportedAs: 'failedLogins',
    notDeleted: 'they are deleted with their user',
  },
  logins: {
    table: 'Credentials',
    is: () => true,
    notExported: 'they contain password hashes, and the line of the user has the address',
    notDeleted: 'they are deleted with their user',
  },
  webhooks: { table: 'Webhooks', is: () => true, exportedAs: 'webhook', isDeleted: true },
  slowness: {
    table: 'Deliveries',
    is: ({ id }) => String(id).startsWith(`${slownessPrefix}#`),
    exportedAs: 'slowness',
    isDeleted: true,
  },
  replays: {
    table: 'Deliveries',
    is: ({ id }) => String(id).startsWith(`${replaysPrefix}#`),
    exportedAs: 'replay',
    isDeleted: true,
  },
  eventsWithoutWebhook: {
    table: 'Deliveries',
    is: ({ id }) => String(id).startsWith(unregisteredEventsId('')),
    exportedAs: 'eventWithoutWebhook',
    isDeleted: true,
  },
  limits: {
    table: 'Deliveries',
    is: ({ id }) => String(id).startsWith('limit#'),
    notExported: 'they are counters for one minute',
    isDeleted: true,
  },
  keys: { table: 'Keyring', is: () => true, notExported: ofNoAccount, notDeleted: ofNoAccount },
} as const satisfies Record<string, ItemKind>;

/** The kinds of items that an export contains. */
export type ExportedKind = KindWith<'exportedAs'>;

/** The kinds of items that `accounts delete` deletes explicitly. */
export type DeletedKind = KindWith<'isDeleted'>;

/** Returns the kinds that have a property, in the order of `itemKinds`. */
export function kindsWith<Name extends 'exportedAs' | 'isDeleted'>(name: Name): readonly KindWith<Name>[] {
  return (Object.keys(itemKinds) as (keyof typeof itemKinds)[]).filter(
    (kind): kind is KindWith<Name> => name in itemKinds[kind],
  );
}

type KindWith<Name extends string> = {
  [Kind in keyof typeof itemKinds]: (typeof itemKinds)[Kind] extends Record<Name, unknown> ? Kind : never;
}[keyof typeof itemKinds];
