import type { Refuse } from '../dynamodb/partial.ts';
import { type Fate, type Faults, refusalBy } from '../faults.ts';
import { isThrottling } from '../service-error.ts';
import type { VirtualTime } from '../time.ts';
import type { Costs } from './costs.ts';
import type { Process } from './processes.ts';
import type { Note } from './record.ts';

/** A call from a process to a service. */
export interface Call {
  readonly service: string;
  readonly operation: string;
  /** The resource, such as a queue or a table. */
  readonly resource?: string;
  /** The number of entries of a batch. @default 1 */
  readonly entries?: number;
  /** The input in the digest and the trace. */
  readonly input?: unknown;
  /** The latency in milliseconds. @default - the latency in `costs` */
  readonly takes?: number;
  /** The processor time in milliseconds. @default - the processor time in `costs` */
  readonly work?: number;
  /** The maximum number of attempts. @default 3 */
  readonly tries?: number;
  /** The timeout of each attempt, in milliseconds. @default 1000 */
  readonly limit?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a call. `effect` runs in the service after half of the latency. It returns the response, or throws the error response. */
export type MakeCall = <Answer extends object>(call: Call, effect: Effect<Answer>) => Promise<Called<Answer>>;

/** The effect in a service. If the service accepts only a part of a batch, `refuse` returns the error of an entry. */
type Effect<Answer> = (refuse?: Refuse) => Answer;

/** A response as the SDK returns it. */
export type Called<Answer> = Answer & { readonly $metadata: CallMetadata };

interface CallMetadata {
  readonly attempts: number;
  readonly totalRetryDelay: number;
}

/** Creates the senders of the processes' calls. Like a function's SDK, they make three attempts of at most 1 s each. */
export function makeCalls({ time, costs, faults, note }: CallContext): (process: Process) => MakeCall {
  return function callsOf(process) {
    const tokensOf = new Map<string, number>();

    return function makeCall<Answer extends object>(call: Call, effect: Effect<Answer>): Promise<Called<Answer>> {
      const { service, operation, resource = '', entries = 1, tries = 3, limit = 1_000, signal } = call;
      const name = `${service}:${operation}`;
      const details = { functionName: process.functionName, service, operation, resource };
      const takes = call.takes ?? costs.latency[name] ?? costs.latency[service] ?? 0;
      const work = call.work ?? costs.call + costs.entry * (entries - 1);
      let totalRetryDelay = 0;
      let refund = 1;
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(namedError('AbortError', 'Request aborted'));
        signal?.addEventListener('abort', () => reject(namedError('AbortError', 'Request aborted')), { once: true });
        attempt(1);

        function attempt(attempts: number): void {
          if (process.isDead() || signal?.aborted) return;
          const fate = faults.fateOf(details);
          if (fate === 'dies_before') {
            process.kill(`before ${name}`);
            return;
          }
          const latency = takes + (fate === 'slow' ? faults.slowness() : 0);
          const sentAt = process.work(work);
          const arrive = () => {
            if (process.diedAt() <= sentAt) return;
            const outcome = outcomeOf(fate);
            const errorName = outcome.error instanceof Error ? outcome.error.name : '';
            note('call', `${process.id} ${name} ${resource} ${attempts} ${fate} ${errorName}`, () => [
              call.input,
              outcome.answer,
            ]);
            if (fate === 'dies_after') {
              process.kill(`after ${name}`);
              return;
            }
            const isLost = fate === 'request_lost' || fate === 'answer_lost' || latency > limit;
            const result = isLost ? { error: namedError('TimeoutError', `${name}: no response in time`) } : outcome;
            time.at(sentAt + (isLost ? limit : latency), () => process.deliver(() => end(result, attempts)), true);
          };
          time.at(sentAt + Math.min(latency / 2, limit), arrive);
        }

        function outcomeOf(fate: Fate): Outcome<Answer> {
          const rejection = refusalBy(fate, service);
          try {
            if (fate === 'request_lost') return {};
            if (!rejection) return { answer: effect() };
            if (service !== 'dynamodb' || entries === 1) throw rejection;
            return { answer: effect(() => (faults.isAboutEntry() ? rejection : undefined)) };
          } catch (error) {
            return { error };
          }
        }

        function end({ answer, error }: Outcome<Answer>, attempts: number): void {
          const tokens = tokensOf.get(service) ?? maxTokens;
          const $metadata = { attempts, totalRetryDelay };
          if (answer) {
            tokensOf.set(service, Math.min(maxTokens, tokens + refund));
            resolve({ ...answer, $metadata });
            return;
          }
          const { cost, pause } = isThrottling(error) ? retries.throttled : retries.transient;
          if (!isRepeated(error) || attempts >= tries || tokens < cost) {
            reject(error instanceof Error ? Object.assign(error, { $metadata }) : error);
            return;
          }
          tokensOf.set(service, tokens - cost);
          refund = cost;
          const delay = Math.floor(process.random.number() * pause * 2 ** (attempts - 1));
          totalRetryDelay += delay;
          process.time.after(delay, () => attempt(attempts + 1));
        }
      });
    };
  };
}

interface CallContext {
  readonly time: Pick<VirtualTime, 'at'>;
  readonly costs: Costs;
  readonly faults: Faults;
  readonly note: Note;
}

interface Outcome<Answer> {
  readonly answer?: Answer;
  readonly error?: unknown;
}

/** Returns whether the SDK retries an error: throttling, a timeout or a server error. */
function isRepeated(error: unknown): boolean {
  if (isThrottling(error)) return true;
  return error instanceof Error && (error.name === 'TimeoutError' || ('$fault' in error && error.$fault === 'server'));
}

function namedError(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** The retry quota of each SDK client. A successful retry returns its cost to the quota. */
const maxTokens = 500;

/** The cost of a retry, and the maximum delay of the first retry in milliseconds. The maximum doubles for each further retry. */
const retries = { throttled: { cost: 5, pause: 1_000 }, transient: { cost: 14, pause: 50 } };
