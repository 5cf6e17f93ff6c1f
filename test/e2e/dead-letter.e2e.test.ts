import { describe, expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { createClient } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';
import { until } from '../support/e2e-poll.ts';
import { deliveryId, send, sendDeadLetter } from '../support/e2e-queues.ts';
import { startReceiver } from '../support/e2e-receiver.ts';
import { describeWith, run } from '../support/e2e-target.ts';
import { openSession, register } from '../support/e2e-webhooks.ts';

const dlq = (args: readonly string[]) => runOpsInProcess(['--outputs', run.outputsFile, '--json', ...args]);

/** The answer of a command, asked again while another reader of the queue hides the message. */
const onceVisible = (args: readonly string[]): Promise<unknown> =>
  until(args.join(' '), async () => {
    const { code, stdout } = await dlq(args);
    return code === 0 ? JSON.parse(stdout) : undefined;
  });

describe('ops dlq', () => {
  it('lists the message that could not be processed and why, shows it, and discards it for good', async () => {
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
