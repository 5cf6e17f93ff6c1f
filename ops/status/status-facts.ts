import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { keyState, nextRotation } from '../../lambdas/auth/keys/rotation-plan.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { keyKinds } from '../../lambdas/platform/keyring.ts';
import { wireReasons } from '../../lambdas/webhooks/representation.ts';
import type { Webhook } from '../../lambdas/webhooks/webhook.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { findMovedAliases, type MovedAlias, ownStacks, readLiveFunctions } from '../deployment/live-functions.ts';
import { readAges, readAlarms } from '../stage/cloudwatch.ts';
import { describeError, type Part, type ShowProgress } from '../stage/operator.ts';
import { readDepth } from '../stage/queues.ts';
import type { DeployedStack } from '../stage/stage-stacks.ts';
import { openKeyring, openWebhooks } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import type { PendingSuspension } from '../stores/operator-store.ts';
import { readCertificates, readKmsKey, readThrottles } from './aws-view.ts';
import { readRecipients } from './recipients.ts';
import { readDeliveries } from './status-deliveries.ts';

/** The state of a target. A part that could not be read contains the reason. */
export type Facts = Awaited<ReturnType<typeof readFacts>>;

/** A stack. Its state is the state in CloudFormation, or `null` if the stack does not exist. */
export type StackView = ReturnType<typeof viewStack>;

/** A queue. The age of its oldest message is `null` if the queue is empty or the age is unknown. */
export type QueueView = Awaited<ReturnType<typeof readQueues>>[number];

/** The webhooks that are suspended or failing. */
export type WebhooksView = Awaited<ReturnType<typeof readWebhooks>>;

/** The keys of one kind. `nextCreatedAt` is the time at which the daily rotation creates the next key, or `null` if it exists. */
export type KeysView = Awaited<ReturnType<typeof readKeys>>[number];

/** Reads the state of a target, with a bounded number of reads. */
export async function readFacts(target: Target, progress: ShowProgress) {
  progress('Reading queues, alarms, webhooks, deliveries and keys');
  const { deployed } = target;
  const tablesRead = readTables(target);
  const recipients = attempt(() => readRecipients(target));
  const [tables, throttles, kmsKey, certificates, movedAliases, queues, alarms, webhooks, deliveries, keys] =
    await Promise.all([
      attempt(() => tablesRead),
      attempt(async () => readThrottles(target, await tablesRead)),
      attempt(() => readKmsKey(target)),
      attempt(() => readCertificates(target)),
      attempt(() => readMovedAliases(target)),
      attempt(() => readQueues(target)),
      attempt(() => readAlarms(target)),
      attempt(() => readWebhooks(target)),
      attempt(() => readDeliveries(target, target.clock.now())),
      attempt(() => readKeys(target)),
    ]);
  // AWS is reachable if it returned stacks. A local run has ended if none of its parts can be read.
  if (!deployed && [queues, webhooks, keys].every(part => part.failure !== undefined)) throw queues.failure;
  return {
    target: target.label,
    /** The stage, or `null` for a local run or an outputs file. */
    stage: deployed?.configuration.stage ?? null,
    region: target.outputs.Region ?? null,
    account: deployed?.account ?? null,
    /** The version of this checkout. */
    checkout: packageJson.version,
    stacks: deployed ? deployed.stacks.map(viewStack) : null,
    tables: tables.part,
    throttles: throttles.part,
    kmsKey: kmsKey.part,
    certificates: certificates.part,
    recipients: (await recipients).part,
    movedAliases: movedAliases.part,
    queues: queues.part,
    alarms: alarms.part,
    webhooks: webhooks.part,
    deliveries: deliveries.part,
    keys: keys.part,
  };

  async function attempt<Value>(read: () => Promise<Value>): Promise<{ part: Part<Value>; failure?: unknown }> {
    try {
      return { part: await read() };
    } catch (failure) {
      return { part: { unread: describeError(failure, target.unreachable) }, failure };
    }
  }
}

function viewStack({ stackName, found }: DeployedStack) {
  const outputOf = (name: string) => found?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue ?? null;
  return {
    name: stackName,
    state: found?.StackStatus ?? null,
    version: outputOf('ServiceVersion'),
    /** The label of the last deployed release, or `null` for the data stack, which has no functions. */
    release: outputOf('Release'),
    updatedAt: (found?.LastUpdatedTime ?? found?.CreationTime)?.toISOString() ?? null,
    terminationProtection: found?.EnableTerminationProtection ?? false,
  };
}

/** Reads the indexes and the deletion protection of a stage's tables. Local tables are not protected. */
async function readTables(target: Target) {
  if (!target.deployed) return [];
  const names = tableOutputs.flatMap(output => target.outputs[output] ?? []);
  if (names.length === 0) requireOutput(target, 'ClientsTable');
  return Promise.all(
    names.map(async name => {
      const { Table } = await target.documents().send(new DescribeTableCommand({ TableName: name }));
      const indexes = (Table?.GlobalSecondaryIndexes ?? []).flatMap(({ IndexName }) => IndexName ?? []);
      return { name, indexes, deletionProtection: Table?.DeletionProtectionEnabled ?? false };
    }),
  );
}

/** Reads the aliases that were moved since the last deployment. A local run has one version of each function. */
export async function readMovedAliases({ deployed, connect }: Target): Promise<readonly MovedAlias[]> {
  if (!deployed) return [];
  return findMovedAliases(await readLiveFunctions(connect, ownStacks(deployed)));
}

async function readQueues(target: Target) {
  const urls = Object.entries(queueOutputs).map(([queue, output]) => ({ queue, url: requireOutput(target, output) }));
  const [depths, ages] = await Promise.all([
    Promise.all(urls.map(({ url }) => readDepth(target, url))),
    target.deployed
      ? readAges(
          target,
          urls.map(({ url }) => url.slice(url.lastIndexOf('/') + 1)),
        )
      : [],
  ]);
  return depths.map((depth, index) => ({
    queue: urls[index]?.queue ?? '',
    ...depth,
    oldestSeconds: ages[index] ?? null,
  }));
}

async function readWebhooks(target: Target) {
  const { found, read, isCutOff } = await openWebhooks(target).listUnhealthy();
  const ownerOf = ({ accountId: account, eventName: event }: Webhook | PendingSuspension) => ({ account, event });
  return {
    read,
    isCutOff,
    /** The suspended webhooks. The time of suspension is unknown, because later changes overwrite `updatedAt`. */
    suspended: found.flatMap(webhook => {
      if (!('webhookId' in webhook))
        return { ...ownerOf(webhook), reason: wireReasons.operator, updatedAt: isoTime(webhook.since) };
      if (webhook.status !== 'suspended') return [];
      const { suspensionReason, updatedAt } = webhook;
      const reason = suspensionReason && wireReasons[suspensionReason];
      return { ...ownerOf(webhook), reason, updatedAt: isoTime(updatedAt) };
    }),
    failing: found
      .flatMap(webhook =>
        'webhookId' in webhook && webhook.status === 'active' && webhook.failingSince !== undefined
          ? { ...ownerOf(webhook), since: isoTime(webhook.failingSince) }
          : [],
      )
      .sort((one, other) => (one.since < other.since ? -1 : 1)),
  };
}

async function readKeys(target: Target) {
  const keyring = openKeyring(target);
  const now = target.clock.now();
  return Promise.all(
    keyKinds.map(async kind => {
      const keys = await keyring.list(kind);
      const inState = (state: string) => keys.find(key => keyState(key, keys, now) === state);
      const next = inState('next');
      const due = nextRotation(keys);
      return {
        kind,
        keys: keys.length,
        activeSince: isoOrNull(inState('active')?.activeFrom),
        nextCreatedAt: next ? null : isoOrNull(due?.dueAt),
        nextActiveFrom: isoOrNull(next ? next.activeFrom : due?.activeFrom),
      };
    }),
  );
}

function isoOrNull(time: number | undefined): string | null {
  return time === undefined ? null : isoTime(time);
}

const queueOutputs = {
  events: 'EventsQueueUrl',
  retry: 'RetryQueueUrl',
  slow: 'SlowQueueUrl',
  'dead letters': 'DeadLetterQueueUrl',
};

const tableOutputs = [
  'ClientsTable',
  'UsersTable',
  'CredentialsTable',
  'SessionsTable',
  'LockoutsTable',
  'WebhooksTable',
  'DeliveriesTable',
  'KeyringTable',
];
