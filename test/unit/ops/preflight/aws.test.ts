import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it, vi } from 'vitest';
import { stageConfiguration } from '../../../../lib/config.ts';
import { connectAws } from '../../../../ops/preflight/aws.ts';
import { closeNow, listen } from '../../../../tools/support/listen.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

it('asks five times for what it reads of every stack or function, as commands do', async () => {
  const asked: (string | null)[] = [];
  const server = createServer(async (request, response) => {
    asked.push(new URLSearchParams(await text(request)).get('StackName'));
    response.writeHead(500, { 'content-type': 'text/xml' }).end('<ErrorResponse/>');
  });
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', `http://127.0.0.1:${await listen(server)}`);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  try {
    await expect(connectAws(stageConfiguration('dev'), 'sa-east-1').stacks()).rejects.toThrow();
    await vi.waitFor(() => expect(asked.filter(name => name === 'Emissor-dev-Data')).toHaveLength(5), 10_000);
  } finally {
    await closeNow(server);
  }
});
