import { describe, expect, it } from 'vitest';
import { makeResponse } from '../../../src/local/http-api/response.ts';

const returned = (result: unknown) => {
  const { status, headers, body } = makeResponse({ outcome: 'returned', payload: JSON.stringify(result) ?? '' });
  return { status, headers, body: body.toString() };
};
const json = ['content-type', 'application/json'];

describe('what a function returned becomes the response', () => {
  it.each([
    [{ statusCode: 204 }, 204, [], ''],
    [{ statusCode: '201', body: 'x', headers: { 'content-type': 'a/b' } }, 201, [['content-type', 'a/b']], 'x'],
    [{ statusCode: 200, body: 'x' }, 200, [['content-type', 'text/plain;charset=UTF-8']], 'x'],
    [{ statusCode: 200, headers: { A: 1, B: true } }, 200, Object.entries({ A: '1', B: 'true' }), ''],
    [{ statusCode: 200, cookies: ['a=1', 'b=2'] }, 200, ['a=1', 'b=2'].map(cookie => ['set-cookie', cookie]), ''],
    [
      { statusCode: 200, body: 'eA==', isBase64Encoded: true },
      200,
      [['content-type', 'text/plain;charset=UTF-8']],
      'x',
    ],
    [{ statusCode: 200, body: null, headers: null, cookies: null, isBase64Encoded: null }, 200, [], ''],
    [{ statusCode: 200, headers: { 'Content-Length': '99', Connection: 'close' } }, 200, [], ''],
    // Without a status code the result is the body of a 200.
    [{ hello: 1 }, 200, [json], '{"hello":1}'],
    ['text', 200, [json], 'text'],
    [[1], 200, [json], '[1]'],
    [null, 200, [json], 'null'],
  ])('%j', (result, status, headers, body) => {
    expect(returned(result)).toEqual({ status, headers, body });
  });
});

describe('an error and a malformed result become 500', () => {
  const internal = { status: 500, headers: [json], body: '{"message":"Internal Server Error"}' };
  it.each([
    [{ statusCode: 'abc' }],
    [{ statusCode: 42 }],
    [{ statusCode: 200.5 }],
    [{ statusCode: 200, body: { a: 1 } }],
    [{ statusCode: 200, headers: { a: ['x'] } }],
    [{ statusCode: 200, cookies: 'a=1' }],
  ])('%j', result => {
    expect(returned(result)).toEqual(internal);
  });

  it('an error is not shown to the caller', () => {
    const error = { errorType: 'TypeError', errorMessage: 'secret' };
    expect(makeResponse({ outcome: 'failed', error }).body.toString()).toBe(internal.body);
    expect(makeResponse({ outcome: 'returned', payload: 'not json' }).status).toBe(500);
  });
});
