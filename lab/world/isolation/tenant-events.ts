import { deliveryIdOf } from '../../../lambdas/delivery/intake/event.ts';
import type { EventName } from '../../../lambdas/webhooks/webhook.ts';
import { type Account, eventName, type Publication } from '../arrival.ts';
import { queueOf } from '../stage.ts';
import type { Tenant } from './tenant.ts';

/** An event of a tenant. */
export interface TenantEvent {
  readonly tenant: Tenant;
  /** From 0. */
  readonly number: number;
  /** Milliseconds from the beginning. */
  readonly due: number;
  readonly publication: Publication;
}

/** Returns the event that a tenant is registered for. */
export function eventOf({ event = eventName }: Pick<Tenant, 'event'>): EventName {
  return event;
}

/** Returns the account of a tenant, as a world has it. */
export function accountOf(tenant: Tenant): Account {
  return {
    id: tenant.account,
    host: hostOf(tenant),
    kind: 'of an isolation run',
    isRestless: false,
    event: eventOf(tenant),
  };
}

/** Returns the host name of a tenant's receiver. */
export function hostOf({ webhook }: Pick<Tenant, 'webhook'>): string {
  return `${webhook}.example.com`;
}

/** Returns all events of tenants. */
export function eventsOf(tenants: readonly Tenant[]): readonly TenantEvent[] {
  return tenants.flatMap(tenant =>
    tenant.publishes.map((due, number) => ({ tenant, number, due, publication: publicationOf(tenant, number, due) })),
  );
}

function publicationOf(tenant: Tenant, number: number, at: number): Publication {
  const { account, webhook } = tenant;
  const [event, id] = [eventOf(tenant), `${webhook}-${number}`];
  const body = JSON.stringify({ id_conta: account, event, id_demanda: number + 1, id_proposta: number + 1, id });
  return {
    at,
    account,
    event,
    deliveryId: deliveryIdOf(account, event, id),
    body,
    isMalformed: false,
    queue: queueOf.first,
  };
}
