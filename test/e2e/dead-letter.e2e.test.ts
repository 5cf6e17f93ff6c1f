import type { Message } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { createClient, newAccount } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';
import { until } from '../support/e2e-poll.ts';
import { deliveryId, send, sendDeadLetter, takeDeadLetters } from '../support/e2e-queues.ts';
import { startReceiver } from '../support/e2e-receiver.ts';
import { describeWith, run } from '../support/e2e-target.ts';
import { openSession, register } from '../support/e2e-webhooks.ts';

const taken: Message[] = [];

/** The dead letter with that body; what else is on the queue is kept for the tests beside this one. */
const deadLetter = (body: string): Promise<Message> =>
  until('the dead letter', async () => {
    taken.push(...(await takeDeadLetters()));
    return taken.find(message => message.Body === body);
  });

const cases = [
  ['no JSON', 'malformed', () => `{"id_conta": ${unique()}`],
  [
    'an event in another case',
    'unknown_event',
    () => JSON.stringify({ id_conta: newAccount(), event: 'Demanda.Criada', id_demanda: 1 }),
  ],
] as const;

describe('a message that cannot be processed goes to the dead-letter queue, its body unchanged', () => {
  it.concurrent.each(cases)('%s: %s', async (_title, reason, build) => {
    const body = build();
    const messageId = await send(body, 'e2e');
    const message = await deadLetter(body);
    expect(message.MessageAttributes).toMatchObject({
      reason: { DataType: 'String', StringValue: reason },
      detail: { DataType: 'String', StringValue: expect.stringMatching(/\S/) },
      sender: { DataType: 'String', StringValue: expect.stringMatching(/\S/) },
      original_message_id: { DataType: 'String', StringValue: messageId },
      original_sent_at: { DataType: 'String', StringValue: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
  });
});

const dlq = (args: readonly string[]) => runOpsInProcess(['--outputs', run.outputsFile, '--json', ...args]);

/** The answer of a command, asked again while another reader of the queue hides the message. */
const onceVisible = (args: readonly string[]): Promise<unknown> =>
  until(args.join(' '), async () => {
    const { code, stdout } = await dlq(args);
    return code === 0 ? JSON.parse(stdout) : undefined;
  });

// In this file, because one reader of the queue hides messages from the other.
describe('ops dlq', () => {
  it('lists what is there and why, shows it, and discards it for good', async () => {
    const body = `no JSON ${unique()}`;
    const messageId = await send(body, 'e2e');
    const letter = await until('the message in the list', async () => {
      const letters = await ops<{ body: string }[]>(['dlq', 'list']);
      return letters.find(candidate => candidate.body === body);
    });
    expect(letter).toEqual({
      messageId,
      body,
      sentAt: expect.stringMatching(/^\d{4}-.*Z$/),
      reason: 'malformed',
      detail: expect.stringMatching(/\S/),
      sender: expect.stringMatching(/\S/),
      copies: 1,
    });
    expect(await onceVisible(['dlq', 'show', messageId])).toEqual(letter);
    expect(await onceVisible(['dlq', 'discard', messageId, '--yes'])).toEqual({ discarded: 1 });
    expect((await dlq(['dlq', 'show', messageId])).code).toBe(1);
  });
});

describeWith(['names'], 'ops dlq redrive', () => {
  it('sends what can be processed now, as the event it always was, and keeps the rest', async () => {
    const receiver = await startReceiver('redrive');
    try {
      const session = await openSession(await createClient());
      const { account } = session.user;
      await register(session, { evento: 'demanda.criada', url: receiver.url('/redriven') });
      const messageId = await sendDeadLetter(
        JSON.stringify({ id_conta: account, event: 'demanda.criada', id_demanda: 1 }),
      );
      const hopeless = await sendDeadLetter(`no JSON ${unique()}`);

      await ops(['dlq', 'list']); // it hid what it had looked at from the next command
      let redriven = 0;
      const keptIds = new Set<string>();
      // Another reader of the queue hides what it looks at for a moment.
      await until('the redrive', async () => {
        const { moved, kept } = await ops<{ moved: number; kept: { messageId: string }[] }>(['dlq', 'redrive']);
        redriven += moved;
        for (const letter of kept) keptIds.add(letter.messageId);
        return redriven > 0 && keptIds.has(hopeless) ? true : undefined;
      });
      const [delivery] = await receiver.waitFor('/redriven', 1);
      expect(delivery?.headers['webhook-id']).toBe(deliveryId(account, 'demanda.criada', messageId));
    } finally {
      await receiver.stop();
    }
  });
});
