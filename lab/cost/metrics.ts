import type { AuditContext, AuditMetric } from '../../lambdas/auth/protection/audit.ts';
import { authRoutes, formCases, oauthCases } from '../../lambdas/auth/routes.ts';
import type { DeliveryMetric, DeliverySpan } from '../../lambdas/delivery/telemetry.ts';

/** The custom metrics of a service, which is their first dimension. */
export interface ServiceMetrics {
  readonly service: string;
  /** Those that work, integrators and receivers cause. */
  readonly ordinary: readonly string[];
  /** Those that are written only where something is wrong: in the service, with AWS, or with what a publisher sends. */
  readonly faults: readonly string[];
}

/** Returns all custom metrics of a stage with customers and smoke tests. */
export function customMetrics(): readonly ServiceMetrics[] {
  const { Token, Revoke, Introspect } = authRoutes;
  return [
    ofAuth('token', Token.operations.issueToken.refusals, ['RefreshTokenReuse']),
    ofAuth('revoke', Revoke.operations.revokeToken.refusals),
    ofAuth('introspect', Introspect.operations.introspectToken.refusals),
    ofDelivery('delivery'),
    ofDelivery('sweep'),
    answering(ofDelivery('history')),
    answering({ service: 'webhooks', ordinary: [], faults: [] }),
    answering({ service: 'discovery', ordinary: [], faults: [] }),
    { service: 'rotate-keys', ordinary: [], faults: ['KeyCreated'] }, // once in months
    {
      service: 'none: the gateway, all functions together',
      ordinary: ['Throttled'],
      faults: ['DiscoveryThrottled', 'RequestFailed', 'StoreThrottled'],
    },
  ];
}

/** The audit trail counts what is granted, and what is refused by its code. */
function ofAuth(
  service: AuditContext['endpoint'],
  refusals: readonly (keyof typeof oauthCases)[],
  faults: readonly AuditMetric[] = [],
): ServiceMetrics {
  const counted = Object.entries(granted).flatMap(([name, of]) => (of === service ? [name] : []));
  const rows = [...Object.values(formCases), ...refusals.map(name => oauthCases[name])];
  const refused = new Set(rows.map(([, code]) => code));
  return answering({ service, ordinary: [...counted, ...refused], faults: ['server_error', ...faults] });
}

/** Where what is granted is counted. The compiler asks for each metric of the audit trail but that of theft. */
const granted = {
  TokenIssued: 'token',
  TokenRefreshed: 'token',
  TokenRevoked: 'revoke',
  TokenIntrospected: 'introspect',
} as const satisfies Record<Exclude<AuditMetric, 'RefreshTokenReuse'>, AuditContext['endpoint']>;

/** Of a function that answers requests: those with status 500 are counted by its version, too. */
function answering({ service, ordinary, faults }: ServiceMetrics): ServiceMetrics {
  return { service, ordinary, faults: [...faults, 'RequestFailed', 'ServerError by version'] };
}

type Service = 'delivery' | 'sweep' | 'history';

function ofDelivery(service: Service): ServiceMetrics {
  const namesIn = (table: Partial<Record<string, readonly Service[]>>) =>
    Object.entries(table).flatMap(([name, services]) => (services?.includes(service) ? [name] : []));
  return { service, ordinary: namesIn(ordinary), faults: namesIn(faults) };
}

/** Which service writes what. The compiler asks for each metric in one of the two. */
const ordinary = {
  Delivered: ['delivery'],
  FirstAttemptWait: ['delivery'],
  Blocked: ['delivery'],
  GivenUp: ['delivery'],
  Exhausted: ['delivery', 'sweep'],
  Held: ['delivery', 'sweep'],
  HeldExpired: ['sweep'],
  Cancelled: ['delivery', 'sweep'],
  EventWithoutWebhook: ['delivery'],
  DuplicateDropped: ['delivery'],
  StaleDropped: ['delivery', 'sweep'],
  MovedToRetryLane: ['delivery'],
  MovedToSlowLane: ['delivery', 'sweep'],
  WaitsForSlot: ['delivery'],
  BacklogReleased: ['sweep'],
  WebhookSlow: ['delivery'],
  WebhookSuspended: ['delivery', 'sweep'],
  MessageShed: ['delivery'],
  Replayed: ['sweep'],
  SweptDue: ['sweep'],
  OldestDue: ['sweep'],
} as const satisfies Partial<Record<DeliveryMetric | DeliverySpan, readonly Service[]>>;

const faults = {
  InternalError: ['delivery'],
  MessageDeferred: ['delivery'],
  ConflictingCopyDropped: ['delivery'],
  DeadLettered: ['delivery'],
  RefusalNotTold: ['delivery', 'sweep'],
  AttemptNotSent: ['delivery', 'sweep', 'history'],
  SweptOverdue: ['sweep'],
  SourceOff: ['sweep'],
  KeyNotEnabled: ['sweep'],
} as const satisfies Record<Exclude<DeliveryMetric | DeliverySpan, keyof typeof ordinary>, readonly Service[]>;
