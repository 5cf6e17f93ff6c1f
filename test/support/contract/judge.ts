import type { IncomingHttpHeaders } from 'node:http';
import { documents, faultsOf, type Host, type Refusal, type ResponseObject } from './document.ts';

/** A request to one of the hosts, and its response. */
export interface Exchange {
  readonly host: Host;
  readonly method: string;
  /** The decoded path, as the gateway passes it on. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** The faults of responses and deliveries that the running test has met. */
export const faultsMet: string[] = [];

/** Returns the parts of a response that the document does not describe: status, media type, headers, body, or code. */
export function responseFaults(exchange: Exchange): readonly string[] {
  const response = find(exchange);
  if (!response) return [`The status ${exchange.status} is not described.`];
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

/** Returns the headers and parts of the body of a delivery that the document's `webhooks` do not describe. */
export function deliveryFaults({ method, headers, body }: Arrived): readonly string[] {
  const content = parse(body);
  const event = String(Object(content).event);
  const { webhooks = {} } = documents.base;
  const described = Object.hasOwn(webhooks, event) ? webhooks[event]?.post : undefined;
  if (!described) return [`The event ${event} is not described.`];
  const parameters = described.parameters.map(({ name, schema }) => ({ name: name.toLowerCase(), schema }));
  const fixed = { 'content-type': { const: 'application/json' }, accept: { const: '*/*' } };
  const schemas = new Map<string, object>([
    ...parameters.map(({ name, schema }) => [name, schema] as const),
    ...Object.entries(fixed),
  ]);
  const undescribed = Object.keys(headers).filter(name => !schemas.has(name) && !ofEveryRequest.includes(name));
  return [
    ...(method === 'POST' ? [] : [`The method is ${method}.`]),
    ...[...schemas].flatMap(([name, schema]) =>
      faultsOf(headers[name], schema).map(fault => `The header ${name} (${headers[name]}): ${fault}.`),
    ),
    ...undescribed.map(name => `The header ${name} is not described.`),
    ...faultsOf(content, described.requestBody.content['application/json'].schema),
  ];
}

/** A delivery as a receiver received it. */
export interface Arrived {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Headers of HTTP, and `Authorization`, which OpenAPI describes as the security scheme of receivers. */
const ofEveryRequest = 'host connection content-length transfer-encoding authorization'.split(' ');

/** Returns the response that the document describes for the status of an exchange, if there is one. */
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

function headerFaults({ headers = {} }: ResponseObject, given: Headers): string[] {
  const described = Object.entries(headers).flatMap(([name, { required, schema }]) => {
    const text = given.get(name);
    if (text === null) return required ? [`The header ${name} is missing.`] : [];
    const value = schema.type === 'integer' ? Number(text) : text;
    return faultsOf(value, schema).map(fault => `The header ${name} (${text}): ${fault}.`);
  });
  const known = new Set(Object.keys(headers).map(name => name.toLowerCase()));
  const undescribed = [...given.keys()].filter(name => !known.has(name) && !isOfTransport(name));
  return [...described, ...undescribed.map(name => `The header ${name} is not described.`)];
}

/** Returns whether HTTP servers or AWS add this header to any response, or OpenAPI describes it with the content. */
function isOfTransport(name: string): boolean {
  return /^(?:connection|content-(?:length|type)|date|keep-alive|transfer-encoding|server|via|x-amzn?-.*)$/.test(name);
}

function contentFaults({ content }: ResponseObject, exchange: Exchange, body: unknown): string[] {
  if (exchange.method === 'HEAD' || !content)
    return exchange.body === '' ? [] : [`There is content, which ${exchange.method} is not described with.`];
  const { schema } = content[typeOf(exchange)] ?? {};
  return schema ? faultsOf(body, schema) : [`The content type "${typeOf(exchange)}" is not described.`];
}

/** A refusal has the status, the code and the findings of one of the response's examples. */
function codeFaults(examples: readonly Refusal[], status: number, refusal: Refusal): string[] {
  const { code, error, error_description: description, status: stated, errors = [] } = refusal;
  if ((code ?? error) === undefined) return [];
  const isKnown = examples.some(
    example => example.code === code && example.error === error && example.error_description === description,
  );
  const findings = new Set(examples.flatMap(example => (example.errors ?? []).map(({ code: own }) => own)));
  const unknown = errors.filter(({ code: own }) => !findings.has(own));
  return [
    ...(isKnown ? [] : [`The code ${code ?? error} (${description ?? ''}) is not described.`]),
    ...(stated === undefined || stated === status ? [] : [`The body has the status ${stated}.`]),
    ...unknown.map(({ code: own }) => `A finding ${own} is not described.`),
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
