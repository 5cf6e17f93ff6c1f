import type { FaultPlan, ProcessRuntime } from '@emissor/cloud/virtual';
import { eventName, publicationOf } from './arrival.ts';
import { makeWorld } from './make-world.ts';
import { makeWorldRuntime } from './process-runtime.ts';
import type { Reaction } from './receivers.ts';
import type { Answered } from './requests.ts';
import { queueOf, stageValuesOf } from './stage.ts';
import { minute, second } from './times.ts';

/** The actions that a scenario can use. Times are in milliseconds. */
export type Scene = Awaited<ReturnType<typeof openScene>>;

/** Runs a scenario with one account and deterministic faults, on the real compositions in virtual time. */
export async function playScene(play: (scene: Scene) => Promise<void>, faults: FaultPlan = {}): Promise<void> {
  const scene = await openScene(faults);
  try {
    await play(scene);
  } finally {
    scene.end();
  }
}

async function openScene(faults: FaultPlan) {
  const processes: ProcessRuntime['process'][] = [];
  const world = makeWorld(1, 'calm', undefined, {
    accounts: [{ id: account, host, kind: undefined, isRestless: true }],
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
  await world.begin();
  return { step, run, end, endFaults: cloud.endFaults, at, kill, register, request, publish, delivery, posts };

  /** Schedules `act`. The virtual clock advances during `step` and `run`. */
  function at(after: number, act: () => void): void {
    cloud.at(cloud.now() + after, act);
  }

  /** Kills all processes of a function. */
  function kill(functionName: string): void {
    for (const process of processes) if (process.functionName === functionName) process.kill('by the scene');
  }

  /** Registers a webhook. Calls `react` with the number of each POST, from 1. */
  async function register(react: (post: number) => Reaction): Promise<void> {
    let number = 0;
    world.receivers.react(host, () => {
      number += 1;
      return react(number);
    });
    await request('POST', '/v1/webhooks', { evento: eventName, url: `https://${host}/` });
  }

  /** Sends a request and returns the body of its response. @throws {Error} if the status is not 2xx. */
  async function request(method: string, path: string, body?: Answered['body']): Promise<Answered['answer']> {
    const responses: Answered[] = [];
    void world.request(method, path, { account, body }).then(one => responses.push(one));
    await cloud.runUntilSo(() => responses.length > 0);
    const [{ status, answer } = { status: 0, answer: {} }] = responses;
    if (status < 200 || status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
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

  /** Returns the statuses of the receiver's responses to a delivery, including responses that are not sent yet. */
  function posts(id: string): readonly number[] {
    return world.receivers.postsOf(id).map(({ status }) => status);
  }
}

/** The path of the webhook. */
export const webhookPath = `/v1/webhooks/${eventName}`;

const account = 'conta-1';
const host = 'receiver.example.com';
