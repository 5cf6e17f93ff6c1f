import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { expect, it, onTestFinished } from 'vitest';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { closeNow, listen } from '../../tools/support/listen.ts';
import { demoOf, type LocalOutputs } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import { until } from '../support/e2e-poll.ts';
import { deliveryId } from '../support/e2e-queues.ts';
import { describeWith, startOwnRun } from '../support/e2e-target.ts';

const evento = 'demanda.criada';
const numbers = Array.from({ length: 200 }, (_, at) => at + 1);
const limit = 300_000; // visibility timeouts of a minute, then retries, then the sweeper

describeWith(['local'], 'five processes that are killed in the middle of their batches', () => {
  it('lose none of 200 events', { timeout: 2 * limit }, async () => {
    const receiver = await startHoldingReceiver();
    const run = await startOwnRun('--map', `held.example.com=http://127.0.0.1:${receiver.port}`);
    onTestFinished(() => run.stop().then(() => {}));
    const { getTokens, register, callApi } = makeServiceClient(run.outputs);
    const { client, user } = demoOf(run.outputs);
    const { access_token: token } = await getTokens(passwordGrant(client, user));
    await register(token, { evento, url: 'https://held.example.com/' });
    await publishAll(run.outputs, user.account);

    const killed = new Set<number>();
    await until('five deaths in the middle of a batch', () => {
      const deaths = deathsIn(run.logFile);
      if (deaths.filter(request => request !== 'init').length >= 5) return true;
      if (receiver.held() === 0 || killed.size > deaths.length) return undefined;
      const [oldest] = consumersOf(run.outputs).filter(id => !killed.has(id)); // later ones may still be starting
      if (oldest === undefined) return undefined;
      process.kill(oldest, 'SIGKILL');
      killed.add(oldest);
      receiver.forget();
      return undefined;
    });
    receiver.answer();

    const path = `/v1/webhooks/${evento}/entregas?limite=100&estado=`;
    const expected = numbers.map(number => deliveryId(user.account, evento, `e${number}`)).sort();
    const delivered = await until(
      'the final state of each event',
      async () => {
        const ids: string[] = [];
        for (let cursor: unknown = ''; cursor !== null; ) {
          const { json } = await callApi('GET', `${path}entregue${cursor && `&cursor=${cursor}`}`, { token });
          const { entregas, proximo_cursor } = json as { entregas: { id: string }[]; proximo_cursor: string | null };
          ids.push(...entregas.map(({ id }) => id));
          cursor = proximo_cursor;
        }
        return ids.length >= expected.length ? ids.sort() : undefined;
      },
      limit,
      1_000,
    );
    expect(delivered).toEqual(expected);
    expect([...receiver.acknowledged()].sort()).toEqual(expected);
  });
});

/** Publishes the events to a run. */
async function publishAll(outputs: LocalOutputs, account: string): Promise<void> {
  const sqs = sqsClientOf(outputs);
  for (let from = 0; from < numbers.length; from += 10) {
    const Entries = numbers.slice(from, from + 10).map(number => ({
      Id: `e${number}`,
      MessageGroupId: account,
      MessageBody: JSON.stringify({ id_conta: account, event: evento, id: `e${number}`, id_demanda: number }),
    }));
    const { Failed } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: outputs.EventsQueueUrl, Entries }));
    expect(Failed).toBeUndefined();
  }
}

/** Returns the processes of the functions of a run that consume queues, the oldest first. */
function consumersOf({ SqsEndpoint }: LocalOutputs): number[] {
  const ids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const isOfRun = (id: number) => {
    const variables = variablesOf(id);
    return (
      variables.includes(`AWS_ENDPOINT_URL_SQS=${SqsEndpoint}`) && /LAMBDA_FUNCTION_NAME=\S*Deliver/.test(variables)
    );
  };
  return ids.filter(isOfRun).sort((one, other) => one - other);
}

function variablesOf(id: number): string {
  try {
    return readFileSync(`/proc/${id}/environ`, 'utf8').replaceAll('\0', '\n');
  } catch {
    return ''; // it has ended, or is another user's
  }
}

/** Returns the invocations during which a process was killed, by id; `init` if it was still starting. */
function deathsIn(logFile: string): readonly string[] {
  const lines = readFileSync(logFile, 'utf8').matchAll(/RequestId: (\S+) Error: .* signal: SIGKILL/g);
  return [...lines].map(([, request = '']) => request);
}

/** Starts a receiver that answers no request until it may, and then all. */
async function startHoldingReceiver() {
  const held = new Set<ServerResponse>();
  const acknowledged = new Set<string>();
  let mayAnswer = false;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const id = String(request.headers['webhook-id']);
      response.once('finish', () => acknowledged.add(id));
      if (mayAnswer) response.writeHead(204).end();
      else held.add(response);
    });
  });
  const port = await listen(server);
  onTestFinished(() => closeNow(server));
  return {
    port,
    held: () => held.size,
    /** Does not count the requests that it has now. */
    forget: () => held.clear(),
    /** Answers each further request. */
    answer: () => {
      mayAnswer = true;
    },
    /** Returns the ids of the deliveries that were answered. */
    acknowledged: () => acknowledged,
  };
}
