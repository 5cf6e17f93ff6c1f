import type { RequiredScope } from '../../lambdas/api/authorization.ts';
import { apiFindings, type FindingTable } from '../../lambdas/api/findings.ts';
import type { apiProblems } from '../../lambdas/api/problems.ts';
import type { ProblemNameOf } from '../../lambdas/api/route.ts';
import type { OAuthCase } from '../../lambdas/auth/routes.ts';
import type { deliveryProblems } from '../../lambdas/delivery/api/routes.ts';
import type { OperationId, OperationOf, RouteOperation, RouteTable } from '../../lambdas/platform/route-table.ts';
import type { Values } from '../../lambdas/platform/text-template.ts';
import type { webhookProblems } from '../../lambdas/webhooks/routes.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import type { formSchemas } from './forms.ts';
import type { HeaderNames } from './headers.ts';
import type { Link } from './links.ts';
import type { Schema } from './plain-schemas.ts';
import type { FunctionSchemaName } from './schemas.ts';

/** The descriptions of all operations in a table of routes. Operations with a body must describe the body. */
export type Descriptions<Table extends RouteTable> = {
  readonly [Id in OperationId<Table>]: Description &
    (OperationOf<Table, Id> extends { readonly takesBody: true }
      ? { readonly body: RequestBody }
      : { readonly body?: never });
};

/** The descriptions of {base_url} operations. Operations that validate values must describe the errors. */
export type BaseDescriptions<Table extends RouteTable> = Descriptions<Table> & {
  readonly [Id in OperationId<Table>]: 'validation_failed' extends ProblemNameOf<Table, Id>
    ? { readonly findings: readonly PossibleFinding[] }
    : { readonly findings?: never };
};

/** The part of an operation's description that its route does not contain. */
interface Description {
  readonly tag: 'Tokens' | 'Discovery' | 'Webhooks' | 'Deliveries' | 'Replays';
  readonly summary: string;
  readonly description: string;
  /** The query parameters. */
  readonly parameters?: readonly object[];
  readonly body?: RequestBody | undefined;
  readonly success: Success;
  /** The possible errors in the body or the query. */
  readonly findings?: readonly PossibleFinding[];
}

/** An operation of either host. */
export type Operation = AuthOperation | BaseOperation;

/** An operation of {auth_url}. */
export type AuthOperation = HostOperation<'auth', 'client' | 'public', OAuthCase>;

/** An operation of {base_url}. */
export type BaseOperation = HostOperation<'base', RequiredScope | 'public', ProblemName>;

interface HostOperation<Host extends string, Access extends string, ErrorName extends string>
  extends RouteOperation<Access, ErrorName>,
    Description {
  readonly id: string;
  readonly host: Host;
  readonly path: string;
}

export interface RequestBody {
  readonly required: boolean;
  readonly schema: SchemaName;
  readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: object }>>;
}

/** The successful response of an operation. */
interface Success {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  readonly schema?: SchemaName;
  readonly examples?: Readonly<Record<string, Example>>;
  /** The headers in addition to the caching headers. */
  readonly headers?: HeaderNames;
  /** Links to follow-up requests. */
  readonly links?: Readonly<Record<string, Link>>;
}

/** An example of a body. */
export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

/** A response from the service, without the gateway's response with the same status. */
export interface ServiceResponse {
  readonly description: string;
  readonly mediaType?: string;
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
  readonly headers: HeaderNames;
  readonly links?: Readonly<Record<string, Link>>;
  /** The names of headers that only some responses with this status have. */
  readonly sometimes?: readonly string[];
}

/** The name of an error that {base_url} returns. */
export type ProblemName = keyof typeof apiProblems | keyof typeof webhookProblems | keyof typeof deliveryProblems;

/** A possible validation error in a request. */
export interface PossibleFinding {
  readonly location: { readonly pointer: string } | { readonly parameter: string };
  readonly finding: FindingTable[string];
  readonly values?: Values;
}

export type SchemaName =
  | FunctionSchemaName
  | keyof typeof formSchemas
  | 'Event'
  | `Event.${EventName}`
  | 'GatewayMessage'
  | 'OAuthOrGatewayError';

export function ref(name: SchemaName): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The possible validation errors in any body. Fields have additional errors. */
export const objectFindings: readonly PossibleFinding[] = [
  { location: { pointer: '' }, finding: apiFindings.object_type },
  { location: { pointer: '/campo' }, finding: apiFindings.unknown_field },
];

/** The event names, as validation errors list them. */
export const eventNames = EVENT_NAMES.join(', ');
