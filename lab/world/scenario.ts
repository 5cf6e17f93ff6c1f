import type { FaultPlan, ProcessRuntime } from '@emissor/cloud/virtual';
import { eventName, publicationOf } from './arrival.ts';
import { makeWorld } from './make-world.ts';
import { makeWorldRuntime } from './process-runtime.ts';
import type { Reaction } from './receivers.ts';
import type { CompletedRequest } from './requests.ts';
import { queueOf, stageValuesOf } from './stage.ts';
import { minute, second } from './times.ts';

/** The actions that a scenario can use. Times are in milliseconds. */
export type Scenario = Awaited<ReturnType<typeof startScenario>>;

/** Runs a scenario with one account and deterministic faults. The real compositions run in virtual time. */
export async function runScenario(act: (scenario: Scenario) => Promise<void>, faults: FaultPlan = {}): Promise<void> {
  const scenario = await startScenario(faults);
  try {
    await act(scenario);
  } finally {
    scenario.end();
  }
}

async function startScenario(faults: FaultPlan) {
  const processes: ProcessRuntime['process'][] = [];
  const world = makeWorld(1, 'none', undefined, {
    accounts: [{ id: account, host, kind: undefined, isModified: true }],
    ...{ publications: [], hasPeople: false, faults },
    stage: {
      values: {
        ...stageValuesOf(1),
        retrySchedule: [5 * second, minute],
        attemptTimeoutMs: 15 * second,
      },
      runtimeOf: runtime => {
        processes.push(runtime.process);
        return makeWorldRuntime(runtime, world.receivers);
      },
    },
  });
  const { cloud, step, run, end } = world;
  let events = 0;
  await world.start();
  return { step, run, end, endFaults: cloud.endFaults, at, kill, register, request, publish, delivery, posts };

  /** Schedules `act`. The virtual clock advances during `step` and `run`. */
  function at(delayMs: number, act: () => void): void {
    cloud.at(cloud.now() + delayMs, act);
  }

  /** Kills all processes of a function. */
  function kill(functionName: string): void {
    for (const process of processes) if (process.functionName === functionName) process.kill('by the scenario');
  }

  /** Registers a webhook. Calls `react` with the number of each POST, starting at 1. */
  async function register(react: (post: number) => Reaction): Promise<void> {
    let number = 0;
    world.receivers.setReaction(host, () => {
      number += 1;
      return react(number);
    });
    await request('POST', '/v1/webhooks', { evento: eventName, url: `https://${host}/` });
  }

  /** Sends a request and returns the body of its response. @throws {Error} if the status is not 2xx. */
  async function request(
    method: string,
    path: string,
    body?: CompletedRequest['body'],
  ): Promise<CompletedRequest['response']> {
    const completed: CompletedRequest[] = [];
    void world.request(method, path, { account, body }).then(one => completed.push(one));
    await cloud.runUntilTrue(() => completed.length > 0);
    const [{ status, response } = { status: 0, response: {} }] = completed;
    if (status < 200 || status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(response)}`);
    return response;
  }

  /** Publishes an event. Returns the id of its delivery. */
  function publish(): string {
    events += 1;
    const { body, deliveryId } = publicationOf({ account, at: 0, number: events });
    cloud.send(queueOf.first, { body, group: account });
    return deliveryId;
  }

  /** Returns the state of a delivery and the results of its attempts, from the API. */
  async function delivery(id: string): Promise<{ readonly state: unknown; readonly results: readonly string[] }> {
    const { estado, tentativas } = await request('GET', `${webhookPath}/entregas/${id}`);
    const attempts: readonly { readonly resultado: string }[] = Array.isArray(tentativas) ? tentativas : [];
    return { state: estado, results: attempts.map(({ resultado }) => resultado) };
  }

  /** Returns the statuses of the receiver's responses to a delivery, including responses that it has not sent yet. */
  function posts(id: string): readonly number[] {
    return world.receivers.postsOf(id).map(({ status }) => status);
  }
}

export const webhookPath = `/v1/webhooks/${eventName}`;

const account = 'conta-1';
const host = 'receiver.example.com';
