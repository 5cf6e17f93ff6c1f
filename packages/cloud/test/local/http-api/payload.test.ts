import { describe, expect, it } from 'vitest';
import { eventOf, responseOf } from '../../../src/local/http-api/payload.ts';

/** Returns the event for a request. */
const event = (headersDistinct: Record<string, string[]> = {}, body = Buffer.alloc(0)) => {
  const message = { method: 'POST', headersDistinct, socket: { remoteAddress: '127.0.0.1' } as never };
  return eventOf({ requestId: 'AbC=', path: '/a b', rawQueryString: 'c=%20', message, body }, 'ANY /{x}');
};

describe('an event', () => {
  it('has the fields that the functions read, and joins repeated headers with commas', () => {
    expect(event({ host: ['h'], authorization: ['Basic x', 'Bearer y'] })).toEqual({
      version: '2.0',
      routeKey: 'ANY /{x}',
      rawPath: '/a b',
      rawQueryString: 'c=%20',
      headers: { host: 'h', authorization: 'Basic x,Bearer y' },
      requestContext: {
        http: { method: 'POST', path: '/a b', sourceIp: '127.0.0.1' },
        requestId: 'AbC=',
        routeKey: 'ANY /{x}',
        stage: '$default',
      },
      isBase64Encoded: false,
    });
  });

  it.each([
    // On AWS, text/*, JSON, XML and JavaScript are text. All other types are binary.
    ['application/json', 'á', false],
    ['APPLICATION/JSON; charset=utf-8', 'á', false],
    ['application/xml', 'á', false],
    ['text/anything', 'á', false],
    ['application/x-www-form-urlencoded', 'á', true],
    ['application/problem+json', 'á', true],
    ['', 'á', true],
    ['application/json', Buffer.of(0x22, 0xff), true], // not UTF-8
  ])('encodes a body of type %j (%j) in base64: %s', (type, sent, isBase64Encoded) => {
    const body = Buffer.from(sent as string);
    const made = event({ 'content-type': [type] }, body);
    expect(made.isBase64Encoded).toBe(isBase64Encoded);
    expect(Buffer.from(made.body ?? '', isBase64Encoded ? 'base64' : 'utf8')).toEqual(body);
  });
});

const response = (payload: string) => {
  const { status, headers, body } = responseOf({ outcome: 'returned', payload });
  return [status, headers, String(body)];
};

describe('a response', () => {
  it.each([
    [{ statusCode: 204 }, [204, {}, '']],
    [{ statusCode: 201, headers: { a: 'b', n: 1 }, body: 'x' }, [201, { a: 'b', n: '1' }, 'x']],
    [{ statusCode: 200, body: 'eA==', isBase64Encoded: true }, [200, {}, 'x']],
  ])('is converted from the result %j', (result, expected) => {
    expect(response(JSON.stringify(result))).toEqual(expected);
  });

  it.each(['{', 'null', '{"statusCode":"abc"}', '{"statusCode":42}', '{"statusCode":200,"body":{}}'])(
    'has status 500 without details for an error or a malformed result: %s',
    payload => {
      const internal = [500, { 'content-type': 'application/json' }, '{"message":"Internal Server Error"}'];
      expect(response(payload)).toEqual(internal);
      const error = { errorType: 'TypeError', errorMessage: 'secret' };
      expect(String(responseOf({ outcome: 'failed', error }).body)).toBe(internal[2]);
    },
  );
});
