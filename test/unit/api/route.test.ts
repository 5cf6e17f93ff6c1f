import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedMethods, managing, matchPath, reading } from '../../../lambdas/api/route.ts';

describe('a path', () => {
  const pattern = '/v1/webhooks/{evento}/entregas/{id}';

  it('gives what stands at its places', () => {
    expect(matchPath(pattern, '/v1/webhooks/a.b/entregas/c')).toEqual({ evento: 'a.b', id: 'c' });
    expect(matchPath(pattern, '/v1/webhooks/{evento}/entregas/__proto__')).toEqual({
      evento: '{evento}',
      id: '__proto__',
    });
    expect(matchPath('/v1/webhooks', '/v1/webhooks')).toEqual({});
  });

  it.each([
    '/v1/webhooks/a/entregas/',
    '/v1/webhooks//entregas/c',
    '/v1/webhooks/a/entregas/c/',
    '/v1/webhooks/a/entregas',
    '/v1/webhooks/a/Entregas/c',
    'v1/webhooks/a/entregas/c',
    '/v1/webhooks/a/entregas\n/c',
    '',
  ])('is not %j', path => {
    expect(matchPath(pattern, path)).toBeUndefined();
  });

  it('is matched exactly where its places are filled in with one segment each', () => {
    const segment = fc.string({ minLength: 1 }).filter(text => !text.includes('/'));
    fc.assert(
      fc.property(segment, segment, (evento, id) => {
        expect(matchPath(pattern, `/v1/webhooks/${evento}/entregas/${id}`)).toEqual({ evento, id });
        expect(matchPath(pattern, `/v1/webhooks/${evento}/entregas/${id}/${id}`)).toBeUndefined();
      }),
    );
  });
});

describe('Allow (RFC 9110 section 10.2.1)', () => {
  it('names HEAD beside GET', () => {
    const run = async () => ({ statusCode: 200 });
    const methods = { GET: reading(run), DELETE: managing(run) };
    expect(allowedMethods({ path: '/x', methods })).toBe('GET, HEAD, DELETE');
    expect(allowedMethods({ path: '/x', methods: { POST: managing(run) } })).toBe('POST');
  });
});
