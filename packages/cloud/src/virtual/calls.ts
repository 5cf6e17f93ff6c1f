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
  /** The number of entries. */
  readonly entries?: number;
  /** The text of the call in the digest. */
  readonly input?: unknown;
  /** Milliseconds until the response, instead of the default latency. */
  readonly takes?: number;
  /** Milliseconds of processor time, instead of the default work. */
  readonly work?: number;
  /** The number of attempts. */
  readonly tries?: number;
  /** The timeout of each attempt, in milliseconds. */
  readonly limit?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a call. `effect` happens in the service, halfway. It returns the response, or throws the error response. */
export type MakeCall = <Answer extends object>(call: Call, effect: Effect<Answer>) => Promise<Called<Answer>>;

/** The effect in a service. If the service accepts only a part of a batch, `refuse` returns the errors of entries. */
type Effect<Answer> = (refuse?: Refuse) => Answer;

/** A response as the SDK returns it. */
export type Called<Answer> = Answer & { readonly $metadata: CallMetadata };

interface CallMetadata {
  readonly attempts: number;
  readonly totalRetryDelay: number;
}

/** Creates the sender of the processes' calls. Like a function's SDK, it makes three attempts of at most 1 s each. */
export function makeCalls({ time, costs, faults, note }: CallWorld): (process: Process) => MakeCall {
  return function callsOf(process) {
    const tokensOf = new Map<string, number>();

    return function makeCall<Answer extends object>(call: Call, effect: Effect<Answer>): Promise<Called<Answer>> {
      const { service, operation, resource = '', entries = 1, tries = 3, limit = 1_000, signal } = call;
      const name = `${service}:${operation}`;
      const about = { functionName: process.functionName, service, operation, resource };
      const takes = call.takes ?? costs.latency[name] ?? costs.latency[service] ?? 0;
      const work = call.work ?? costs.call + costs.entry * (entries - 1);
      let totalRetryDelay = 0;
      let givenBack = 1;
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(namedError('AbortError', 'Request aborted'));
        signal?.addEventListener('abort', () => reject(namedError('AbortError', 'Request aborted')), { once: true });
        attempt(1);

        function attempt(attempts: number): void {
          if (process.isDead() || signal?.aborted) return;
          const fate = faults.fateOf(about);
          if (fate === 'dies_before') {
            process.kill(`before ${name}`);
            return;
          }
          const latency = takes + (fate === 'slow' ? faults.slowness() : 0);
          const leavesAt = process.work(work);
          const arrive = () => {
            if (process.diedAt() <= leavesAt) return;
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
            const ending = isLost ? { error: namedError('TimeoutError', `${name}: no answer in time`) } : outcome;
            time.at(leavesAt + (isLost ? limit : latency), () => process.deliver(() => end(ending, attempts)), true);
          };
          time.at(leavesAt + Math.min(latency / 2, limit), arrive);
        }

        function outcomeOf(fate: Fate): Outcome<Answer> {
          const refusal = refusalBy(fate, service);
          try {
            if (fate === 'request_lost') return {};
            if (!refusal) return { answer: effect() };
            if (service !== 'dynamodb' || entries === 1) throw refusal;
            return { answer: effect(() => (faults.isAboutEntry() ? refusal : undefined)) };
          } catch (error) {
            return { error };
          }
        }

        function end({ answer, error }: Outcome<Answer>, attempts: number): void {
          const tokens = tokensOf.get(service) ?? maxTokens;
          const $metadata = { attempts, totalRetryDelay };
          if (answer) {
            tokensOf.set(service, Math.min(maxTokens, tokens + givenBack));
            resolve({ ...answer, $metadata });
            return;
          }
          const { cost, pause } = isThrottling(error) ? repetitions.throttled : repetitions.transient;
          if (!isRepeated(error) || attempts >= tries || tokens < cost) {
            reject(error instanceof Error ? Object.assign(error, { $metadata }) : error);
            return;
          }
          tokensOf.set(service, tokens - cost);
          givenBack = cost;
          const delay = Math.floor(process.random.number() * pause * 2 ** (attempts - 1));
          totalRetryDelay += delay;
          process.time.after(delay, () => attempt(attempts + 1));
        }
      });
    };
  };
}

interface CallWorld {
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

/** The retry quota of each SDK client. A success returns the cost of its retry. */
const maxTokens = 500;

/** The cost of a retry, and the maximum delay of the first retry in milliseconds. The delay doubles for the second. */
const repetitions = { throttled: { cost: 5, pause: 1_000 }, transient: { cost: 14, pause: 50 } };
