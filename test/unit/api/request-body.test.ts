import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../lambdas/api/problem.ts';
import { bodyProblems } from '../../../lambdas/api/problems.ts';
import { parseJsonBody } from '../../../lambdas/api/request-body.ts';
import { processorTimeOf } from '../../support/processor-time.ts';

const makeProblem = Problem.from(bodyProblems);

const read = (
  body: string | Buffer | undefined,
  contentType: string | undefined = 'application/json',
  isOptional = false,
) =>
  parseJsonBody(
    {
      headers: contentType === undefined ? {} : { 'content-type': contentType },
      ...(body === undefined ? {} : { body: Buffer.from(body).toString('base64') }),
      isBase64Encoded: true,
    },
    makeProblem,
    isOptional,
  );

const codeOf = (run: () => unknown): string | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof Problem ? `${error.status} ${error.code}` : `not a problem: ${error}`;
  }
};

describe('parseJsonBody (RFC 8259)', () => {
  const charsets = ['; charset=utf-8', '; charset="utf-8"', ';charset="UTF8"', '; charset = utf-8'];
  it.each(['', ...charsets, '; profile=x'])('accepts the type application/json%s', parameters => {
    for (const type of ['application/json', 'Application/JSON'])
      expect(read('{"a":1}', type + parameters)).toEqual({ a: 1 });
  });

  const others = ['=iso-8859-1', '=utf--8', ' = utf88', '=utf8; charset=latin1'];
  it.each([
    ...['', 'text/plain', 'application/problem+json', 'application/jsonx', 'application/json, application/json'],
    ...others.map(charset => `application/json; charset${charset}`),
  ])('rejects the media type %j', contentType => {
    expect(codeOf(() => read('{}', contentType))).toBe('415 unsupported_media_type');
  });

  it('rejects a body without a media type', () => {
    const request = { headers: {}, body: '{}', isBase64Encoded: false };
    expect(codeOf(() => parseJsonBody(request, makeProblem))).toBe('415 unsupported_media_type');
  });

  it('limits the size to 16,384 bytes', () => {
    const padded = (bytes: number) => `"${'ã'.repeat((bytes - 2) / 2)}"`;
    expect(codeOf(() => read(padded(16_384)))).toBeUndefined();
    expect(codeOf(() => read(padded(16_386)))).toBe('413 payload_too_large');
  });

  it.each<[string, string | Buffer | undefined]>([
    ['no body', undefined],
    ['an empty body', ''],
    ['white space', ' \n'],
    ['a truncated body', '{"a":'],
    ['single quotes', "{'a':1}"],
    ['a comment', '{"a":1} // x'],
    ['two values', '{} {}'],
    ['NaN', '{"a":NaN}'],
    ['a form', 'a=1'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['a duplicate name', '{"url":"a","url":"b"}'],
    ['a duplicate name with an escaped letter', '{"url":"a","\\u0075rl":"b"}'],
    ['a duplicate name after nested values', '{"url":{"x":["url",{"url":1}]},"b":"\\"url\\":","url":1}'],
  ])('rejects %s', (_case, body) => {
    expect(codeOf(() => read(body))).toBe('400 invalid_json');
  });

  it.each(['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', '{"a":"\\"a\\":1","b":"a"}', '["a","a"]', 'null', '"a:a"'])(
    'accepts %s, which contains no duplicate name',
    body => {
      expect(read(body)).toEqual(JSON.parse(body));
    },
  );

  it('parses the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), value => {
        expect(read(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it.each([
    ['deep nesting', '['.repeat(8_192) + ']'.repeat(8_192)],
    ['deep objects', `${'{"a":'.repeat(2_700)}1${'}'.repeat(2_700)}`],
    ['backslashes', `{"a":"${'\\\\'.repeat(4_000)}"}`],
    ['many strings that are not names', `[${'"a",'.repeat(4_000)}1]`],
    ['white space after strings', `[${`"a"${' '.repeat(100)},`.repeat(150)}1]`],
    ['a repeated name in a nested object', `{"a":{${Array(2_000).fill('"b":1').join()}}}`],
  ])('parses %s in linear time', (_case, body) => {
    const processorTime = processorTimeOf(() => expect(codeOf(() => read(body))).toBeUndefined());
    expect(processorTime).toBeLessThan(500);
  });

  it('does not repeat the body in errors', () => {
    try {
      read('{"autorizacao":"s3cret",');
    } catch (error) {
      expect(JSON.stringify(error) + String(error) + String((error as Error).cause)).not.toContain('s3cret');
    }
    expect.assertions(1);
  });

  it('treats a missing optional body as {}, regardless of the media type', () => {
    expect(read(undefined, 'text/plain', true)).toEqual({});
    expect(codeOf(() => read('{}', 'text/plain', true))).toBe('415 unsupported_media_type');
  });

  it.each(['null', ' null\n', '[]', '0', '"null"', 'false'])(
    'accepts the optional body %j, and treats null as missing',
    body => {
      const value = JSON.parse(body);
      expect(read(body, 'application/json', true)).toEqual(value === null ? {} : value); // generated clients send null for a missing body
    },
  );
});
