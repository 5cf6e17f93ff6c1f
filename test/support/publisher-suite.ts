import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Outcome } from '../../packages/publisher/src/index.ts';
import { unique } from '../../tools/support/accounts.ts';
import { createClient } from './e2e-accounts.ts';
import { until } from './e2e-poll.ts';
import { send } from './e2e-queues.ts';
import { type Receiver, startReceiver } from './e2e-receiver.ts';
import { describeWith, output, outputs } from './e2e-target.ts';
import { openSession, register } from './e2e-webhooks.ts';
import { type FakeQueue, startFakeQueue } from './fake-queue.ts';

/** A program that publishes events with one of the publishers, and what it needs. */
export interface PublishingProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Returns the environment in which a publisher reaches a queue of this machine or of the run under test. */
export function environmentFor(queueUrl: string): Readonly<Record<string, string>> {
  const region = outputs.Region ?? 'us-east-1';
  return {
    PATH: process.env.PATH ?? '',
    EVENTS_QUEUE_URL: queueUrl,
    AWS_ENDPOINT_URL_SQS: new URL(queueUrl).origin,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  };
}

/** Hands a program a task as JSON, and returns what it answers. */
export async function perform(program: PublishingProgram, task: object, queueUrl: string): Promise<unknown> {
  const child = spawn(program.command, program.args, {
    cwd: program.cwd,
    env: { ...environmentFor(queueUrl), ...program.environment },
  });
  child.stdin.end(asciiJson(task));
  const ended = new Promise(resolve => child.once('close', resolve));
  const [answer, complaints] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  expect(complaints).toBe('');
  return JSON.parse(answer);
}

/** The tests that each publisher passes, against the run under test. `prepare` returns the program; it may take its time. */
export function describePublisher(title: string, prepare: () => Promise<PublishingProgram>): void {
  describeWith(['names', 'engines'], title, () => {
    let program: PublishingProgram;
    let receiver: Receiver;
    let queue: FakeQueue | undefined;
    const accounts: string[] = [];
    const path = '/published';

    beforeAll(async () => {
      program = await prepare();
      receiver = await startReceiver('publisher');
      const client = await createClient();
      for (const _ of [1, 2, 3]) {
        const session = await openSession(client);
        await register(session, { evento: 'demanda.criada', url: receiver.url(path) });
        await register(session, { evento: 'mensagem.recebida', url: receiver.url(path) });
        accounts.push(session.user.account);
      }
    });
    afterAll(async () => {
      await queue?.stop();
      await receiver?.stop();
    });

    const publishAll = (queueUrl: string, events: readonly object[], by = program) =>
      perform(by, { task: 'publish', queueUrl, attempts: 3, events }, queueUrl) as Promise<Outcome>;

    /** Events of all accounts, of two kinds, with and without an id of their own. */
    const eventsOf = (count: number) => {
      const run = unique();
      return Array.from({ length: count }, (_, position) => ({
        id_conta: accounts[position % accounts.length],
        id_demanda: position + 1,
        ...(position % 2 === 0
          ? { event: 'demanda.criada' }
          : { event: 'mensagem.recebida', id_proposta: position + 2 }),
        ...(position % 5 !== 0 && { id: `💧 "${run}"\n\ud83d ${position}` }),
      }));
    };

    const receivedIds = () => new Set(receiver.received(path).map(({ headers }) => headers['webhook-id']));
    const allArrive = (ids: readonly string[]) =>
      until(
        `${ids.length} webhook-ids at the receiver`,
        () => ids.every(id => receivedIds().has(id)) || undefined,
        120_000,
      );

    it.each([11, 1_000])('%i events arrive under the webhook-ids that it told', async count => {
      const began = Date.now();
      const { sent, refused, failed } = await publishAll(output('EventsQueueUrl'), eventsOf(count));
      if (count === 1_000)
        console.log(`${title}: 1,000 events in ${Date.now() - began} ms, the program's start included`);
      expect([refused, failed]).toEqual([[], []]);
      expect(sent.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index));
      await allArrive(sent.map(({ webhookId }) => webhookId));
    });

    it('a queue that refuses some gets them again, and what it never takes is told', async () => {
      const started = await startFakeQueue({
        judge: ({ body }, time) => {
          const { id_demanda: demand } = JSON.parse(body);
          if (demand === 5) return { code: 'InvalidMessageContents', senderFault: true };
          if (demand === 6) return { code: 'InternalError', senderFault: false };
          return demand % 3 === 0 && time === 0 ? { code: 'ThrottlingException', senderFault: false } : 'taken';
        },
        forward: ({ body, group = '' }) => send(body, group),
      });
      queue = started;
      const { sent, refused, failed } = await publishAll(started.url, eventsOf(25));
      expect(refused).toEqual([]);
      expect(failed).toMatchObject([
        { index: 4, code: 'InvalidMessageContents', retryable: false },
        { index: 5, code: 'InternalError', retryable: true },
      ]);
      expect(sent).toHaveLength(23);
      for (const { body, group } of started.requests.flat()) expect(JSON.parse(body).id_conta).toBe(group);
      await allArrive(sent.map(({ webhookId }) => webhookId));
      expect(failed.filter(({ webhookId }) => receivedIds().has(webhookId))).toEqual([]);
    });

    it('a queue that never answers is waited for some seconds', { timeout: 30_000 }, async () => {
      queue = await startFakeQueue({ receive: () => 'unanswered' });
      const once = { ...program, environment: { ...program.environment, AWS_MAX_ATTEMPTS: '1' } };
      const { failed } = await publishAll(queue.url, eventsOf(1), once);
      expect(failed).toMatchObject([{ index: 0, code: expect.stringContaining('Timeout'), retryable: true }]);
    });
  });
}

/** JSON that is the same in every encoding. */
function asciiJson(value: object): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
