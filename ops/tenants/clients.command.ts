import { type Client, grantTypes, isLiveSecret } from '../../lambdas/auth/principals/client.ts';
import { scopes } from '../../lambdas/auth/principals/scope.ts';
import { command, type Noun } from '../audit/command.ts';
import {
  argument,
  flag,
  negation,
  option,
  type ParsedArgs,
  repeatable,
  required,
  requiredRepeatable,
} from '../command-line/arg-spec.ts';
import { displayName, ordinaryAccountId, principalId, wholeNumber } from '../command-line/forms.ts';
import { CliError, isNamed } from '../stage/operator.ts';
import { openClients } from '../stage/stores.ts';
import type { Target, Task } from '../stage/target.ts';
import { defaultOverlapSeconds, type SecretRotation } from '../stores/client-store.ts';
import { changedReport, deletedReport, listReport, newSecretReport, showReport } from './client-reports.ts';
import { deleteClientData } from './delete-client-data.ts';

const examples = `
Examples:
  npm run ops -- clients create --name "Acme ERP" --grant password --grant refresh_token --account acme
  npm run ops -- clients create --name "Reports" --grant password --any-account --scope webhooks:read --grace-seconds 0
  npm run ops -- clients update 4f6KqXkD1nVb8sYfTzR4uW --scope webhooks:read --scope webhooks:manage
  npm run ops -- --stage prod clients rotate-secret 4f6KqXkD1nVb8sYfTzR4uW --overlap-seconds 3600
  npm run ops -- --stage prod clients rotate-secret 4f6KqXkD1nVb8sYfTzR4uW --overlap-seconds 0  # it leaked
  npm run ops -- --stage prod clients rotate-secret 4f6KqXkD1nVb8sYfTzR4uW --drop-newest  # the new one was lost`;

const ofClient = { client: argument('client-id', 'the id of the client', principalId) };

/** Returns the options for create and update. Only create applies defaults. Update does not change omitted settings. */
const settings = ({ scope = '', grace = '' } = {}) => ({
  scope: repeatable('<scope>', `a scope that its tokens may have (repeatable${scope})`, scopes),
  account: option('<id>', 'log in only users of this account', ordinaryAccountId),
  graceSeconds: option(
    '<s>',
    `the time in seconds for which a used refresh token still returns its successor (${grace}0: strict)`,
    wholeNumber(0, 3_600),
  ),
  introspect: flag("allow the client to introspect other clients' tokens"),
});

const create = command('clients create', {
  description: 'create a client and show its secret once',
  notes: examples,
  args: {
    name: required('<name>', 'the display name', displayName),
    grant: requiredRepeatable('<type>', 'a grant that the client may use (repeatable)', grantTypes),
    ...settings({ scope: '; default: all', grace: 'default 30, ' }),
    anyAccount: flag('log in users of any account'),
  },
  validate: ({ account, anyAccount }) =>
    (account === undefined) !== (anyAccount === true) &&
    'Specify exactly one of --account <id> (log in only users of that account) and --any-account.',
  effect: 'writes',
  act: async ({ target, recordResult }, { account: accountId, anyAccount: _, grant, scope, ...others }) => {
    const created = await openClients(target).createClient({
      ...others,
      grants: withoutRepetition(grant),
      ...(scope && { scopes: withoutRepetition(scope) }),
      ...(accountId !== undefined && { accountId }),
    });
    recordResult({ client: created.client.clientId });
    return created;
  },
  subject: (_task, { account }) => ({ account }),
  change: auditChange,
  report: newSecretReport,
});

const list = command('clients list', {
  description: 'list all clients, or a page of them',
  args: {
    limit: option('<n>', 'show at most n clients', wholeNumber(1, 100_000)),
    after: option('<id>', 'continue after this client, the last one on the previous page', principalId),
  },
  effect: 'reads',
  act: async ({ target }, page) => openClients(target).listClients(page),
  report: listReport,
});

const show = command('clients show', {
  description: 'show a client, with the creation and expiry times of its secrets',
  args: ofClient,
  effect: 'reads',
  act: async ({ target }, { client: id }) => find(target, id),
  report: showReport,
});

const update = command('clients update', {
  description: 'change the specified settings of a client; changing its account ends its sessions',
  notes: examples,
  args: {
    ...ofClient,
    name: option('<name>', 'the display name', displayName),
    grant: repeatable('<type>', 'a grant that the client may use (repeatable)', grantTypes),
    ...settings(),
    noAccount: negation('account', 'log in users of any account'),
    noIntrospect: negation('introspect', 'allow the client to introspect only its own tokens'),
  },
  validate: ({ client: _, ...changes }) =>
    Object.values(changes).every(value => value === undefined) &&
    'Specify at least one setting to change. --help lists the settings.',
  effect: 'writes',
  act: async ({ target, confirm }, { client: id, account, noAccount, grant, scope, noIntrospect, ...others }) => {
    const isAboutAccount = account !== undefined || noAccount === true;
    if (isAboutAccount) {
      const { name, accountId } = await find(target, id);
      if (account !== accountId) {
        await confirm(`This changes the account of client ${id} (${name}) of ${target.label} and ends its sessions.`);
      }
    }
    const changes = {
      ...others,
      ...(grant && { grants: withoutRepetition(grant) }),
      ...(scope && { scopes: withoutRepetition(scope) }),
      ...(noIntrospect && { introspect: false }),
      ...(isAboutAccount && { accountId: account ?? null }),
    };
    return existing(id, openClients(target).updateClient(id, changes));
  },
  subject: auditSubject,
  change: auditChange,
  report: showReport,
});

const enable = command('clients enable', {
  description: 'enable a disabled client',
  args: ofClient,
  effect: 'writes',
  act: async ({ target }, { client: id }) => existing(id, openClients(target).setClientStatus(id, 'enabled')),
  subject: auditSubject,
  report: changedReport,
});

const disable = command('clients disable', {
  description: 'disable a client and permanently end its sessions',
  args: ofClient,
  effect: 'writes',
  act: async ({ target, confirm }, { client: id }) => {
    const { name } = await find(target, id);
    await confirm(`This disables client ${id} (${name}) of ${target.label} and permanently ends its sessions.`);
    return existing(id, openClients(target).setClientStatus(id, 'disabled'));
  },
  subject: auditSubject,
  report: changedReport,
});

const remove = command('clients delete', {
  description: 'permanently delete a client and end its sessions',
  args: ofClient,
  effect: 'writes',
  act: async ({ target, confirm }, { client: id }) => {
    const { name } = await find(target, id);
    await confirm(`This permanently deletes client ${id} (${name}) of ${target.label} and ends its sessions.`);
    return existing(id, deleteClientData(target, id));
  },
  subject: auditSubject,
  report: deletedReport,
});

const rotateSecret = command('clients rotate-secret', {
  description: 'create a new secret for a client and show it once; the current secret stays valid for a while',
  notes: examples,
  args: {
    ...ofClient,
    overlapSeconds: option(
      '<s>',
      'the time in seconds for which the current secret stays valid; 0 revokes all other secrets immediately',
      wholeNumber(0, 31_536_000),
      defaultOverlapSeconds,
    ),
    dropOldest: flag('revoke the older of two valid secrets'),
    dropNewest: flag('revoke the newer of two valid secrets, because its value was lost; the older one stays valid'),
  },
  validate: ({ dropOldest, dropNewest }) =>
    dropOldest && dropNewest && "option '--drop-newest' cannot be used with option '--drop-oldest'",
  effect: 'writes',
  act: async ({ target, confirm }, { client: id, ...rotation }) => {
    const client = await find(target, id);
    const { name } = client;
    if (rotation.dropNewest && !hasOldSecret(client, target.clock.now())) throw oneSecret(id);
    if (rotation.overlapSeconds === 0) {
      await confirm(`This immediately revokes all current secrets of client ${id} (${name}).`);
    } else if (rotation.dropNewest) {
      await confirm(`This revokes the newer of the two secrets of client ${id} (${name}).`);
    } else if (rotation.dropOldest) {
      const consequences = hasOldSecret(client, target.clock.now())
        ? `This revokes the older of the two secrets of client ${id} (${name}).`
        : `This adds a secret to client ${id} (${name}). The client has only one secret, which stays valid.`;
      await confirm(consequences);
    }
    return rotate(target, id, rotation);
  },
  subject: auditSubject,
  change: ({ overlapSeconds, dropOldest, dropNewest }) => ({ overlapSeconds, dropOldest, dropNewest }),
  report: newSecretReport,
});

export const clients: Noun = {
  name: 'clients',
  description: 'clients of the token endpoint: create, list, show, update, enable, disable, delete, rotate-secret',
  notes: examples,
  commands: [create, list, show, update, enable, disable, remove, rotateSecret],
};

/** Returns the client for the audit trail, if it exists. */
async function auditSubject({ target }: Pick<Task, 'target'>, { client }: { readonly client: string }) {
  return { client: (await openClients(target).findClient(client))?.clientId };
}

/** Returns the changed settings for the audit trail, which never contains a name. */
function auditChange({
  grant,
  scope,
  account,
  anyAccount,
  noAccount,
  graceSeconds,
  introspect,
  noIntrospect,
}: ChangedSettings) {
  const isIntrospecting = noIntrospect ? false : introspect;
  return { grants: grant, scopes: scope, account, anyAccount, noAccount, graceSeconds, introspect: isIntrospecting };
}

interface ChangedSettings extends ParsedArgs<ReturnType<typeof settings>> {
  readonly grant?: readonly string[];
  readonly anyAccount?: true;
  readonly noAccount?: true;
  readonly noIntrospect?: true;
}

function withoutRepetition<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}

function hasOldSecret({ secrets }: Client, now: number): boolean {
  return secrets.slice(1).some(secret => isLiveSecret(secret, now));
}

/** Finds a client. @throws {CliError} if the client does not exist. */
function find(target: Target, clientId: string): Promise<Client> {
  return existing(clientId, openClients(target).findClient(clientId));
}

/** Returns the store's result. @throws {CliError} if the client does not exist, or was changed at the same time. */
async function existing<Result>(clientId: string, change: Promise<Result | undefined>): Promise<Result> {
  try {
    const result = await change;
    if (result === undefined) throw new CliError(`There is no client "${clientId}". "clients list" shows all clients.`);
    return result;
  } catch (error) {
    if (isNamed(error, 'ClientConflictError')) throw new CliError(error.message);
    throw error;
  }
}

/** Rotates a secret. @throws {CliError} if the client already has two valid secrets, or if `dropNewest` would revoke the only one. */
async function rotate(target: Target, id: string, rotation: SecretRotation) {
  try {
    return await existing(id, openClients(target).rotateClientSecret(id, rotation));
  } catch (error) {
    if (isNamed(error, 'OneSecretError')) throw oneSecret(id);
    if (!isNamed(error, 'TwoSecretsError')) throw error;
    throw new CliError(
      `Client "${id}" already has two valid secrets. "clients show" shows when they expire. If the newer secret is not in use, ` +
        'replace it with --drop-newest. Otherwise, wait until the older secret expires, revoke it now with --drop-oldest, ' +
        'or revoke both with --overlap-seconds 0.',
    );
  }
}

function oneSecret(id: string): CliError {
  return new CliError(
    `Client "${id}" has only one valid secret, and --drop-newest would revoke it. ` +
      'Run the command without --drop-newest to add a second secret.',
  );
}
