import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/** The requests of a flood, and its length. */
export interface Flood {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Requests a second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly length: number;
}

/** Answers to a flood, by status; 0 counts requests without an answer. */
export type FloodAnswers = Readonly<Record<number, number>>;

const mostAtOnce = 100;

/** Milliseconds. */
const patience = 5_000;

// A thread of its own: what it has to do must not delay the clock of those who are measured.
parentPort?.postMessage(await flood(workerData as Flood));

/** Sends requests at a fixed rate, whatever is answered. Returns the answers. */
async function flood({ url, method, headers, body, rate, length }: Flood): Promise<FloodAnswers> {
  const agent = new Agent({ keepAlive: true, maxSockets: mostAtOnce });
  const answers: Record<number, number> = {};
  let underWay = 0;
  const send = () =>
    new Promise<number>(resolve => {
      const outgoing = request(url, { method, headers, agent, timeout: patience }, response => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0));
      });
      outgoing.once('timeout', () => outgoing.destroy());
      outgoing.once('error', () => resolve(0));
      outgoing.end(body);
    });

  const begun = performance.now();
  const pending = new Set<Promise<void>>();
  for (let sent = 0, elapsed = 0; elapsed < length; elapsed = performance.now() - begun) {
    for (const due = Math.floor((elapsed / 1_000) * rate); sent < due; sent++) {
      if (underWay >= mostAtOnce) continue; // it is not made up for
      underWay++;
      const answered = send().then(status => {
        underWay--;
        answers[status] = (answers[status] ?? 0) + 1;
        pending.delete(answered);
      });
      pending.add(answered);
    }
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  await Promise.all(pending);
  agent.destroy();
  return answers;
}
