import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiSession } from '../../../../ops/console/api-session.ts';
import { makeApiSource } from '../../../../ops/console/api-source.ts';
import { failureOf } from '../../../../ops/console/page-parts.ts';
import { answerPage, pages } from '../../../../ops/console/pages/pages.ts';
import type { Source } from '../../../../ops/console/source.ts';
import { aContext, aSource, delivery, done } from './a-source.ts';

// Each page, looked at and sent a form by each who may open a console, of the own account and of another.

const asked: string[] = [];
beforeEach(() => {
  asked.length = 0;
  done.length = 0;
});

/** The panel of an integrator, over an API that has nothing and does everything. */
const panel = (mayChange: boolean): Source => {
  const session: ApiSession = {
    ...{ account: 'acme', mayChange, host: 'api.example.com', isLocal: false, revoke: async () => {} },
    login: {
      authUrl: 'https://auth.example.com',
      baseUrl: 'https://api.example.com',
      claims: async () => ({}),
    } as never,
    call: async (method, path) => {
      asked.push(`${method} ${path}`);
      return { call: '', status: method === 'GET' ? 404 : 202, headers: new Headers(), text: '', json: { id: 'x' } };
    },
  };
  return makeApiSource(session, 'en');
};

/** What any form of a page has. */
const form = new URLSearchParams({
  ...{ event: 'demanda.criada', url: 'https://hooks.example.com/', replay: 'reenvio_1', ids: 'a', id: 'a', group: 'a' },
  ...{ state: 'falhou', since: '2026-11-01T00:00Z', until: '2026-11-02T00:00Z' },
});

/** Returns the status of a page's answer, without starting a server. */
const statusOf = async (source: Source, pattern: string, account: string, sent: URLSearchParams | null) => {
  const values = { account, event: 'demanda.criada', id: delivery.id, name: 'publishing' };
  const path = Object.entries(values).reduce((at, [name, value]) => at.replace(`:${name}`, value), pattern);
  const context = { ...aContext(source, `${path}?state=falhou`), isChange: sent !== null };
  try {
    const answer = await answerPage(context, sent);
    return 'location' in answer ? 303 : (answer.status ?? 200);
  } catch (error) {
    return failureOf(context, error).status;
  }
};

const patterns = pages.map(([pattern, , change, effect]) => ({ pattern, isForm: change !== undefined, effect }));
/** The pages that only operators have. */
const ofOperators = /^\/(?:dead-letters|sandbox|docs)|\/events$|\/suspend$/;

describe.each(patterns)('$pattern', ({ pattern, effect }) => {
  it('changes nothing where it is looked at', async () => {
    for (const source of [aSource(), panel(true), panel(false)]) await statusOf(source, pattern, 'acme', null);
    expect(done).toEqual([]);
    expect(asked.filter(call => !call.startsWith('GET '))).toEqual([]);
  });

  it('changes nothing for who may only read', async () => {
    const status = await statusOf(panel(false), pattern, 'acme', form);
    expect(asked.filter(call => !call.startsWith('GET '))).toEqual([]);
    if (effect !== 'reads') expect([status, asked]).toEqual([404, []]);
    await statusOf(aSource({ mayChange: false }), pattern, 'acme', form);
    expect(done).toEqual([]);
  });
});

it.each(patterns.filter(({ pattern }) => pattern.includes(':account')))(
  '$pattern asks the API for nothing of another account',
  async ({ pattern, isForm }) => {
    for (const source of [panel(true), panel(false)]) {
      for (const sent of [null, ...(isForm ? [form] : [])]) {
        expect(await statusOf(source, pattern, 'loja', sent)).toBeGreaterThanOrEqual(400);
      }
    }
    expect(asked).toEqual([]);
  },
);

it.each(patterns.filter(({ pattern }) => ofOperators.test(pattern)))(
  '$pattern is not there for an integrator',
  async ({ pattern }) => {
    for (const sent of [null, form]) expect(await statusOf(panel(true), pattern, 'acme', sent)).toBe(404);
    expect(asked).toEqual([]);
  },
);
