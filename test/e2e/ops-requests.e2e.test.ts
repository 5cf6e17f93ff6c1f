import { expect, it } from 'vitest';
import { runOpsInProcess } from '../../tools/support/ops.ts';
import { until } from '../support/e2e-poll.ts';
import { describeWith, run } from '../support/e2e-target.ts';
import { callApi } from '../support/e2e-webhooks.ts';

describeWith(['local'], 'ops requests find', () => {
  const find = (...args: string[]) => runOpsInProcess(['--outputs', run.outputsFile, 'requests', 'find', ...args]);

  it('a request is found by the id of its answer: how it was answered, and what the function says of it', async () => {
    const { headers } = await callApi('GET', '/v1/webhooks?secret=canary', { token: 'garbage' });
    const id = String(headers.get('apigw-requestid'));
    const found = await until('the lines of the request', async () => {
      const { code, stdout } = await find('--json', '--since', '10m', '--', id);
      const answer = code === 0 ? JSON.parse(stdout) : undefined;
      return answer?.access && answer.lines.length > 0 ? answer : undefined;
    });
    expect(found).toMatchObject({
      requestId: id,
      access: { requestId: id, method: 'GET', path: '/v1/webhooks', status: '401' },
      lines: [{ message: 'webhook.refused', code: 'invalid_token' }],
    });
    expect(JSON.stringify(found)).not.toContain('canary');
  });

  it('a request that is in no log is refused, and an id that is none is not understood', async () => {
    expect(await find('--', 'AAAAAAAAAAAAAAA=')).toMatchObject({ code: 1 });
    expect(await find('not an id')).toMatchObject({ code: 2 });
  });
});
