import { StartError, type StartProblem } from '@emissor/cloud/errors';
import { openTerminal } from '@emissor/cloud/start';
import { describe, expect, it } from 'vitest';
import { describeStartError } from '../../../../ops/local/advice.ts';
import { cloudRequest, root } from '../../../../ops/local/cloud-request.ts';
import { greeting } from '../../../../ops/local/greeting.ts';
import { parseOptions } from '../../../../ops/local/options.ts';

// A local run uses consecutive ports, and prints the next steps (contract, section 7).

const terminal = openTerminal({ write: () => true });

/** Returns the request of a command line. */
const requestOf = (args: string) => {
  const options = parseOptions(args.split(' ').filter(Boolean), 'outputs.json');
  if (!options) throw new Error('There are no options.');
  const signal = new AbortController().signal;
  return cloudRequest(options, { terminal, signal, consoleUrl: 'http://127.0.0.1:5005/' });
};

describe('a local run', () => {
  it.each([
    [5000, [5000, 5001, 5002, 5003, 5004]],
    [0, [0, 0, 0, 0, 0]],
  ])('with --port %d uses the ports %j', (port, [AuthUrl, BaseUrl, site, sqs, dynamoDb]) => {
    expect(requestOf(`--port ${port}`)).toMatchObject({
      apis: { AuthUrl, BaseUrl },
      site: { name: 'receiver.example.com', output: 'ReceiverUrl', port: site },
      ports: { sqs, dynamoDb },
    });
  });

  it('synthesises stage local with the specified values, or runs an assembly', () => {
    const context = { stage: 'local', retrySchedule: '1s' };
    expect(requestOf('--retry-schedule 1s').app).toEqual({ root, entry: 'bin/app.ts', context });
    expect(requestOf('--assembly /cdk.out').app).toEqual({ assemblyDirectory: '/cdk.out' });
  });

  it('fails if a required output is missing', async () => {
    const added = requestOf('').afterDeployment({ AuthUrl: 'a', Region: 'r' } as never);
    await expect(added).rejects.toThrow('The stacks have no output "BaseUrl", which the local run needs.');
  });

  it('prints the next steps and the mapped names once it is ready', () => {
    const mappings = new Map(Object.entries({ 'one.example.net': 9000, 'two.example.net': 9001 }));
    const details = { outputsFile: 'outputs.json', consoleLink: 'http://127.0.0.1:4005/', mappings };
    const text = greeting({ Demo: {} } as Parameters<typeof greeting>[0], details);
    expect(text).toContain('  receiver   https://one.example.net/… is forwarded to http://localhost:9000');
    expect(text).toContain('  receiver   https://two.example.net/… is forwarded to http://localhost:9001');
    expect(text.join('\n')).toMatch(/Next steps:\n {2}npm run smoke .*\n {2}the console .*"First steps"/);
  });

  it.each<[StartProblem | undefined, RegExp]>([
    ['port-in-use', /^This, perhaps by another run\. Stop that run, or choose other ports with --port N /],
    ['port-refused', /^This\. Choose another --port, 1024 or higher\.$/],
    ['outputs-unwritable', /^This\. .* --outputs\.$/],
    ['data-in-use', /^This\. Stop that run, or .* --data\.$/],
    ['data-unfit', /^This\. Choose an empty directory with --data\.$/],
    ['data-damaged', /^This\. Restore it from a copy, or .* --data\.$/],
    [undefined, /^This$/],
  ])('that cannot start because of %s shows the option that solves the problem', (problem, advice) => {
    expect(describeStartError(new StartError('This', problem))).toMatch(advice);
  });
});
