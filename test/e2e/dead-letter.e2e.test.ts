import { describe, expect, it } from 'vitest';
import { unique } from '../../tools/support/accounts.ts';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { ops } from '../support/e2e-ops.ts';
import { send } from '../support/e2e-service.ts';
import { run, until } from '../support/e2e-target.ts';

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
