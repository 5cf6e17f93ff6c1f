import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { replayRecord } from '../../../../lambdas/delivery/api/responses.ts';
import { makeStage, type Stage, type StageRequest } from '../../../support/stage.ts';
import { aResponse } from '../builders.ts';

let stage: Stage;
beforeEach(async () => {
  stage = makeStage([]);
  await stage.register();
});

const minute = 60_000;
const day = 24 * 60 * minute;
const path = '/v1/webhooks/demanda.criada/reenvios';
const range = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T23:00:00Z', estado: 'falhou' };
const codeOf = async (method: string, at: string, sent?: StageRequest) => {
  const { status, json } = await stage.request(method, at, sent);
  return json?.code ? `${status} ${json.code}` : `${status}`;
};
const start = (changes: object = {}) => stage.request('POST', path, { body: { ...range, ...changes } });
const show = async (id: string) => (await stage.request('GET', `${path}/${id}`)).json;

/** Publishes one event per second. The only attempt of each event fails. */
const fail = async (count: number) => {
  for (let event = 0; event < count; event++) {
    stage.answers.push(aResponse(500));
    stage.publishEvent();
    await stage.pass(1_000);
  }
};

describe('a replay', () => {
  it('is shown with its progress from its start until 30 days after its end', async () => {
    await fail(3);
    const { status, headers, json } = await start();
    expect([status, headers.location]).toEqual([202, `${path}/${json.id}`]);
    expect(json).toEqual({ id: expect.stringMatching(/^reenvio_/), estado: 'em_andamento', enviadas: 3 });
    expect(() => z.strictObject(replayRecord.shape).parse(json)).not.toThrow();
    await stage.settle();
    for (let other = 0; other < 3; other++) {
      await start();
      await stage.pass(minute);
    }
    expect(await show(json.id)).toEqual({ id: json.id, estado: 'concluido', enviadas: 3 });
    await stage.skip(30 * day);
    expect(await codeOf('GET', `${path}/${json.id}`)).toBe('404 replay_not_found');
  });

  it('prevents another replay of its webhook, and the 409 response links to the running replay', async () => {
    const starts = await Promise.all([start(), start(), start()]);
    const codes = starts.map(({ status, json }) => json.code ?? status).toSorted();
    expect(codes).toEqual([202, 'replay_in_progress', 'replay_in_progress']);
    expect(new Set(starts.map(({ headers }) => headers.location)).size).toBe(1);
    await stage.register({ eventName: 'demanda.cancelada', webhookId: 'webhook-2' });
    expect(await codeOf('POST', '/v1/webhooks/demanda.cancelada/reenvios', { body: range })).toBe('202');
  });

  it('is cancelled by the first DELETE and deleted by the second', async () => {
    await fail(2);
    const at = `${path}/${(await start()).json.id}`;
    expect(await codeOf('DELETE', at)).toBe('204');
    expect((await stage.request('GET', at)).json).toMatchObject({ estado: 'cancelado', enviadas: 2 });
    expect(await codeOf('DELETE', at)).toBe('204');
    for (const method of ['GET', 'DELETE']) expect(await codeOf(method, at)).toBe('404 replay_not_found');
    expect((await start()).status).toBe(202);
    expect(await codeOf('GET', at)).toBe('404 replay_not_found');
  });

  it('is shown and cancelled after its webhook was deleted', async () => {
    await fail(1);
    const at = `${path}/${(await start()).json.id}`;
    await stage.remove();
    expect((await stage.request('GET', at)).json).toMatchObject({ estado: 'em_andamento' });
    expect(await codeOf('DELETE', at)).toBe('204');
    expect(await codeOf('GET', `${path}/reenvio_${'0'.repeat(22)}`)).toBe('404 webhook_not_found');
  });

  it('cannot start while its webhook is suspended', async () => {
    await stage.register({ status: 'suspended', suspensionReason: 'gone' });
    expect(await codeOf('POST', path, { body: range })).toBe('409 webhook_suspended');
  });
});

describe('the request to start a replay', () => {
  it.each([
    [{}, ['/ate required', '/desde required', '/estado required']],
    [{ ...range, estado: 'entregue' }, ['/estado invalid_value']],
    [{ ...range, estado: 'pendente' }, ['/estado invalid_value']],
    [{ ...range, estado: 'cancelada' }, ['/estado invalid_value']],
    [{ ...range, ate: '2026-11-19T23:59:59Z' }, ['/ate invalid_value']],
    [{ ...range, ate: 1_795_000_000 }, ['/ate wrong_type']],
    [
      { ...range, ate: range.desde, estado: '', outro: 1 },
      ['/ate invalid_value', '/estado invalid_value', '/outro unknown_field'],
    ],
    [null, [' wrong_type']],
  ])('is rejected with every finding: %j', async (body, findings) => {
    const rejected = await stage.request('POST', path, { body });
    expect([rejected.status, rejected.json.code]).toEqual([422, 'validation_failed']);
    const actual = rejected.json.errors.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`);
    expect(actual.toSorted()).toEqual(findings);
  });

  it('may contain time offsets and an end in the future', async () => {
    await fail(1);
    const { json } = await start({ desde: '2026-11-20T09:00:00-03:00', ate: '9999-12-31T23:59:59-12:00' });
    expect(json).toMatchObject({ enviadas: 1 });
  });
});

it.each([`reenvio_${'0'.repeat(22)}\n`, 'reenvio_x', '%00', 'x'.repeat(3_000), '__proto__'])(
  'returns 404 for the replay id %j',
  async id => {
    for (const method of ['GET', 'DELETE']) {
      expect(await codeOf(method, `${path}/${id}`)).toBe('404 replay_not_found');
    }
  },
);
