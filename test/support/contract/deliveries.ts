import type { IncomingHttpHeaders } from 'node:http';
import { documents, pointerTo } from './document.ts';
import { faultsOf } from './validation.ts';

/** A delivery as a receiver gets it. */
export interface Arrived {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const { webhooks = {} } = documents.base;

/** Judges a delivery by the document's `webhooks`: its headers and its body. Returns the event, and what is not described. */
export function judgeDelivery({ method, headers, body }: Arrived): { event: string; faults: readonly string[] } {
  const content = parse(body);
  const event = String(Object(content).event);
  const described = Object.hasOwn(webhooks, event) ? webhooks[event] : undefined;
  if (!described) return { event, faults: [`The event ${event} is not described.`] };
  const parameters = described.post.parameters.map(({ name }, at) => ({
    name: name.toLowerCase(),
    pointer: pointerTo('webhooks', event, 'post', 'parameters', String(at), 'schema'),
  }));
  const wrong = parameters.flatMap(({ name, pointer }) =>
    faultsOf(headers[name], 'base', pointer).map(fault => `The header ${name} (${headers[name]}): ${fault}.`),
  );
  const known = new Set([...parameters.map(({ name }) => name), ...ofEveryRequest]);
  const undescribed = Object.keys(headers).filter(name => !known.has(name));
  return {
    event,
    faults: [
      ...(method === 'POST' ? [] : [`The method is ${method}.`]),
      ...(headers['content-type'] === 'application/json' ? [] : [`The content type is ${headers['content-type']}.`]),
      ...(headers.accept === '*/*' ? [] : [`The header accept is ${headers.accept}.`]),
      ...wrong,
      ...undescribed.map(name => `The header ${name} is not described.`),
      ...faultsOf(
        content,
        'base',
        pointerTo('webhooks', event, 'post', 'requestBody', 'content', 'application/json', 'schema'),
      ),
    ],
  };
}

/** HTTP's own, and those that OpenAPI does not describe as parameters: `Authorization` is the security scheme of receivers. */
const ofEveryRequest = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept',
  'authorization',
  'content-type',
];

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
