import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiSession } from '../../../../ops/console/api-session.ts';
import { makeApiSource } from '../../../../ops/console/api-source.ts';
import { failureOf } from '../../../../ops/console/page-parts.ts';
import { answerPage, pages } from '../../../../ops/console/pages/pages.ts';
import { aContext, delivery } from './a-source.ts';

// Each page, looked at and sent a form with each right.

const asked: string[] = [];
beforeEach(() => {
  asked.length = 0;
});

/** Returns a source over an API that has nothing and does everything. */
const sourceOf = (mayChange: boolean) => {
  const session: Omit<ApiSession, 'revoke'> = {
    ...{ account: 'acme', mayChange, host: 'api.example.com', isLocal: false },
    login: {
      authUrl: 'https://auth.example.com',
      baseUrl: 'https://api.example.com',
      claims: async () => ({ account_id: 'acme', scope: '' }),
    },
    call: async (method, path) => {
      asked.push(`${method} ${path}`);
      return { call: '', status: method === 'GET' ? 404 : 202, headers: new Headers(), text: '', json: { id: 'x' } };
    },
  };
  return makeApiSource(session, 'en');
};

/** What any form of a page has. */
const form = new URLSearchParams({
  ...{ event: 'demanda.criada', url: 'https://hooks.example.com/', replay: 'reenvio_1' },
  ...{ state: 'falhou', since: '2026-11-01T00:00Z', until: '2026-11-02T00:00Z' },
});

/** Returns the status of a page's answer, without starting a server. */
const statusOf = async (mayChange: boolean, pattern: string, sent: URLSearchParams | null) => {
  const path = pattern.replace(':event', 'demanda.criada').replace(':id', delivery.id);
  const context = { ...aContext(sourceOf(mayChange), `${path}?state=falhou`), isChange: sent !== null };
  try {
    const answer = await answerPage(context, sent);
    return 'location' in answer ? 303 : (answer.status ?? 200);
  } catch (error) {
    return failureOf(error).status;
  }
};

describe.each(pages.map(([pattern]) => ({ pattern })))('$pattern', ({ pattern }) => {
  it('changes nothing where it is looked at', async () => {
    for (const mayChange of [true, false]) await statusOf(mayChange, pattern, null);
    expect(asked.filter(call => !call.startsWith('GET '))).toEqual([]);
  });

  it('changes nothing for who may only read', async () => {
    expect([await statusOf(false, pattern, form), asked]).toEqual([404, []]);
  });
});
