import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../tools/support/service-client.ts';
import { createClient } from '../support/e2e-accounts.ts';
import { callApi, expectProblem, openSession, publicHost, type Session } from '../support/e2e-webhooks.ts';

let admin: Session;
let url: string;

beforeAll(async () => {
  admin = await openSession(await createClient());
  url = `https://${await publicHost()}/hook`;
});

const post = (body: object) => callApi('POST', '/v1/webhooks', { token: admin.token, body });
const valid = () => ({ evento: 'demanda.cancelada', url });

interface Finding {
  readonly pointer: string;
  readonly code: string;
}

const findings = (answer: Answer): Finding[] => answer.json?.errors as Finding[];

describe('what a registration may say', () => {
  it.each([
    ['an unknown event', { evento: 'demanda.inventada' }, '/evento'],
    ['no event', { evento: undefined }, '/evento'],
    ['no url', { url: undefined }, '/url'],
    ['a url that is no string', { url: 7 }, '/url'],
    ['an unknown field', { autorizacão: 'Bearer x' }, '/autorizacão'],
    ['an empty autorizacao', { autorizacao: '' }, '/autorizacao'],
    ['a line break in autorizacao', { autorizacao: 'a\r\nX-Injected: 1' }, '/autorizacao'],
    ['a tab in autorizacao', { autorizacao: 'a\tb' }, '/autorizacao'],
    ['outer spaces in autorizacao', { autorizacao: ' Bearer x' }, '/autorizacao'],
    ['autorizacao beyond ASCII', { autorizacao: 'Bearer ção' }, '/autorizacao'],
    ['autorizacao over 2,048 characters', { autorizacao: 'x'.repeat(2_049) }, '/autorizacao'],
    ['autorizacao that is no string', { autorizacao: 7 }, '/autorizacao'],
  ])('not %s', async (_title, change, pointer) => {
    const answer = await post({ ...valid(), ...change });
    expectProblem(answer, 422, 'validation_failed');
    expect(findings(answer)).toEqual([{ pointer, code: expect.any(String), detail: expect.any(String) }]);
  });

  it('names all findings at once', async () => {
    const body = { evento: 'x', url: 'http://a.example.com', autorizacao: '', colour: 'blue' };
    const answer = await post(body);
    expectProblem(answer, 422, 'validation_failed');
    const found = findings(answer);
    expect(found.map(finding => finding.pointer).sort()).toEqual(['/autorizacao', '/colour', '/evento', '/url']);
    expect(found.find(finding => finding.pointer === '/evento')?.code).toBe('unknown_event');
    expect(found.find(finding => finding.pointer === '/url')?.code).toBe('url_not_https');
  });

  it('not evento in a replacement: the path names it', async () => {
    const answer = await callApi('PUT', '/v1/webhooks/demanda.criada', { token: admin.token, body: valid() });
    expectProblem(answer, 422, 'validation_failed');
    expect(findings(answer)).toMatchObject([{ pointer: '/evento' }]);
  });
});
