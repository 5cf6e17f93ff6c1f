import { type Example, ref, type ServiceResponse } from './description.ts';
import { type HeaderNames, headers } from './headers.ts';
import type { Schema } from './plain-schemas.ts';

export type Responses = Readonly<Record<string, ResponseObject>>;

interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, MediaType>>;
  readonly links?: object;
}

interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
}

/** Returns the responses of an operation and of the gateway, which uses a different format. */
export function withGateway(own: Readonly<Record<string, ServiceResponse>>): Responses {
  const statuses = [...new Set([...Object.keys(own), ...Object.keys(gatewayMessages)])].sort();
  return Object.fromEntries(statuses.map(status => [status, responseOf(own[status], gatewayMessages[status])]));
}

/** Returns the service's response without the gateway's response. */
export function serviceResponse(own: ServiceResponse): ResponseObject {
  return responseOf(own, undefined);
}

/**
 * Finds the responses that several operations share.
 *
 * @param all - the responses of each operation, by operation id
 * @returns the shared responses by name under `components`, and a function that replaces responses with references
 */
export function shareResponses(all: Readonly<Record<string, Responses>>): {
  readonly shared: Record<string, object>;
  readonly referring: (responses: Responses) => Record<string, object>;
} {
  const uses = Object.entries(all).flatMap(([operationId, responses]) =>
    Object.entries(responses).map(([status, response]) => ({ operationId, status, response })),
  );
  const names = new Map<string, string>();
  const shared: Record<string, object> = {};
  for (const [text, [first, ...others]] of Map.groupBy(uses, ({ response }) => JSON.stringify(response))) {
    if (!first || others.length === 0) continue;
    const name = nameOf(first.status, first.response, first.operationId, shared);
    names.set(text, name);
    shared[name] = first.response;
  }
  const refer = (response: ResponseObject) => {
    const name = names.get(JSON.stringify(response));
    return name === undefined ? response : { $ref: `#/components/responses/${name}` };
  };
  return {
    shared,
    referring: responses =>
      Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, refer(response)])),
  };
}

/**
 * Returns the headers under `components` that a text refers to. A header that only some responses with a status have is a
 * separate, optional header.
 */
export function sharedHeaders(text: string): Record<string, object> {
  const all = Object.entries(headers).flatMap(([name, header]) => [
    [name, { ...header, required: true }] as const,
    [optional(name), { ...header, required: false }] as const,
  ]);
  return Object.fromEntries(all.filter(([name]) => text.includes(JSON.stringify(headerReference(name)))));
}

/** The gateway's error messages, which are possible on every path. */
export const gatewayMessages: Readonly<Record<string, string>> = {
  413: 'Request Entity Too Large',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

function responseOf(own: ServiceResponse | undefined, message: string | undefined): ResponseObject {
  const gateway = message === undefined ? undefined : gatewayContent(message);
  if (!own) {
    const described = headerReferences(gatewayHeaders, () => false);
    return { description: `From the gateway: ${message}.`, headers: described, content: bothForms(undefined, gateway) };
  }
  const { description, mediaType = gatewayType, schema, examples = {}, headers: names, links, sometimes = [] } = own;
  const described = headerReferences({ ...names, ...gatewayHeaders }, name => !gateway && !sometimes.includes(name));
  const content = schema && { [mediaType]: { schema, ...(Object.keys(examples).length > 0 && { examples }) } };
  return {
    description: gateway ? `${description} From the gateway: ${message}.` : description,
    headers: described,
    ...((content || gateway) && { content: bothForms(content, gateway) }),
    ...(links && { links }),
  };
}

/** The headers that the gateway adds to every response of a function. */
const gatewayHeaders: HeaderNames = { 'apigw-requestid': 'RequestId' };

/** Returns references to headers. `always` returns whether every response with the status has the header. */
function headerReferences(names: HeaderNames, always: (name: string) => boolean): Record<string, object> {
  return Object.fromEntries(
    Object.entries(names).map(([name, key]) => [name, headerReference(always(name) ? key : optional(key))]),
  );
}

function headerReference(name: string): object {
  return { $ref: `#/components/headers/${name}` };
}

function optional(name: string): string {
  return `${name}.optional`;
}

/** Returns the content of both responses. If their media types are the same, the schema allows either body. */
function bothForms(
  own: Record<string, MediaType> | undefined,
  gateway: MediaType | undefined,
): Record<string, MediaType> {
  const ownContent = own?.[gatewayType];
  if (!gateway || !ownContent) return { ...own, ...(gateway && { [gatewayType]: gateway }) };
  return {
    [gatewayType]: {
      schema: ref('OAuthOrGatewayError'), // errors of the API have another media type
      examples: { ...ownContent.examples, ...gateway.examples },
    },
  };
}

function gatewayContent(message: string): MediaType {
  return { schema: ref('GatewayMessage'), examples: { gateway: { summary: 'The gateway', value: { message } } } };
}

const gatewayType = 'application/json';

/** Returns a name that consists of the status and its codes. Appends the operation id if that name already exists. */
function nameOf(status: string, { description }: ResponseObject, operationId: string, used: object): string {
  const codes = [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code);
  const name = [status, ...codes].join('.');
  return name in used ? `${name}.${operationId}` : name;
}
