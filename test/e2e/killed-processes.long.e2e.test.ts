import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, it, onTestFinished } from 'vitest';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { functionProcesses } from '../../tools/support/function-processes.ts';
import { closeNow, listen } from '../../tools/support/listen.ts';
import { demoOf } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import { deliveryId } from '../support/e2e-service.ts';
import { describeWith, startOwnRun, until } from '../support/e2e-target.ts';

const evento = 'demanda.criada';
const ids = Array.from({ length: 200 }, (_, at) => `e${at}`);
const limit = 300_000; // visibility timeouts of a minute, then retries, then the sweeper

describeWith(['local'], 'five processes that are killed in the middle of their batches', () => {
  it('lose none of 200 events', { timeout: 2 * limit }, async () => {
    const receiver = await startHoldingReceiver();
    const run = await startOwnRun('--map', `held.example.com=http://127.0.0.1:${receiver.port}`);
    onTestFinished(async () => void (await run.stop()));
    const { getTokens, register } = makeServiceClient(run.outputs);
    const { client, user } = demoOf(run.outputs);
    const { access_token: token } = await getTokens(passwordGrant(client, user));
    await register(token, { evento, url: 'https://held.example.com/' });
    const sqs = sqsClientOf(run.outputs);
    const publish = (id: string) => {
      const MessageBody = JSON.stringify({ id_conta: user.account, event: evento, id, id_demanda: 1 });
      return sqs.send(new SendMessageCommand({ QueueUrl: run.outputs.EventsQueueUrl, MessageBody }));
    };
    await Promise.all(ids.map(publish));

    const killed = new Set<number>();
    await until('five deaths in the middle of a batch', () => {
      const deaths = deathsIn(run.logFile);
      if (deaths.filter(request => request !== 'init').length >= 5) return true;
      const consumers = functionProcesses(/Deliver/, run.processId).sort((one, other) => one - other);
      const oldest = consumers.find(id => !killed.has(id)); // later ones may still be starting
      if (receiver.held === 0 || killed.size > deaths.length || oldest === undefined) return undefined;
      process.kill(oldest, 'SIGKILL');
      killed.add(oldest);
      receiver.held = 0;
      return undefined;
    });
    receiver.mayAnswer = true;

    await until('the delivery of each event', () => receiver.acknowledged.size === ids.length || undefined, limit);
    expect(new Set(ids.map(id => deliveryId(user.account, evento, id)))).toEqual(receiver.acknowledged);
  });
});

/** Returns the invocations during which a process was killed, by id; `init` if it was still starting. */
function deathsIn(logFile: string): readonly string[] {
  const lines = readFileSync(logFile, 'utf8').matchAll(/RequestId: (\S+) Error: .* signal: SIGKILL/g);
  return [...lines].map(([, request = '']) => request);
}

/** Starts a receiver that answers no request until it may. */
async function startHoldingReceiver() {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      if (!receiver.mayAnswer) {
        receiver.held += 1;
        return;
      }
      response.writeHead(204).end(() => receiver.acknowledged.add(String(request.headers['webhook-id'])));
    });
  });
  const receiver = { port: await listen(server), held: 0, mayAnswer: false, acknowledged: new Set<string>() };
  onTestFinished(() => closeNow(server));
  return receiver;
}
