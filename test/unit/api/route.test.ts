import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchPath } from '../../../lambdas/api/route.ts';

// `describeApiRefusals` asks every path for its methods.

describe('matchPath', () => {
  const pattern = '/v1/webhooks/{evento}/entregas/{id}';

  it('gives its parameters', () => {
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
  ])('does not match %j', path => {
    expect(matchPath(pattern, path)).toBeUndefined();
  });

  it('matches exactly when each parameter is one segment', () => {
    const segment = fc.string({ minLength: 1 }).filter(text => !text.includes('/'));
    fc.assert(
      fc.property(segment, segment, (evento, id) => {
        expect(matchPath(pattern, `/v1/webhooks/${evento}/entregas/${id}`)).toEqual({ evento, id });
        expect(matchPath(pattern, `/v1/webhooks/${evento}/entregas/${id}/${id}`)).toBeUndefined();
      }),
    );
  });
});
