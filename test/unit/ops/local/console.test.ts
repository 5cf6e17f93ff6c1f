import { afterEach, expect, it, vi } from 'vitest';
import type { ServiceOutputs } from '../../../../ops/local/cloud-request.ts';
import { demoSession } from '../../../../ops/local/console.ts';

const outputs = {
  AuthUrl: 'http://auth',
  BaseUrl: 'http://base',
  Demo: { ClientId: 'c', ClientSecret: 's', Username: 'u', Password: 'p', AccountId: 'demo' },
} as ServiceOutputs;

const token = `x.${Buffer.from('{"account_id":"demo","scope":"webhooks:manage"}').toString('base64url')}.`;
const issued = () => Response.json({ access_token: `${token}${sent.length}`, refresh_token: 'r' });
const error = (status: number, error: string) => () => Response.json({ error }, { status });

/** The requests for tokens, by their grants. */
const sent: string[] = [];
let ended = '';
afterEach(() => {
  vi.restoreAllMocks();
  sent.length = 0;
  ended = '';
});

/** Has the service give these answers to requests for tokens. Its API takes the last token, until that is `ended`. */
const answering = (...answers: (() => Response)[]) =>
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, request) => {
    if (String(url).startsWith('http://base')) {
      const bearer = new Headers(request?.headers).get('authorization') ?? '';
      return Response.json({}, { status: bearer.endsWith(ended) && ended !== '' ? 401 : 200 });
    }
    sent.push(new URLSearchParams(String(request?.body)).get('grant_type') ?? '');
    return answers.shift()?.() ?? Response.error();
  });

it('logs the demo admin in once, when a page is first read', async () => {
  answering(issued);
  const { call, account, login } = demoSession(outputs);
  expect([account, sent]).toEqual(['demo', []]);
  const answers = await Promise.all([call('GET', '/'), call('GET', '/'), call('GET', '/')]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await login.claims()).toMatchObject({ account_id: 'demo' });
  expect(sent).toEqual(['password']);
});

it('logs in again when the session has ended', async () => {
  answering(issued, error(400, 'invalid_grant'), issued);
  const { call } = demoSession(outputs);
  await call('GET', '/');
  ended = `${token}1`;
  const answers = await Promise.all([call('GET', '/'), call('GET', '/')]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(sent).toEqual(['password', 'refresh_token', 'password']);
});

it.each([
  ['sends no password again that was refused: that would lock the user', error(400, 'invalid_grant'), 1],
  ['tries again after the service was busy', error(503, 'temporarily_unavailable'), 2],
])('%s', async (_, failing, requests) => {
  answering(failing, failing);
  const { call } = demoSession(outputs);
  for (let pages = 0; pages < 2; pages++) await expect(call('GET', '/')).rejects.toThrow();
  expect(sent).toHaveLength(requests);
});
