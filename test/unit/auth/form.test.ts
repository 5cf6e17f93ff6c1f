import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeForm, decodeFormComponent } from '../../../lambdas/auth/form.ts';

const decode = (body: string) => decodeForm(Buffer.from(body, 'latin1'));
/** Generates well-formed Unicode without NUL, which a client may send. */
const text = fc.string({ unit: 'grapheme' }).filter(value => !value.includes('\0') && value.isWellFormed());

describe('decodeForm (RFC 6749 appendix B)', () => {
  it.each([
    ['', []],
    ['&&', []],
    ['a=1&b=2', ['a', '1', 'b', '2']],
    ['a', ['a', '']],
    ['=1', ['', '1']],
    ['a=b=c', ['a', 'b=c']],
    ['a=1&a=2', ['a', '1', 'a', '2']],
    ['a+b=c%20d%2B', ['a b', 'c d+']],
    ['a=%C3%a9', ['a', 'é']],
    ['a=\xc3\xa9', ['a', 'é']],
    ['a=%EF%BB%BFx', ['a', '\ufeffx']],
    ['a;b=1', ['a;b', '1']],
  ])('decodes %j to the names and values %j.', (body, namesAndValues) => {
    expect(decode(body)?.flat()).toEqual(namesAndValues);
  });

  const malformed = ['%', 'a=%', 'a=%4', '%g0=1', 'a=%0g', 'a=% 1', 'a=%+1'];
  const notText = ['a=%00', 'a\0', 'a=%ff', 'a=\xff', 'a=%C0%80', 'a=%ED%A0%80', 'a=%F4%90%80%80'];
  it.each([...malformed, ...notText])('returns undefined for the malformed form %j.', body => {
    expect(decode(body)).toBeUndefined();
  });

  it('decodes a form to the fields that the client encoded.', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), fields => {
        expect(decode(new URLSearchParams(fields).toString())).toEqual(fields);
      }),
    );
  });

  it('never throws, and returns only fields that can be encoded again.', () => {
    const alphabet = fc.constantFrom(...Buffer.from('a%0Cfé=&+\0', 'utf8'), 0xff, 0x80);
    fc.assert(
      fc.property(fc.array(alphabet), bytes => {
        const fields = decodeForm(Buffer.from(bytes));
        if (!fields) return;
        expect(fields.flat().every(value => value.isWellFormed() && !value.includes('\0'))).toBe(true);
        const sent = fields.map(([name, value]): [string, string] => [name, value]);
        expect(decode(new URLSearchParams(sent).toString())).toEqual(fields);
      }),
      { numRuns: 1_000 },
    );
  });

  it('decodes each accepted name in the same way as WHATWG URL.', () => {
    fc.assert(
      fc.property(fc.uint8Array(), bytes => {
        const decoded = decodeFormComponent(bytes);
        if (decoded === undefined || /[&=]/.test(Buffer.from(bytes).toString('latin1'))) return;
        const [[name] = ['']] = [...new URLSearchParams(`x${Buffer.from(bytes).toString('utf8')}`)];
        expect(`x${decoded}`).toBe(name);
      }),
    );
  });
});
