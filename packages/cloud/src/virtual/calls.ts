import type { Refuse } from '../dynamodb/partial.ts';
import { type Fate, type Faults, refusalBy } from '../faults.ts';
import { isThrottling } from '../service-error.ts';
import type { VirtualTime } from '../time.ts';
import type { Costs } from './costs.ts';
import type { Process } from './processes.ts';
import type { Note } from './record.ts';

/** A call that leaves a process. */
export interface Call {
  readonly service: string;
  readonly operation: string;
  /** What it is about: a queue, a table. */
  readonly resource?: string;
  /** How many it is made for. */
  readonly entries?: number;
  /** What the digest holds of it. */
  readonly input?: unknown;
  /** Milliseconds until its answer, in place of those of the costs. */
  readonly takes?: number;
  /** Milliseconds of processor time, in place of those of the costs. */
  readonly work?: number;
  /** How often it is tried. */
  readonly tries?: number;
  /** Milliseconds that each try waits. */
  readonly limit?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Makes a call. `effect` happens in the service, half way; it returns the answer, or throws the error that is the answer. */
export type MakeCall = <Answer extends object>(call: Call, effect: Effect<Answer>) => Promise<Called<Answer>>;

/** What happens in a service. Where it takes a part of a batch only, `refuse` returns the error of an entry, or none. */
type Effect<Answer> = (refuse?: Refuse) => Answer;

/** An answer as the SDK gives it. */
export type Called<Answer> = Answer & { readonly $metadata: CallMetadata };

interface CallMetadata {
  readonly attempts: number;
  readonly totalRetryDelay: number;
}

/** Makes what makes the calls of processes: as the SDK of a function, with three tries of at most a second each. */
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
            const told = outcome.error instanceof Error ? outcome.error.name : '';
            note('call', `${process.id} ${name} ${resource} ${attempts} ${fate} ${told}`, () => [
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

/** The SDK repeats what is throttled, what got no answer, and what the service could not do. */
function isRepeated(error: unknown): boolean {
  if (isThrottling(error)) return true;
  return error instanceof Error && (error.name === 'TimeoutError' || ('$fault' in error && error.$fault === 'server'));
}

function namedError(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** Each client of the SDK may repeat until these are used up; a success gives back what it cost. */
const maxTokens = 500;

/** What a repetition costs, and the milliseconds at most before the first; it is twice that before the second. */
const repetitions = { throttled: { cost: 5, pause: 1_000 }, transient: { cost: 14, pause: 50 } };
