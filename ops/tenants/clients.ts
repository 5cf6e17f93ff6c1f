import { type Client, type GrantType, isLiveSecret } from '../../lambdas/auth/principals/client.ts';
import type { ClientChanges, SecretRotation } from '../../lambdas/auth/principals/client-store.ts';
import type { PageRequest } from '../../lambdas/auth/principals/scan.ts';
import type { Scope } from '../../lambdas/auth/principals/scope.ts';
import { reads, writes } from '../audit/audit.ts';
import { CliError } from '../stage/operator.ts';
import { forgetDroppedUses, openClients, readSecretUses } from '../stage/stores.ts';
import type { Task } from '../stage/target.ts';
import { eraseClient } from './erase-client.ts';

/** The operators' actions on clients. */
export const actions = {
  createClient: writes('clients create', createClient, {
    before: (_task, { account }) => ({ account: account || undefined }),
    change: changed,
    after: ({ client }) => ({ client: client.clientId }),
  }),
  listClients: reads(listClients),
  listOldSecrets: reads(listOldSecrets),
  showClient: reads(showClient),
  updateClient: writes('clients update', updateClient, { before: known, change: (_id, settings) => changed(settings) }),
  enableClient: writes('clients enable', enableClient, { before: known }),
  disableClient: writes('clients disable', disableClient, { before: known }),
  deleteClient: writes('clients delete', deleteClient, { before: known }),
  rotateSecret: writes('clients rotate-secret', rotateSecret, {
    before: known,
    change: (_id, { overlapSeconds, dropOldest }) => ({ overlapSeconds, dropOldest }),
  }),
};

/** The settings of a client as the options name them. What is not given stays as it was. */
export interface ClientSettings {
  readonly name?: string;
  readonly grant?: readonly GrantType[];
  readonly scope?: readonly Scope[];
  /** `false` for none. */
  readonly account?: string | false;
  readonly graceSeconds?: number;
  readonly introspect?: boolean;
}

/** The settings of a client that does not exist yet. */
export type NewClientSettings = ClientSettings & Required<Pick<ClientSettings, 'name' | 'grant'>>;

/** A client with its new secret, which is stored nowhere. */
export interface ClientWithSecret {
  readonly client: Client;
  readonly clientSecret: string;
}

/** A client, and on which day (`YYYY-MM-DD`) each of its secrets was last used, in their order. */
export interface ClientInUse {
  readonly client: Client;
  readonly lastUses: readonly (string | undefined)[];
}

async function createClient({ target }: Task, options: NewClientSettings): Promise<ClientWithSecret> {
  return openClients(target).createClient({
    ...given(options),
    name: options.name,
    grants: withoutRepetition(options.grant),
    ...(options.account ? { accountId: options.account } : {}),
  });
}

async function listClients({ target }: Task, page: PageRequest): Promise<readonly Client[]> {
  return openClients(target).listClients(page);
}

/** Lists the clients that have an older secret which still works. */
async function listOldSecrets({ target }: Task, { limit }: PageRequest): Promise<readonly ClientInUse[]> {
  const clients = await openClients(target).listClients();
  const now = target.clock.now();
  const found = clients.filter(client => hasOldSecret(client, now)).slice(0, limit);
  const inUse: ClientInUse[] = [];
  for (const client of found) inUse.push({ client, lastUses: await readSecretUses(target, client) });
  return inUse;
}

function hasOldSecret({ secrets }: Client, now: number): boolean {
  return secrets.slice(1).some(secret => isLiveSecret(secret, now));
}

/** @throws {CliError} where there is no such client. */
async function showClient({ target }: Task, clientId: string): Promise<ClientInUse> {
  const client = await existing(clientId, openClients(target).findClient(clientId));
  return { client, lastUses: await readSecretUses(target, client) };
}

/** @throws {CliError} where there is no such client, nobody confirmed, or somebody else changed it at the same moment. */
async function updateClient({ target, confirm }: Task, clientId: string, options: ClientSettings): Promise<Client> {
  if (options.account !== undefined) {
    const { name, accountId } = await existing(clientId, openClients(target).findClient(clientId));
    const wanted = options.account === false ? undefined : options.account;
    if (wanted !== accountId) {
      await confirm(`This ends every session of client ${clientId} (${name}) of ${target.label}: its account changes.`);
    }
  }
  const changes: ClientChanges = {
    ...given(options),
    ...(options.account === undefined ? {} : { accountId: options.account === false ? null : options.account }),
  };
  return existing(clientId, openClients(target).updateClient(clientId, changes));
}

/** @throws {CliError} where there is no such client, or somebody else changed it at the same moment. */
async function enableClient({ target }: Task, clientId: string): Promise<Client> {
  return existing(clientId, openClients(target).setClientStatus(clientId, 'enabled'));
}

/** @throws {CliError} where there is no such client, nobody confirmed, or somebody else changed it at the same moment. */
async function disableClient({ target, confirm }: Task, clientId: string): Promise<Client> {
  const { name } = await existing(clientId, openClients(target).findClient(clientId));
  await confirm(`This shuts client ${clientId} (${name}) of ${target.label} out and ends its sessions for good.`);
  return existing(clientId, openClients(target).setClientStatus(clientId, 'disabled'));
}

/** @throws {CliError} where there is no such client, or nobody confirmed. */
async function deleteClient({ target, confirm }: Task, clientId: string): Promise<Client> {
  const store = openClients(target);
  const { name } = await existing(clientId, store.findClient(clientId));
  await confirm(`This deletes client ${clientId} (${name}) of ${target.label} and ends its sessions.`);
  return existing(clientId, eraseClient(target, clientId));
}

/** @throws {CliError} where there is no such client, nobody confirmed, or two secrets work already. */
async function rotateSecret(
  { confirm, target }: Task,
  clientId: string,
  rotation: SecretRotation,
): Promise<ClientWithSecret> {
  const store = openClients(target);
  const client = await existing(clientId, store.findClient(clientId));
  const { name } = client;
  if (rotation.overlapSeconds === 0) {
    await confirm(`This ends every secret that client ${clientId} (${name}) uses now.`);
  } else if (rotation.dropOldest) {
    await confirm(`This ends the older one of two secrets that client ${clientId} (${name}) has.`);
  }
  await forgetDroppedUses(target, client);
  try {
    return await existing(clientId, store.rotateClientSecret(clientId, rotation));
  } catch (error) {
    if (!isNamed(error, 'TwoSecretsError')) throw error;
    throw new CliError(
      `two secrets of client "${clientId}" work already: "clients show" tells until when. Wait for the older one to end, ` +
        'end it now with --drop-oldest, or end both with --overlap-seconds 0.',
    );
  }
}

/** Names the client for the audit trail, where there is one. */
async function known({ target }: Pick<Task, 'target'>, clientId: string) {
  return { client: (await openClients(target).findClient(clientId))?.clientId };
}

/** Returns the settings that are changed, for the audit trail; a name is told by no line. */
function changed({ grant, scope, account, graceSeconds, introspect }: ClientSettings) {
  return {
    grants: grant,
    scopes: scope,
    account: account === false ? undefined : account,
    noAccount: account === false || undefined,
    graceSeconds,
    introspect,
  };
}

/** Returns the options that were given, as the store names them; the account is apart, because it may be removed. */
function given({ name, grant, scope, graceSeconds, introspect }: ClientSettings) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(grant === undefined ? {} : { grants: withoutRepetition(grant) }),
    ...(scope === undefined ? {} : { scopes: withoutRepetition(scope) }),
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
    ...(introspect === undefined ? {} : { introspect }),
  };
}

function withoutRepetition<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}

/** Returns the store's answer. @throws {CliError} where there is no such client, or somebody else changed it at the same moment */
async function existing<Answer>(clientId: string, change: Promise<Answer | undefined>): Promise<Answer> {
  try {
    const answer = await change;
    if (answer === undefined) throw new CliError(`there is no client "${clientId}": "clients list" shows them.`);
    return answer;
  } catch (error) {
    if (error instanceof Error && isNamed(error, 'ClientConflictError')) throw new CliError(error.message);
    throw error;
  }
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
