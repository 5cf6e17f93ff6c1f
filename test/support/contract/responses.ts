import {
  document,
  type HeaderObject,
  type Host,
  hostOf,
  type Method,
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
    faults: [...headerFaults(response, pointer, exchange.headers), ...contentFaults(response, pointer, exchange, body)],
  };
}

/** Returns every answer that the document describes for an operation; those to HEAD are those to GET, without the content. */
export function allAnswers(): Answered[] {
  return Object.values(document.paths).flatMap(item =>
    Object.entries(item)
      .filter((member): member is [string, Method] => typeof member[1] === 'object' && 'operationId' in member[1])
      .flatMap(([method, { operationId: operation, responses }]) =>
        Object.entries(responses).flatMap(([status, response]) => [
          ...codesOf(resolved('responses', response, '').part).map(code => ({ operation, status, code })),
          ...(method === 'get' ? [{ operation: headOf(operation), status, code: '' }] : []),
        ]),
      ),
  );
}

interface Found {
  readonly operation: string;
  /** The response, and where it is in the document. */
  readonly described?: { readonly response: ResponseObject; readonly pointer: string } | undefined;
}

function find({ host, method, path, status }: Exchange): Found {
  const found = Object.entries(document.paths).find(
    ([pattern, item]) => hostOf(item) === host && matches(pattern, path),
  );
  if (!found) {
    const described = { response: document['x-not-found'][host], pointer: pointerTo('x-not-found', host) };
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
  const described = response && resolved('responses', response, pointer);
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

function headerFaults({ headers = {} }: ResponseObject, pointer: string, given: Headers): string[] {
  const described = Object.entries(headers).flatMap(([name, header]) => {
    const { part, pointer: place } = resolved<HeaderObject>('headers', header, `${pointer}/headers/${name}`);
    const { required, schema } = part;
    const text = given.get(name);
    if (text === null) return required ? [`The header ${name} is missing.`] : [];
    const isNumber = 'type' in schema && schema.type === 'integer';
    return faultsOf(isNumber ? Number(text) : text, `${place}/schema`).map(
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
  { method, headers, body: text }: Exchange,
  body: unknown,
): string[] {
  if (method === 'HEAD' || !content)
    return text === '' ? [] : [`There is content, which ${method} is not described with.`];
  const type = headers.get('content-type') ?? '';
  if (!content[type]) return [`The content type "${type}" is not described.`];
  return faultsOf(body, `${pointer}/content/${pointerTo(type).slice(2)}/schema`);
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
