import { createServer, type IncomingMessage } from 'node:http';
import { onTestFinished, vi } from 'vitest';
import { closeNow, listen } from '../../tools/support/listen.ts';

/**
 * Answers every call of a client of AWS in the same way until the test is over. Returns the requests that came.
 *
 * @param service - as in the variable of its address: `KMS`.
 */
export async function standInForAws(service: string, answer: object): Promise<readonly IncomingMessage[]> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    request.resume().on('end', () => response.end(JSON.stringify(answer)));
  });
  onTestFinished(async () => {
    await closeNow(server);
    vi.unstubAllEnvs();
  });
  vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, `http://127.0.0.1:${await listen(server)}`);
  vi.stubEnv('AWS_REGION', 'sa-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
  return requests;
}
