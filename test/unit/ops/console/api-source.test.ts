import { describe, expect, it } from 'vitest';
import { makeApiSource } from '../../../../ops/console/api-source.ts';

const webhook = {
  evento: 'demanda.criada',
  url: 'https://receiver.example.com/',
  estado: 'ativo',
  motivo_suspensao: null,
  falhando_desde: null,
  lento_desde: null,
  criado_em: '2026-11-20T10:00:00.000Z',
  atualizado_em: '2026-11-21T10:00:00.000Z',
  autorizacao_definida: true,
};

/** Makes the source of an integrator whose API gives one answer to everything. */
const sourceOf = (status: number, json: Record<string, unknown>) =>
  makeApiSource(
    {
      account: 'acme',
      mayChange: true,
      host: 'api.example.com',
      isLocal: false,
      call: async (_method, path) => ({ call: path, status, headers: new Headers(), text: JSON.stringify(json), json }),
      revoke: async () => {},
    },
    'en',
  );

describe('an integrator’s source', () => {
  it('shows words and fields that a later release has', async () => {
    const later = { ...webhook, estado: 'em_pausa', prioridade: 1 };
    const [shown] = await sourceOf(200, { webhooks: [later] }).listWebhooks('acme');
    expect(shown).toMatchObject({ account: 'acme', status: 'em_pausa', hasAuthorization: true });
  });

  it('names the field of an answer that is otherwise', async () => {
    const { url: _, ...without } = webhook;
    const failing = sourceOf(200, { webhooks: [webhook, without] }).listWebhooks('acme');
    await expect(failing).rejects.toThrow(/^GET \/v1\/webhooks: webhooks\.1\.url: /);
  });

  it('finds nothing where the API has nothing', async () => {
    expect(await sourceOf(404, { detail: 'Not found.' }).findWebhook('acme', 'demanda.criada')).toBeUndefined();
  });
});
