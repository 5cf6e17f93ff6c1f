import { loadConsole } from '../../console/bundle.ts';
import { isLiveSecret } from '../../lambdas/auth/principals/client.ts';
import type { User } from '../../lambdas/auth/principals/user.ts';
import type { Identity } from '../../lambdas/smoke/smoke-test.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { CliError } from '../stage/operator.ts';
import { openClients, openSessions, openUsers, openWebhooks } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import { deleteClientData } from './delete-client-data.ts';
import { deleteUserData } from './delete-user-data.ts';
import { createLogin, deleteLogin } from './program-login.ts';

interface SupportOptions {
  readonly account: string;
  /** The port of the console, or 0 for any free port. */
  readonly port: number;
  /** Closes the console before the hour is over. */
  readonly interruption: AbortSignal;
  /** Receives the function that creates links, once the console is open. */
  readonly onOpen: (makeLink: () => string) => void;
}

/**
 * Serves the console for an hour with a read-only login, and then deletes the login. If the process is killed, the login's
 * secret expires, and the next call deletes the login.
 * @throws {CliError} if the account has neither users nor webhooks, or the port cannot be used.
 */
export async function openSupport({ target, recordResult }: AuditedTask, options: SupportOptions): Promise<void> {
  const { account, port, interruption, onOpen } = options;
  const service = { authUrl: requireOutput(target, 'AuthUrl'), baseUrl: requireOutput(target, 'BaseUrl'), fetch };
  const users = await openUsers(target).listUsers({ account });
  if (users.length === 0 && (await openWebhooks(target).listOf(account)).length === 0) {
    throw new CliError(`There is no account "${account}". "users list" and "webhooks list" show the accounts.`);
  }
  const { startConsole } = await loadConsole();
  const pages = await startConsole(port).catch(({ code }) => {
    throw new CliError(
      `Could not use port ${port} (${code}). Choose another --port, or omit --port to use any free port.`,
    );
  });
  let login: Identity | undefined;
  try {
    await removeLeftovers(target, account, users);
    login = await createLogin(target, { account, name, domain, scopes: ['webhooks:read'], secretSeconds });
    const { clientId: client_id, clientSecret: client_secret, username, password } = login;
    recordResult({ client: client_id });
    onOpen(pages.open({ service, credentials: { client_id, client_secret, username, password } }));
    await target.pause(secretSeconds * 1_000, interruption).catch(() => {}); // the pause rejects if interrupted
  } finally {
    await pages.stop();
    if (login) await deleteLogin(target, login);
  }
}

/** Deletes expired logins. Logins of other operators may still be in use. */
async function removeLeftovers(target: Target, account: string, users: readonly User[]): Promise<void> {
  const now = target.clock.now();
  for (const client of await openClients(target).listClients({ account })) {
    // A client that an operator created always has a valid secret.
    const isOver = client.name === name && !client.secrets.some(secret => isLiveSecret(secret, now));
    if (isOver) await deleteClientData(target, client.clientId);
  }
  const stores = { users: openUsers(target), sessions: openSessions(target) };
  for (const { userId, email, createdAt } of users) {
    const isOver = email.endsWith(`@${domain}`) && now > createdAt + secretSeconds * 1_000;
    if (isOver) await deleteUserData(stores, userId);
  }
}

/** The name of the temporary client. */
const name = 'Support';

/** The domain of the temporary user's address. */
const domain = 'support.invalid';

/** The lifetime of the secret in seconds. No token is issued later. */
const secretSeconds = 3_600;
