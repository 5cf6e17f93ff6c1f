import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { account } from '../assembly/identities.ts';
import type { RouteMatch } from './routes.ts';

/** A request as it came over the wire, complete. */
export interface IncomingRequest {
  /** The gateway's id of it, which its answer tells in the header `apigw-requestid`. */
  readonly requestId: string;
  readonly method: string;
  /** Decoded; begins with a slash. */
  readonly path: string;
  /** As sent, without the question mark. */
  readonly rawQueryString: string;
  /** `HTTP/1.1` */
  readonly protocol: string;
  /** Name, value, name, value, …, as sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The caller's address. */
  readonly sourceIp: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

export interface ApiAddress {
  readonly apiId: string;
  /** `127.0.0.1:port` */
  readonly host: string;
}

/** Makes the id of a request in the form of API Gateway's: 15 characters of base64url and `=`. */
export function makeRequestId(): string {
  return `${randomBytes(11).toString('base64url')}=`;
}

/** Makes the event of payload format 2.0 that API Gateway makes of a request. */
export function makeEvent(
  request: IncomingRequest,
  { routeKey, pathParameters }: RouteMatch<unknown>,
  address: ApiAddress,
): APIGatewayProxyEventV2 {
  const collected = collectHeaders(request.rawHeaders);
  const cookies = (collected.get('cookie') ?? []).flatMap(value => value.split(/;\s*/)).filter(value => value !== '');
  const own = [...collected].filter(([name]) => !hopByHop.has(name) && name !== 'cookie');
  const headers: Record<string, string> = {
    ...Object.fromEntries(own.map(([name, values]) => [name, values.join(',')])),
    ...(request.body.length > 0 || collected.has('content-length')
      ? { 'content-length': String(request.body.length) }
      : {}),
    ...gatewayHeaders(request, collected, address),
  };
  const isBase64Encoded = request.body.length > 0 && !isText(headers['content-type'] ?? '', request.body);
  return {
    version: '2.0',
    routeKey,
    rawPath: request.path,
    rawQueryString: request.rawQueryString,
    ...(cookies.length > 0 ? { cookies } : {}),
    headers,
    ...ifAny('queryStringParameters', decodeQuery(request.rawQueryString)),
    requestContext: {
      accountId: account,
      apiId: address.apiId,
      domainName: address.host,
      domainPrefix: address.host.split('.')[0] ?? '',
      http: {
        method: request.method,
        path: request.path,
        protocol: request.protocol,
        sourceIp: request.sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: request.requestId,
      routeKey,
      stage: '$default',
      time: logTime(request.receivedAt),
      timeEpoch: request.receivedAt,
    },
    ...(request.body.length > 0 ? { body: request.body.toString(isBase64Encoded ? 'base64' : 'utf8') } : {}),
    ...ifAny('pathParameters', pathParameters),
    isBase64Encoded,
  };
}

/** Header name in lower case -> values in the order sent. */
function collectHeaders(rawHeaders: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), rawHeaders[index + 1] ?? '']);
  }
  return headers;
}

/** These headers concern the connection to the gateway and are not forwarded (RFC 9110 section 7.6.1). */
const hopByHop = new Set(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade expect content-length'.split(' '),
);

function gatewayHeaders(request: IncomingRequest, headers: Map<string, string[]>, { host }: ApiAddress) {
  const forwarded = [...(headers.get('x-forwarded-for') ?? []), request.sourceIp].join(', ');
  const time = Math.floor(request.receivedAt / 1000).toString(16);
  return {
    'x-amzn-trace-id': `Root=1-${time}-${randomBytes(12).toString('hex')}`,
    'x-forwarded-for': forwarded,
    'x-forwarded-port': host.split(':')[1] ?? '',
    'x-forwarded-proto': 'http',
  };
}

/** API Gateway passes these bodies as text, all others as base64, forms and bodies without a type among them. */
function isText(contentType: string, body: Buffer): boolean {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const isTextual = type.startsWith('text/') || /^application\/(json|xml|javascript)$/.test(type);
  return isTextual && isUtf8(body); // other bytes would be replaced
}

/** Leaves out what API Gateway leaves out when it is empty. */
function ifAny<Key extends string, Value extends object>(key: Key, value: Value) {
  return (Object.keys(value).length > 0 ? { [key]: value } : {}) as { [K in Key]?: Value };
}

function decodeQuery(rawQueryString: string): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    const earlier = values.get(name);
    values.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  return Object.fromEntries(values);
}

/** `12/Mar/2020:19:03:58 +0000`, as in the common log format. */
export function logTime(epoch: number): string {
  const [, day, month, year, time] = /, (\d\d) (\w+) (\d+) ([\d:]+)/.exec(new Date(epoch).toUTCString()) ?? [];
  return `${day}/${month}/${year}:${time} +0000`;
}
