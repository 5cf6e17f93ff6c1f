import type { IncomingHttpHeaders } from 'node:http';
import { documents, type ErrorBody, faultsOf, type Host, type ResponseObject } from './document.ts';

/** A request to one of the hosts, and its response. */
export interface Exchange {
  readonly host: Host;
  readonly method: string;
  /** The decoded path, as functions receive it from the gateway. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** The faults in the responses and deliveries of the running test. */
export const contractFaults: string[] = [];

/** Returns the differences between a response and its description (status, media type, headers, body and code). */
export function responseFaults(exchange: Exchange): readonly string[] {
  const response = find(exchange);
  if (!response) return [`The document does not describe the status ${exchange.status}.`];
  const body = parse(exchange.body);
  const faults = [...headerFaults(response, exchange.headers), ...contentFaults(response, exchange, body)];
  if (exchange.method === 'HEAD') return faults;
  const examples = Object.values(response.content?.[typeOf(exchange)]?.examples ?? {});
  return [
    ...faults,
    ...codeFaults(
      examples.map(({ value }) => value),
      exchange.status,
      { ...Object(body) },
    ),
  ];
}

/** Returns the differences between a delivery and its description in `webhooks`. */
export function deliveryFaults({ method, headers, body }: ReceivedRequest): readonly string[] {
  const content = parse(body);
  const event = String(Object(content).event);
  const { webhooks = {} } = documents.base;
  const described = Object.hasOwn(webhooks, event) ? webhooks[event]?.post : undefined;
  if (!described) return [`The document does not describe the event ${event}.`];
  const parameters = described.parameters.map(({ name, schema }) => ({ name: name.toLowerCase(), schema }));
  const fixed = { 'content-type': { const: 'application/json' }, accept: { const: '*/*' } };
  const schemas = new Map<string, object>([
    ...parameters.map(({ name, schema }) => [name, schema] as const),
    ...Object.entries(fixed),
  ]);
  const undescribed = Object.keys(headers).filter(name => !schemas.has(name) && !commonHeaders.includes(name));
  return [
    ...(method === 'POST' ? [] : [`The method is ${method}.`]),
    ...[...schemas].flatMap(([name, schema]) =>
      faultsOf(headers[name], schema).map(fault => `The header ${name} (${headers[name]}): ${fault}.`),
    ),
    ...undescribed.map(name => `The document does not describe the header ${name}.`),
    ...faultsOf(content, described.requestBody.content['application/json'].schema),
  ];
}

export interface ReceivedRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The standard HTTP headers, and `Authorization`, which OpenAPI describes as a security scheme. */
const commonHeaders = 'host connection content-length transfer-encoding authorization'.split(' ');

/** Returns the document's response for the status of an exchange, if any. */
function find({ host, method, path, status }: Exchange): ResponseObject | undefined {
  const { paths, 'x-not-found': notFound } = documents[host];
  const [, item] = Object.entries(paths).find(([known]) => matches(known, path)) ?? [];
  if (!item) return status === 404 ? notFound : undefined;
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  if (Object.hasOwn(item, name)) return item[name]?.responses[status];
  return status === 405 ? item['x-method-not-allowed'] : undefined;
}

function matches(pattern: string, path: string): boolean {
  const names = pattern.split('/');
  const segments = path.split('/');
  return (
    names.length === segments.length &&
    names.every((name, at) => (name.startsWith('{') ? segments[at] !== '' : segments[at] === name))
  );
}

function headerFaults({ headers = {} }: ResponseObject, actual: Headers): string[] {
  const described = Object.entries(headers).flatMap(([name, { required, schema }]) => {
    const text = actual.get(name);
    if (text === null) return required ? [`The header ${name} is missing.`] : [];
    const value = schema.type === 'integer' ? Number(text) : text;
    return faultsOf(value, schema).map(fault => `The header ${name} (${text}): ${fault}.`);
  });
  const describedNames = new Set(Object.keys(headers).map(name => name.toLowerCase()));
  const undescribed = [...actual.keys()].filter(name => !describedNames.has(name) && !isTransportHeader(name));
  return [...described, ...undescribed.map(name => `The document does not describe the header ${name}.`)];
}

/** Returns whether HTTP servers or AWS add a header to any response, or OpenAPI describes it as a part of the content. */
function isTransportHeader(name: string): boolean {
  return /^(?:connection|content-(?:length|type)|date|keep-alive|transfer-encoding|server|via|x-amzn?-.*)$/.test(name);
}

function contentFaults({ content }: ResponseObject, exchange: Exchange, body: unknown): string[] {
  if (exchange.method === 'HEAD' || !content)
    return exchange.body === '' ? [] : [`The document does not describe content for ${exchange.method}.`];
  const { schema } = content[typeOf(exchange)] ?? {};
  return schema ? faultsOf(body, schema) : [`The document does not describe the content type "${typeOf(exchange)}".`];
}

/** Returns the differences between an error body and the examples of the response. */
function codeFaults(examples: readonly ErrorBody[], status: number, body: ErrorBody): string[] {
  const { code, error, error_description: description, status: bodyStatus, errors = [] } = body;
  if ((code ?? error) === undefined) return [];
  const isKnown = examples.some(
    example => example.code === code && example.error === error && example.error_description === description,
  );
  const findings = new Set(examples.flatMap(example => (example.errors ?? []).map(({ code: own }) => own)));
  const unknown = errors.filter(({ code: own }) => !findings.has(own));
  return [
    ...(isKnown ? [] : [`The document does not describe the code ${code ?? error} (${description ?? ''}).`]),
    ...(bodyStatus === undefined || bodyStatus === status ? [] : [`The body has the status ${bodyStatus}.`]),
    ...unknown.map(({ code: own }) => `The document does not describe the finding ${own}.`),
  ];
}

function typeOf({ headers }: Exchange): string {
  return headers.get('content-type') ?? '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
