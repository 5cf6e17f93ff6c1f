import {
  CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { KMSClient } from '@aws-sdk/client-kms';
import { SQSClient } from '@aws-sdk/client-sqs';
import { STSClient } from '@aws-sdk/client-sts';
import type { FunctionDefinition, ProcessRuntime } from '@emissor/cloud/virtual';
import { makeDocumentClient } from '../../../lambdas/platform/aws/dynamo.ts';
import { makeEncryption } from '../../../lambdas/platform/encryption.ts';
import { makeRandomIds } from '../../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { redriveDeadLetters } from '../../../ops/deliveries/dlq.command.ts';
import { findPublished } from '../../../ops/deliveries/events.ts';
import { reactivateWebhook, suspendWebhook } from '../../../ops/deliveries/webhooks.command.ts';
import type { AwsClient } from '../../../ops/stage/aws-clock.ts';
import type { ConnectionSettings, ServiceOf } from '../../../ops/stage/ops-runtime.ts';
import { makeTarget, type Target, type Task } from '../../../ops/stage/target.ts';
import { deleteAccount } from '../../../ops/tenants/accounts.command.ts';
import { tableNames } from '../../../tools/support/tables.ts';
import { makeAccountCreator } from '../account-creator.ts';
import { eventName } from '../arrival.ts';
import { deadLetters, queueOf, type Stage } from '../stage.ts';
import { minute } from '../times.ts';
// Commands import this module dynamically, so the world must load it in advance.
import '../../../ops/audit/audit-log.ts';

export type OperatorCommand =
  | { readonly name: 'suspend' | 'reactivate' | 'deleteAccount' | 'createAccount'; readonly account: string }
  | { readonly name: 'redrive' }
  | { readonly name: 'find'; readonly deliveryIds: readonly string[] }
  /** Decrypts texts for the invariant checks. */
  | { readonly name: 'decrypt'; readonly encrypted: readonly Encrypted[] };

/** An encrypted text and its encryption context. */
export interface Encrypted {
  readonly text: string;
  readonly binding: string;
}

/** Returns the function that runs the operators' CLI commands. */
export function operatorFunction({
  compositions,
  runtimeOf,
  tokens,
  searchLogs,
}: Stage): FunctionDefinition<ProcessRuntime> {
  return {
    name: operatorName,
    timeout: 10 * minute,
    start: process => {
      const runtime = runtimeOf(process);
      const task = taskOn(targetOf(compositions.operators(process), searchLogs));
      const accountCreator = makeAccountCreator(runtime, tokens);
      const keyring = makeKeyring({ ...runtime.time, dynamo: runtime.dynamo, kms: runtime.kms, table: 'Keyring' });
      const encryption = makeEncryption(keyring, runtime.random);

      return async function operate(command: OperatorCommand) {
        switch (command.name) {
          case 'suspend':
            return suspendWebhook.act(task, { account: command.account, event: eventName });
          case 'reactivate':
            return reactivateWebhook.act(task, { account: command.account, event: eventName });
          case 'deleteAccount':
            return deleteAccount.act(task, { account: command.account });
          case 'createAccount':
            return accountCreator.createAccount(command.account);
          case 'redrive':
            return redriveDeadLetters.act(task, { ids: [], rate: 10, limit: 1_000 });
          case 'find':
            return find(command.deliveryIds);
          case 'decrypt':
            return Promise.all(command.encrypted.map(({ text, binding }) => encryption.decrypt(text, binding)));
        }
      };

      async function find(deliveryIds: readonly string[]): Promise<readonly string[]> {
        const verdicts: string[] = [];
        for (const deliveryId of deliveryIds) {
          verdicts.push((await findPublished(task, { deliveryId })).verdict);
        }
        return verdicts;
      }
    },
  };
}

/** The name of the operators' function. The world injects no faults into its calls. */
export const operatorName = 'operator';

function taskOn(target: Target): Task {
  const ignore = () => undefined;
  return {
    target,
    progress: ignore,
    print: ignore,
    warn: ignore,
    confirm: async () => undefined,
    askPassword: () => Promise.reject(new Error('Operators do not set passwords in a world.')),
  };
}

function targetOf(process: ProcessRuntime, searchLogs: Stage['searchLogs']): Target {
  const { time, random, dynamodb } = process;
  return makeTarget(
    { label: 'the world', outputs, unreachable: 'the world does not respond' },
    {
      makeClient,
      makeDocumentClient: settings =>
        Object.assign(makeDocumentClient(settings), {
          send: (command: unknown, options?: object) => dynamodb.send(command, options),
        }),
      time,
      makeId: makeRandomIds(random),
      hashPassword: () => Promise.reject(new Error('Operators do not set passwords in a world.')),
    },
  );

  /** Creates an SDK client that calls the virtual services. */
  function makeClient<Client extends AwsClient>(Service: ServiceOf<Client>, settings: ConnectionSettings): Client {
    const client = new Service(settings);
    return Object.assign(client, { send: sendWith(client) });
  }

  function sendWith(client: AwsClient): (command: unknown) => Promise<unknown> {
    if (client instanceof SQSClient) return command => process.sqs.send(command);
    if (client instanceof KMSClient) return command => process.kms.send(command);
    const clientClass = [CloudWatchLogsClient, STSClient].find(each => client instanceof each);
    if (!clientClass) throw new TypeError('The virtual cloud does not support this service.');
    const call = { service: 'operator', operation: clientClass.name, latency: 10 };
    return command =>
      process.call(call, () => logsResponse(command, searchLogs) ?? { Arn: 'arn:aws:iam::111122223333:user/operator' });
  }
}

/** Returns the response of CloudWatch Logs to a command. The id of a query is the query itself. */
function logsResponse(command: unknown, searchLogs: Stage['searchLogs']): object | undefined {
  if (command instanceof DescribeLogGroupsCommand) {
    return { logGroups: [{ logGroupName: command.input.logGroupNamePrefix }] };
  }
  if (command instanceof StartQueryCommand) return { queryId: command.input.queryString };
  if (!(command instanceof GetQueryResultsCommand)) return undefined;
  const [, text = ''] = /@message like \/([^/]*)\//.exec(command.input.queryId ?? '') ?? [];
  const lines = searchLogs({ text }).toReversed();
  return {
    status: 'Complete',
    results: lines.map(({ at, text }) => row({ '@timestamp': insightsTime(at), '@message': text })),
  };
}

function row(cells: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(cells).map(([field, value]) => ({ field, value }));
}

function insightsTime(at: number): string {
  return new Date(at).toISOString().replace('T', ' ').replace('Z', '');
}

const outputs = {
  ...Object.fromEntries(tableNames().map(name => [`${name}Table`, name])),
  EventsQueueUrl: queueOf.first,
  RetryQueueUrl: queueOf.retry,
  DeadLetterQueueUrl: deadLetters.queue,
  AuditLogGroup: 'audit',
  DeliveryLogGroups: 'delivery',
  Region: 'sa-east-1',
};
