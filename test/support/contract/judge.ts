import type { IncomingHttpHeaders } from 'node:http';
import { documents, faultsOf, type Host, type Method, type Refusal, type ResponseObject } from './document.ts';

/** A request to one of the hosts, and its answer. */
export interface Exchange {
  readonly host: Host;
  readonly method: string;
  /** Decoded, as the gateway hands it on. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** An answer of an operation. */
export interface Answered {
  readonly operation: string;
  readonly status: string;
  /** A code, or a case of {auth_url}; `gateway`; empty for a success, and for HEAD, which shows none. */
  readonly code: string;
}

/** Judges an answer by the document: status, media type, headers, body, and whether its code is one of the operation's. */
export function judgeResponse(exchange: Exchange): { met: Answered; faults: readonly string[] } {
  const { operation, response } = find(exchange);
  const status = String(exchange.status);
  if (!response) return { met: { operation, status, code: '?' }, faults: [`The status ${status} is not described.`] };
  const body = parse(exchange.body);
  const examples = Object.entries(response.content?.[typeOf(exchange)]?.examples ?? {});
  const refusal: Refusal = { ...Object(body) };
  const named = examples.find(([, { value }]) => value.error_description === refusal.error_description);
  return {
    met: { operation, status, code: codeOf(named?.[0] ?? refusal.error ?? '', refusal) },
    faults: [
      ...headerFaults(response, exchange.headers),
      ...contentFaults(response, exchange, body),
      ...(exchange.method === 'HEAD'
        ? []
        : codeFaults(
            examples.map(([, { value }]) => value),
            exchange.status,
            refusal,
          )),
    ],
  };
}

/** Returns every answer that the document describes for an operation; those to HEAD are those to GET, without the content. */
export function allAnswers(): Answered[] {
  const items = Object.values(documents).flatMap(({ paths }) => Object.values(paths));
  const methods = items.flatMap(item => Object.entries(item).filter(isMethod));
  return methods.flatMap(([method, { operationId: operation, responses }]) =>
    Object.entries(responses).flatMap(([status, response]) => [
      ...codesOf(response).map(code => ({ operation, status, code })),
      ...(method === 'get' ? [{ operation: `${operation}Head`, status, code: '' }] : []),
    ]),
  );
}

function isMethod(member: readonly [string, Method | ResponseObject]): member is [string, Method] {
  return 'operationId' in member[1];
}

/** Judges a delivery by the document's `webhooks`: its headers and its body. Returns the event, and what is not described. */
export function judgeDelivery({ method, headers, body }: Arrived): { event: string; faults: readonly string[] } {
  const content = parse(body);
  const event = String(Object(content).event);
  const { webhooks = {} } = documents.base;
  const described = Object.hasOwn(webhooks, event) ? webhooks[event]?.post : undefined;
  if (!described) return { event, faults: [`The event ${event} is not described.`] };
  const parameters = described.parameters.map(({ name, schema }) => ({ name: name.toLowerCase(), schema }));
  const known = new Set([...parameters.map(({ name }) => name), ...ofEveryRequest]);
  const undescribed = Object.keys(headers).filter(name => !known.has(name));
  const fixed = { 'content-type': 'application/json', accept: '*/*' };
  return {
    event,
    faults: [
      ...(method === 'POST' ? [] : [`The method is ${method}.`]),
      ...Object.entries(fixed).flatMap(([name, value]) =>
        headers[name] === value ? [] : [`The header ${name} is ${headers[name]}.`],
      ),
      ...parameters.flatMap(({ name, schema }) =>
        faultsOf(headers[name], schema).map(fault => `The header ${name} (${headers[name]}): ${fault}.`),
      ),
      ...undescribed.map(name => `The header ${name} is not described.`),
      ...faultsOf(content, described.requestBody.content['application/json'].schema),
    ],
  };
}

/** A delivery as a receiver gets it. */
export interface Arrived {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** HTTP's own, and those that OpenAPI does not describe as parameters: `Authorization` is the security scheme of receivers. */
const ofEveryRequest = 'host connection content-length transfer-encoding accept authorization content-type'.split(' ');

/** Returns the name of an operation, and its response with the status of the exchange, if there is one. */
function find({ host, method, path, status }: Exchange): { operation: string; response?: ResponseObject | undefined } {
  const { paths, 'x-not-found': notFound } = documents[host];
  const [pattern, item] = Object.entries(paths).find(([known]) => matches(known, path)) ?? [];
  if (!item) return { operation: `unknown path (${host})`, response: status === 404 ? notFound : undefined };
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = Object.hasOwn(item, name) ? item[name] : undefined;
  if (operation) {
    const response = operation.responses[status];
    return { operation: `${operation.operationId}${method === 'HEAD' ? 'Head' : ''}`, response };
  }
  return {
    operation: `other method (${pattern})`,
    response: status === 405 ? item['x-method-not-allowed'] : undefined,
  };
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

/** Returns whether HTTP servers or AWS add this header to any answer, or OpenAPI describes it with the content. */
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

/** Returns the code of an answer. Cases of {auth_url} have the names of their examples. */
function codeOf(name: string, { code, message, error }: Refusal): string {
  if (typeof code === 'string') return code;
  if (typeof message === 'string') return 'gateway';
  return typeof error === 'string' ? name : '';
}

function codesOf({ content = {} }: ResponseObject): string[] {
  const examples = Object.values(content).flatMap(({ examples = {} }) => Object.entries(examples));
  return examples.length === 0 ? [''] : [...new Set(examples.map(([name, { value }]) => codeOf(name, value)))];
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
