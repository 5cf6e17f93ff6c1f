import { openTerminal } from '@emissor/cloud/start';
import { describe, expect, it } from 'vitest';
import { cloudRequest, root } from '../../../../ops/local/cloud-request.ts';
import { parseOptions } from '../../../../ops/local/options.ts';

const terminal = openTerminal({ write: () => true });

/** The request that a command line leads to. */
const requestOf = (...words: string[]) => {
  const options = parseOptions(words, 'outputs.json');
  if (!options) throw new Error('There are no options.');
  return cloudRequest(options, {
    terminal,
    signal: new AbortController().signal,
    consoleUrl: 'http://127.0.0.1:5005/',
  });
};

describe('a local run', () => {
  it('has its parts on ports that follow each other', () => {
    expect(requestOf('--port', '5000')).toMatchObject({
      apis: { AuthUrl: 5000, BaseUrl: 5001 },
      site: { name: 'receiver.example.com', output: 'ReceiverUrl', port: 5002 },
      ports: { sqs: 5003, dynamoDb: 5004 },
    });
    expect(requestOf('--port', '0')).toMatchObject({
      apis: { AuthUrl: 0, BaseUrl: 0 },
      site: { port: 0 },
      ports: { sqs: 0, dynamoDb: 0 },
    });
  });

  it('synthesises stage local with the values that it is given, or runs an assembly', () => {
    const context = { stage: 'local', retrySchedule: '1s' };
    expect(requestOf('--retry-schedule', '1s').app).toEqual({ root, entry: 'bin/app.ts', context });
    expect(requestOf('--assembly', '/cdk.out').app).toEqual({ assemblyDirectory: '/cdk.out' });
  });

  it('needs the outputs that its users rely on', async () => {
    const added = requestOf().afterDeployment({ AuthUrl: 'a', Region: 'r' } as never);
    await expect(added).rejects.toThrow('The stacks have no output "BaseUrl", which the local run needs.');
  });
});
