import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchPath } from '../../../lambdas/api/route.ts';

describe('matchPath', () => {
  const pattern = '/v1/webhooks/{evento}/entregas/{id}';

  it('returns the path parameters', () => {
    expect(matchPath(pattern, '/v1/webhooks/a.b/entregas/c')).toEqual({ evento: 'a.b', id: 'c' });
    expect(matchPath(pattern, '/v1/webhooks/{x}/entregas/__proto__')).toEqual({ evento: '{x}', id: '__proto__' });
    expect(matchPath('/v1/webhooks', '/v1/webhooks')).toEqual({});
  });

  const others = ['a/entregas/', '/entregas/c', 'a/entregas/c/', 'a/entregas', 'a/Entregas/c', 'a/entregas\n/c'];
  it.each([...others.map(rest => `/v1/webhooks/${rest}`), 'v1/webhooks/a/entregas/c', ''])(
    'does not match %j',
    path => {
      expect(matchPath(pattern, path)).toBeUndefined();
    },
  );

  it('matches only if each parameter is one segment', () => {
    const segment = fc.string({ minLength: 1 }).filter(text => !text.includes('/'));
    fc.assert(
      fc.property(segment, segment, (evento, id) => {
        expect(matchPath(pattern, `/v1/webhooks/${evento}/entregas/${id}`)).toEqual({ evento, id });
        expect(matchPath(pattern, `/v1/webhooks/${evento}/entregas/${id}/${id}`)).toBeUndefined();
      }),
    );
  });
});
