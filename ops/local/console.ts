import { portError } from '@emissor/cloud/errors';
import { systemTime } from '../../lambdas/platform/timer.ts';
import { type ApiSession, openApiSession, SessionEnded } from '../console/api-session.ts';
import { makeApiSource } from '../console/api-source.ts';
import { startConsole } from '../console/server.ts';
import { Refusal } from '../console/views.ts';
import type { ServiceOutputs } from './cloud-request.ts';

/**
 * Starts the console of a local run. It listens before the run does, so that a port in use is reported at once. `show` makes links,
 * which open pages that are signed in as the demo admin.
 *
 * @throws {StartError} if the port cannot be had.
 */
export async function startLocalConsole(port: number) {
  let session: DemoSession | undefined;
  const running = await startConsole(language => {
    if (!session) throw new Error('The run has not started yet.');
    return makeApiSource(session, language);
  }, port).catch(error => {
    throw portError(error, port);
  });
  return {
    ...running,
    /** Shows the run with these outputs. */
    show: (outputs: ServiceOutputs): void => {
      session = demoSession(outputs);
    },
  };
}

type DemoSession = Omit<ApiSession, 'revoke'>;

/** Returns the session of the demo admin. It logs in at the first call, and again when its login has ended. */
export function demoSession({ AuthUrl, BaseUrl, Demo }: ServiceOutputs): DemoSession {
  const address = { authUrl: AuthUrl, baseUrl: BaseUrl, fetch, after: systemTime.after };
  const { ClientId: clientId, ClientSecret: clientSecret, Username: username, Password: password } = Demo;
  let login: Promise<ApiSession> | undefined;
  return {
    account: Demo.AccountId,
    mayChange: true,
    host: new URL(BaseUrl).host,
    isLocal: true,
    login: { authUrl: AuthUrl, baseUrl: BaseUrl, claims: async () => (await logIn()).login.claims() },
    call: async (...request) => {
      const used = logIn();
      try {
        return await (await used).call(...request);
      } catch (error) {
        if (!(error instanceof SessionEnded)) throw error;
        if (login === used) login = undefined;
        return (await logIn()).call(...request);
      }
    },
  };

  function logIn(): Promise<ApiSession> {
    login ??= openApiSession(address, { clientId, clientSecret, username, password }).catch(error => {
      if (!(error instanceof Refusal)) login = undefined; // a refused password is not sent again: that locks the user
      throw error;
    });
    return login;
  }
}
