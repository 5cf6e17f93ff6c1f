import { once } from 'node:events';
import { createServer } from 'node:net';
import { SetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { type LocalRun, startLocalRun } from '../../tools/support/local-run.ts';
import { makeServiceClient, type ServiceClient } from '../../tools/support/service-client.ts';
import { runNode } from '../support/run-node.ts';
import type { SynthesisedRelease } from './set-up.ts';

/** A release that serves alone, with its operators' command line. */
export interface ServingRelease {
  readonly version: string;
  readonly run: LocalRun;
  readonly service: ServiceClient;
  readonly sqs: SQSClient;
  /** Runs a command of the release's own command line. Returns its `--json` answer. @throws when it fails. */
  ops<Answer>(args: readonly string[], input?: string): Promise<Answer>;
  stop(): Promise<void>;
}

/**
 * Lets a release serve alone on what a data directory keeps.
 *
 * @param port - the same for releases that follow each other: tokens name the address of their issuer
 */
export async function serveAlone(
  { version, root, assembly }: SynthesisedRelease,
  { port, dataDirectory, hostsFile }: { port: number; dataDirectory: string; hostsFile: string },
): Promise<ServingRelease> {
  const run = await startLocalRun(
    ...['--assembly', assembly, '--data', dataDirectory, '--hosts', hostsFile, '--port', String(port)],
  );
  const sqs = sqsClientOf(run.outputs);
  // Messages that a consumer had taken when its release stopped are seen again soon.
  const { EventsQueueUrl, RetryQueueUrl, SlowQueueUrl } = run.outputs;
  for (const QueueUrl of [EventsQueueUrl, RetryQueueUrl, SlowQueueUrl]) {
    await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { VisibilityTimeout: String(visibility) } }));
  }
  return {
    version,
    run,
    service: makeServiceClient(run.outputs),
    sqs,
    ops: (args, input) => runOps(root, ['--outputs', run.outputsFile, '--json', ...args], input),
    stop: async () => {
      sqs.destroy();
      await run.stop();
    },
  };
}

/** Returns the first of six ports in a row that nobody has, below those that the system hands out. */
export async function freePorts(): Promise<number> {
  for (;;) {
    const first = 20_000 + 6 * Math.floor(Math.random() * 1_500);
    const free = await Promise.all([0, 1, 2, 3, 4, 5].map(offset => isFree(first + offset)));
    if (free.every(Boolean)) return first;
  }
}

/** Seconds; longer than an attempt lasts. */
const visibility = 15;

async function runOps<Answer>(root: string, args: readonly string[], input = ''): Promise<Answer> {
  const { code, output } = await runNode({
    words: ['bin/ops.ts', ...args],
    directory: root,
    environment: {},
    limit: 60_000,
    input,
  });
  if (code !== 0) throw new Error(`ops ${args.slice(3, 5).join(' ')} ended with ${code}: ${output}`);
  return JSON.parse(output) as Answer;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
