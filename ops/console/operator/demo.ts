import { systemTime } from '../../../lambdas/platform/timer.ts';
import { requireOutput, type Target } from '../../stage/target.ts';
import { openApiSession } from '../api-session.ts';
import { type Claims, Refusal } from '../views.ts';

/** Makes the demo account of a local run, which does by its own login what an integrator does. No token of it is kept. */
export function makeDemo(target: Target) {
  let claims: Claims | undefined;
  const output = (name: string) => requireOutput(target, name);
  const login = async () => ({
    authUrl: output('AuthUrl'),
    baseUrl: output('BaseUrl'),
    clientId: output('ClientId'),
    clientSecret: output('ClientSecret'),
    username: output('Username'),
    password: output('Password'),
  });
  return {
    account: target.outputs.AccountId ?? 'demo',
    /** Where requests go, and what they log in with: the run's own, which `npm start` prints too. */
    login,
    queue: async () => ({ endpoint: output('SqsEndpoint'), url: output('EventsQueueUrl') }),
    /** Returns the claims of the latest token. */
    claims: async () => claims,
    logIn: () => withSession(async () => {}),
    register,
  };

  /** Registers a webhook. Returns its signing secret, which can be read nowhere again. */
  async function register(event: string, url: string): Promise<string> {
    return withSession(async ({ call }) => {
      const { status, json } = await call('POST', '/v1/webhooks', { body: { evento: event, url } });
      if (status !== 201) throw new Refusal(String(json?.detail ?? status));
      return String(json?.segredo);
    });
  }

  async function withSession<Value>(act: (session: Awaited<ReturnType<typeof openApiSession>>) => Promise<Value>) {
    const { authUrl, baseUrl, ...credentials } = await login();
    const session = await openApiSession({ authUrl, baseUrl, fetch, after: systemTime.after }, credentials);
    claims = await session.login.claims();
    try {
      return await act(session);
    } finally {
      await session.revoke().catch(() => {}); // it would take the place of what was done: a secret is told once
    }
  }
}
