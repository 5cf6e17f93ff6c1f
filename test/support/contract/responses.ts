import {
  documents,
  type HeaderObject,
  type Host,
  type Method,
  type PathItem,
  pointerTo,
  type ResponseObject,
  resolved,
} from './document.ts';
import { faultsOf } from './validation.ts';

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

/** The judgement of an answer by the document. */
export interface Judgement {
  /** The answer: the operation, the status, and which of its answers. */
  readonly met: Answered;
  /** The parts that the document does not describe, a line each. */
  readonly faults: readonly string[];
}

/** An answer of an operation. */
export interface Answered {
  readonly operation: string;
  readonly status: string;
  /** A code, or a case of {auth_url}; `gateway`; empty for a success, and for HEAD, which shows none. */
  readonly code: string;
}

/** Judges an answer by the document: status, media type, headers, body, and whether its code is one of the operation's. */
export function judgeResponse(exchange: Exchange): Judgement {
  const { operation, described } = find(exchange);
  const status = String(exchange.status);
  if (!described) {
    return { met: { operation, status, code: '?' }, faults: [`The status ${status} is not described.`] };
  }
  const { response, pointer } = described;
  const body = parse(exchange.body);
  return {
    met: { operation, status, code: codeOf(response, exchange, body) },
    faults: [
      ...headerFaults(response, pointer, exchange),
      ...contentFaults(response, pointer, exchange, body),
      ...codeFaults(response, exchange, body),
    ],
  };
}

/** Returns every answer that the document describes for an operation; those to HEAD are those to GET, without the content. */
export function allAnswers(): Answered[] {
  return hosts.flatMap(host => Object.values(documents[host].paths).flatMap(item => answersOf(host, item)));
}

const hosts = ['auth', 'base'] as const;

function answersOf(host: Host, item: PathItem): Answered[] {
  return Object.entries(item)
    .filter((member): member is [string, Method] => typeof member[1] === 'object' && 'operationId' in member[1])
    .flatMap(([method, { operationId: operation, responses }]) =>
      Object.entries(responses).flatMap(([status, response]) => [
        ...codesOf(resolved(host, 'responses', response, '').part).map(code => ({ operation, status, code })),
        ...(method === 'get' ? [{ operation: headOf(operation), status, code: '' }] : []),
      ]),
    );
}

interface Found {
  readonly operation: string;
  /** The response, and where it is in the document. */
  readonly described?: { readonly response: ResponseObject; readonly pointer: string } | undefined;
}

function find({ host, method, path, status }: Exchange): Found {
  const { paths, 'x-not-found': notFound } = documents[host];
  const found = Object.entries(paths).find(([pattern]) => matches(pattern, path));
  if (!found) {
    const described = { response: notFound, pointer: pointerTo('x-not-found') };
    return { operation: `unknown path (${host})`, described: status === 404 ? described : undefined };
  }
  const [pattern, item] = found;
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = Object.hasOwn(item, name) ? item[name] : undefined;
  if (!operation) {
    const response = item['x-method-not-allowed'];
    const described = { response, pointer: pointerTo('paths', pattern, 'x-method-not-allowed') };
    return { operation: `other method (${pattern})`, described: status === 405 ? described : undefined };
  }
  const response = operation.responses[status];
  const pointer = pointerTo('paths', pattern, name, 'responses', String(status));
  const described = response && resolved(host, 'responses', response, pointer);
  return {
    operation: method === 'HEAD' ? headOf(operation.operationId) : operation.operationId,
    described: described && { response: described.part, pointer: described.pointer },
  };
}

function headOf(operation: string): string {
  return `${operation}Head`;
}

function matches(pattern: string, path: string): boolean {
  const names = pattern.split('/');
  const segments = path.split('/');
  return (
    names.length === segments.length &&
    names.every((name, at) => (name.startsWith('{') ? segments[at] !== '' : segments[at] === name))
  );
}

function headerFaults({ headers = {} }: ResponseObject, pointer: string, exchange: Exchange): string[] {
  const { host, headers: given } = exchange;
  const described = Object.entries(headers).flatMap(([name, header]) => {
    const { part, pointer: place } = resolved<HeaderObject>(host, 'headers', header, `${pointer}/headers/${name}`);
    const { required, schema } = part;
    const text = given.get(name);
    if (text === null) return required ? [`The header ${name} is missing.`] : [];
    const isNumber = 'type' in schema && schema.type === 'integer';
    return faultsOf(isNumber ? Number(text) : text, host, `${place}/schema`).map(
      fault => `The header ${name} (${text}): ${fault}.`,
    );
  });
  const known = new Set(Object.keys(headers).map(name => name.toLowerCase()));
  const undescribed = [...given.keys()].filter(name => !known.has(name) && !isOfTransport(name));
  return [...described, ...undescribed.map(name => `The header ${name} is not described.`)];
}

/** Returns whether HTTP servers or AWS add this header to any answer, or OpenAPI describes it with the content. */
function isOfTransport(name: string): boolean {
  return /^(?:connection|content-(?:length|type)|date|keep-alive|transfer-encoding|server|via|x-amzn?-.*)$/.test(name);
}

function contentFaults(
  { content }: ResponseObject,
  pointer: string,
  { host, method, headers, body: text }: Exchange,
  body: unknown,
): string[] {
  if (method === 'HEAD' || !content)
    return text === '' ? [] : [`There is content, which ${method} is not described with.`];
  const type = headers.get('content-type') ?? '';
  if (!content[type]) return [`The content type "${type}" is not described.`];
  return faultsOf(body, host, `${pointer}/content/${pointerTo(type).slice(2)}/schema`);
}

/** A refusal has the status, the code and the findings of one of the response's examples. */
function codeFaults({ content = {} }: ResponseObject, { method, status, headers }: Exchange, body: unknown): string[] {
  const { code, error, error_description: description, status: told, errors = [] } = Object(body) as Refusal;
  if (method === 'HEAD' || (code ?? error) === undefined) return [];
  const { examples = {} } = content[headers.get('content-type') ?? ''] ?? {};
  const known = Object.values(examples).map(({ value }) => value as Refusal);
  const isKnown = known.some(
    example => example.code === code && example.error === error && example.error_description === description,
  );
  const findings = new Set(known.flatMap(example => (example.errors ?? []).map(({ code: own }) => own)));
  return [
    ...(isKnown ? [] : [`The code ${code ?? error} (${description ?? ''}) is not described.`]),
    ...(told === undefined || told === status ? [] : [`The body has the status ${told}.`]),
    ...errors
      .filter(({ code: own }) => !findings.has(own))
      .map(({ code: own }) => `A finding ${own} is not described.`),
  ];
}

interface Refusal {
  readonly status?: number;
  readonly code?: string;
  readonly error?: string;
  readonly error_description?: string;
  readonly errors?: readonly { readonly code: string }[];
}

function codeOf({ content = {} }: ResponseObject, { headers }: Exchange, body: unknown): string {
  const examples = Object.entries(content[headers.get('content-type') ?? '']?.examples ?? {});
  const given = Object(body);
  if (typeof given.code === 'string') return given.code;
  if (typeof given.message === 'string') return 'gateway';
  if (typeof given.error !== 'string') return '';
  const isGiven = ([, { value }]: (typeof examples)[number]) => value.error_description === given.error_description;
  return examples.find(isGiven)?.[0] ?? given.error;
}

function codesOf({ content = {} }: ResponseObject): string[] {
  const codes = Object.values(content).flatMap(({ examples = {} }) =>
    Object.entries(examples).map(([name, { value }]) => {
      if (typeof value.code === 'string') return value.code;
      if (typeof value.message === 'string') return 'gateway';
      return typeof value.error === 'string' ? name : '';
    }),
  );
  return codes.length === 0 ? [''] : [...new Set(codes)];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
