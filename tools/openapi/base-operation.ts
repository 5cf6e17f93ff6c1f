import { apiFindings } from '../../lambdas/api/findings.ts';
import { maximumBodyBytes } from '../../lambdas/api/request-body.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import type { HeaderNames } from './headers.ts';
import { type Operation, pathParameter, type RequestBody } from './operation.ts';
import { type PossibleFinding, type ProblemName, problemResponses } from './problems.ts';
import type { OwnResponse } from './response.ts';
import { ref, type SchemaName } from './schemas.ts';

/** What an operation under /v1/webhooks has of its own. */
export interface BaseOperation
  extends Pick<Operation, 'id' | 'method' | 'path' | 'tag' | 'summary' | 'description' | 'parameters'> {
  readonly scope: 'webhooks:read' | 'webhooks:manage';
  readonly body?: Omit<RequestBody, 'mediaType' | 'schema'> & { readonly schema: SchemaName };
  readonly success: Success;
  /** Beyond those of every operation. */
  readonly refusals: readonly ProblemName[];
  /** What can be wrong with the body or the query. */
  readonly findings?: readonly PossibleFinding[];
}

/** The successful response of an operation. */
interface Success {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  readonly schema?: SchemaName;
  readonly example?: object;
  readonly headers?: HeaderNames;
}

/** Adds what every operation has that takes an access token. */
export function baseOperation({ scope, body, success, refusals, findings = [], ...own }: BaseOperation): Operation {
  const withFindings = findings.length > 0;
  const names: readonly ProblemName[] = [
    ...(body ? bodyRefusals : []),
    ...tokenRefusals,
    ...refusals,
    'payload_too_large',
    ...(withFindings ? (['validation_failed'] as const) : []),
    'busy',
    'internal_error',
  ];
  return {
    ...own,
    host: 'base',
    security: [{ accessToken: [scope] }],
    parameters: [...(own.parameters ?? []), { $ref: '#/components/parameters/AcceptLanguage' }],
    ...(body && { body: { ...body, mediaType: 'application/json', schema: ref(body.schema) } }),
    responses: {
      [success.status]: successResponse(success),
      ...problemResponses(names, { scope, maximum: maximumBodyBytes }, findings),
    },
  };
}

/** The event in the path. */
export const eventParameter = pathParameter(
  'evento',
  'The event of the webhook.',
  ref('EventName'),
  'proposta.recebida',
);

/** What can be wrong with a body besides its fields. */
export const objectFindings: readonly PossibleFinding[] = [
  { place: { pointer: '' }, finding: apiFindings.object_type },
  { place: { pointer: '/campo' }, finding: apiFindings.unknown_field },
];

/** The names of events, as findings list them. */
export const eventNames = EVENT_NAMES.join(', ');

const tokenRefusals = ['token_missing', 'invalid_token', 'admin_required', 'insufficient_scope'] as const;

const bodyRefusals = [
  'body_not_json',
  'body_not_utf8',
  'body_empty',
  'body_repeats_name',
  'unsupported_media_type',
] as const;

function successResponse({ description, schema, example, headers }: Success): OwnResponse {
  return {
    description,
    ...(schema && { schema: ref(schema) }),
    ...(example && { examples: { example: { value: example } } }),
    headers: { 'Cache-Control': 'NoStore', ...headers },
  };
}
