import { pathProblems } from '../../lambdas/api/problems.ts';
import { pathCases } from '../../lambdas/auth/routes.ts';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import { codeSamples } from './code-samples.ts';
import { type Operation, ref, type ServiceResponse } from './description.ts';
import { eventBodies, eventWebhooks } from './event-webhooks.ts';
import { formSchemas } from './forms.ts';
import type { HeaderNames } from './headers.ts';
import { acceptLanguage, introductions } from './introduction.ts';
import { noStoreHeaders, oauthResponse, oauthResponses } from './oauth-responses.ts';
import { extensible, orNull, type Schema, union } from './plain-schemas.ts';
import { problemResponse, problemResponses } from './problem-responses.ts';
import { type Responses, serviceResponse, sharedHeaders, shareResponses, withGateway } from './responses.ts';
import { notes } from './schema-notes.ts';
import { describedSchemas } from './schemas.ts';

/** Returns the OpenAPI document for a host. The document of {base_url} also describes deliveries to receivers. */
export function openApiDocument(all: readonly Operation[], host: Host): object {
  const operations = all.filter(operation => operation.host === host);
  const responses = Object.fromEntries(operations.map(operation => [operation.id, responsesOf(operation)]));
  const { shared, referring } = shareResponses(responses);
  const byPath = Map.groupBy(operations, ({ path }) => path);
  const paths = Object.fromEntries(
    [...byPath].map(([path, methods]) => [
      path,
      describePath(methods, operation => referring(responses[operation.id] ?? {})),
    ]),
  );
  const { info, servers, tags, securitySchemes } = introductions[host];
  const { webhooks, parameters } = host === 'base' ? eventParts() : { parameters: {} };
  const body = { paths, webhooks, 'x-not-found': notFound(host) };
  const described = { parameters, responses: shared };
  const schemas = { ...describedSchemas(notes), ...eventBodies(businessEvents), ...formSchemas, ...gatewaySchemas() };
  return {
    openapi: '3.1.1',
    info,
    servers,
    tags,
    ...body,
    components: {
      securitySchemes,
      ...described,
      headers: sharedHeaders(JSON.stringify([body, described])),
      schemas: sorted(referencedSchemas(schemas, JSON.stringify([body, described]))),
    },
  };
}

const { not_found, method_not_allowed } = pathProblems;
const { method_not_post, method_not_get } = pathCases;

type Host = Operation['host'];

function eventParts() {
  return { webhooks: eventWebhooks(businessEvents), parameters: { AcceptLanguage: acceptLanguage } };
}

function notFound(host: Host): object {
  return serviceResponse(
    host === 'auth' ? oauthResponse(404, { not_found: pathCases.not_found }) : problemResponse(404, { not_found }),
  );
}

/**
 * Describes a path. `x-method-not-allowed` contains the response to unsupported methods, because OpenAPI has no
 * field for it.
 */
function describePath(operations: readonly Operation[], responses: (operation: Operation) => object): object {
  const [{ host = 'base' } = {}] = operations;
  const methods = operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return {
    ...Object.fromEntries(
      operations.map(operation => [
        operation.method.toLowerCase(),
        { ...describe(operation), responses: responses(operation) },
      ]),
    ),
    'x-method-not-allowed': methodNotAllowed(host, methods.join(', ')),
  };
}

function describe(operation: Operation): object {
  const { id, host, access, tag, summary, description, parameters = [], body } = operation;
  const samples = codeSamples(operation);
  const isAccountOperation = host === 'base' && access !== 'public';
  const all = isAccountOperation ? [...parameters, { $ref: '#/components/parameters/AcceptLanguage' }] : parameters;
  const mediaType = host === 'auth' ? 'application/x-www-form-urlencoded' : 'application/json';
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: securityOf(access),
    ...(all.length > 0 && { parameters: all }),
    ...(body && {
      requestBody: {
        required: body.required,
        content: { [mediaType]: { schema: ref(body.schema), examples: body.examples } },
      },
    }),
    ...(samples.length > 0 && { 'x-codeSamples': samples }),
  };
}

/** Returns the security schemes. OpenAPI has no scheme for `client_id` and `client_secret` in a form, so `{}` represents it. */
function securityOf(access: Operation['access']): object[] {
  if (access === 'public') return [];
  return access === 'client' ? [{ clientBasic: [] }, {}] : [{ login: [access] }, { accessToken: [] }];
}

function responsesOf(operation: Operation): Responses {
  const { status, description, schema, examples, headers, links } = operation.success;
  const success: ServiceResponse = {
    description,
    ...(schema && { schema: ref(schema) }),
    ...(examples && { examples }),
    headers: { ...cachingOf(operation.access), ...headers },
    ...(links && { links }),
  };
  const errors = operation.host === 'auth' ? oauthResponses(operation) : problemResponses(operation);
  return withGateway({ [status]: success, ...errors });
}

function cachingOf(access: Operation['access']): HeaderNames {
  if (access === 'public') return { 'Cache-Control': 'PublicCache' };
  return access === 'client' ? noStoreHeaders : { 'Cache-Control': 'NoStore' };
}

function methodNotAllowed(host: Host, allow: string): object {
  const { headers, ...response } = serviceResponse(
    host === 'base'
      ? problemResponse(405, { method_not_allowed }, { allow })
      : oauthResponse(405, allow === 'POST' ? { method_not_post } : { method_not_get }),
  );
  const schema = { type: 'string', const: allow };
  return {
    ...response,
    headers: { ...headers, Allow: { description: 'The methods that the path supports.', required: true, schema } },
  };
}

/** Returns the schemas of API Gateway's own responses. */
function gatewaySchemas(): Record<string, Schema> {
  const { OAuthError = {} } = describedSchemas(notes);
  return {
    GatewayMessage: extensible(gatewayMessage),
    OAuthOrGatewayError: {
      ...union([OAuthError, extensible(gatewayMessage)]),
      description: 'The reason for a service error is in `error`. The reason for a gateway error is in `message`.',
    },
  };
}

const gatewayMessage = {
  type: 'object',
  description: 'A response from the gateway. It has no `code`.',
  properties: { message: { ...orNull('string'), examples: ['Too Many Requests'] } },
  required: ['message'],
};

/** Returns the schemas that a text refers to, directly or indirectly. */
function referencedSchemas(schemas: Record<string, Schema>, text: string): Record<string, Schema> {
  const [used, unused] = [true, false].map(isUsed =>
    Object.fromEntries(
      Object.entries(schemas).filter(([name]) => text.includes(`"#/components/schemas/${name}"`) === isUsed),
    ),
  ) as [Record<string, Schema>, Record<string, Schema>];
  if (Object.keys(used).length === 0) return {};
  return { ...used, ...referencedSchemas(unused, JSON.stringify(used)) };
}

function sorted(schemas: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)));
}
