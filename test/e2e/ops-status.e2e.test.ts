import { describe, expect, it } from 'vitest';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { ops } from '../support/e2e-ops.ts';
import { run } from '../support/e2e-target.ts';

describe('ops status', () => {
  it('tells of the queues, the webhooks and the keys of the run', async () => {
    const { queues, webhooks, keys, problems, stacks } = await ops<Record<string, unknown> & { problems: string[] }>([
      'status',
    ]);
    expect(stacks).toBeNull(); // an outputs file tells of none
    expect(queues).toMatchObject(['events', 'retry', 'slow', 'dead letters'].map(queue => ({ queue })));
    expect(webhooks).toMatchObject({ read: expect.any(Number), isCutOff: false });
    expect(keys).toMatchObject(['signing', 'mac', 'sealing'].map(kind => ({ kind, activeSince: expect.any(String) })));
    // Other suites of the run leave letters, and deliveries that failed or are held.
    const ofOthers = /dead letter|failed deliver|held deliver|fault of our own|overdue|suspended for failing/;
    expect(problems.filter(problem => !ofOthers.test(problem))).toEqual([]);
  });

  it('is text for people', async () => {
    const { code, stdout, stderr } = await runOpsInProcess(['--outputs', run.outputsFile, 'status']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const title of ['Queues', 'Alarms', 'Webhooks', 'Keys']) expect(stdout).toMatch(new RegExp(`^${title}$`, 'm'));
  });
});
