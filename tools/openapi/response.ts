import { type HeaderNames, headerObjects } from './headers.ts';
import { ref, type Schema } from './schemas.ts';

/** Responses by status. */
export type Responses = Readonly<Record<string, ResponseObject>>;

/** A response as OpenAPI has it. */
export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** What the service itself answers with a status. */
export interface OwnResponse {
  readonly description: string;
  readonly mediaType?: string;
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
  readonly headers: HeaderNames;
  /** The headers that only some answers of that status have. */
  readonly sometimes?: readonly string[];
}

/** An example of a body. */
export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
}

/** The responses of an operation: what the service answers, and what the gateway answers by itself, in its own form. */
export function withGateway(own: Readonly<Record<string, OwnResponse>>): Responses {
  const statuses = [...new Set([...Object.keys(own), ...Object.keys(gatewayMessages)])].sort();
  return Object.fromEntries(statuses.map(status => [status, responseOf(own[status], gatewayMessages[status])]));
}

/** A response that only the service gives. */
export function ownResponse(own: OwnResponse): ResponseObject {
  return responseOf(own, undefined);
}

/** The responses to HEAD: those to GET without their content. */
export function withoutContent(responses: Responses): Responses {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { content: _, ...response }]) => [status, response]),
  );
}

/** What API Gateway answers by itself, on every path. */
const gatewayMessages: Readonly<Record<string, string>> = {
  413: 'Request Entity Too Large',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

function responseOf(own: OwnResponse | undefined, message: string | undefined): ResponseObject {
  const gateway = message === undefined ? undefined : gatewayContent(message);
  if (!own) return { description: `The gateway: ${message}.`, content: bothForms(undefined, gateway) };
  const { description, mediaType = gatewayType, schema, examples = {}, headers, sometimes = [] } = own;
  const described = headerObjects(headers, name => !gateway && !sometimes.includes(name));
  const content = schema && { [mediaType]: { schema, ...(Object.keys(examples).length > 0 && { examples }) } };
  return {
    description: gateway ? `${description} Or the gateway: ${message}.` : description,
    ...(Object.keys(described).length > 0 && { headers: described }),
    ...((content || gateway) && { content: bothForms(content, gateway) }),
  };
}

/** Where service and gateway answer with the same media type, either body is possible. */
function bothForms(
  own: Record<string, MediaType> | undefined,
  gateway: MediaType | undefined,
): Record<string, MediaType> {
  const same = own?.[gatewayType];
  if (!gateway || !same) return { ...own, ...(gateway && { [gatewayType]: gateway }) };
  return {
    [gatewayType]: {
      schema: { oneOf: [same.schema, gateway.schema] },
      examples: { ...same.examples, ...gateway.examples },
    },
  };
}

function gatewayContent(message: string): MediaType {
  return { schema: ref('GatewayMessage'), examples: { gateway: { summary: 'The gateway', value: { message } } } };
}

const gatewayType = 'application/json';
