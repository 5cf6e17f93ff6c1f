import { join } from 'node:path';
import { type LocalCloudRequest, requiredOutput, type Terminal } from '@emissor/cloud/start';
import { type DemoCredentials, provisionDemo } from './demo-data.ts';
import type { LocalOptions } from './options.ts';
import { makeReceiver, type ReceivedDelivery } from './receiver.ts';

/** The outputs of a local run that its users rely on. */
export interface ServiceOutputs {
  readonly AuthUrl: string;
  readonly BaseUrl: string;
  readonly EventsQueueUrl: string;
  readonly DeadLetterQueueUrl: string;
  readonly ReceiverUrl: string;
  /** The URL of the console without a token. The run prints a link with a token. */
  readonly ConsoleUrl: string;
  readonly Demo: DemoCredentials;
}

/** The root folder of the project. */
export const root = join(import.meta.dirname, '../..');

/** Returns the request for a local cloud that runs Emissor with these options. */
export function cloudRequest(
  { port, assemblyDirectory, stageValues, ...options }: LocalOptions,
  {
    terminal,
    signal,
    consoleUrl,
  }: { readonly terminal: Terminal; readonly signal: AbortSignal; readonly consoleUrl: string },
): LocalCloudRequest<ServiceOutputs> {
  const { dataDirectory } = options;
  /** Returns the port of a part. Ports are consecutive. If `port` is 0, each part uses any free port. */
  const portAt = (offset: number) => (port === 0 ? 0 : port + offset);
  return {
    ...options,
    app:
      assemblyDirectory === undefined
        ? { root, entry: 'bin/app.ts', context: { stage: 'local', ...stageValues } }
        : { assemblyDirectory },
    apis: { AuthUrl: portAt(0), BaseUrl: portAt(1) },
    site: {
      name: 'receiver.example.com',
      output: 'ReceiverUrl',
      port: portAt(2),
      handle: makeReceiver(delivery => terminal.note('receiver', describeDelivery(delivery))),
    },
    ports: { sqs: portAt(3), dynamoDb: portAt(4) },
    workDirectory: join(root, '.local'),
    terminal,
    signal,
    afterDeployment: async outputs => ({
      AuthUrl: requiredOutput(outputs, 'AuthUrl'),
      BaseUrl: requiredOutput(outputs, 'BaseUrl'),
      EventsQueueUrl: requiredOutput(outputs, 'EventsQueueUrl'),
      DeadLetterQueueUrl: requiredOutput(outputs, 'DeadLetterQueueUrl'),
      ReceiverUrl: requiredOutput(outputs, 'ReceiverUrl'),
      ConsoleUrl: consoleUrl,
      Demo: await provisionDemo(outputs, dataDirectory && join(dataDirectory, 'demo.json')),
    }),
  };
}

function describeDelivery({ method, path, headers, body, status }: ReceivedDelivery): string {
  const event = /"event"\s*:\s*"([\w.]+)"/.exec(body)?.[1] ?? '';
  return [method, path, event, headers['webhook-id'] ?? '', `status ${status}`].filter(part => part !== '').join('  ');
}
