import type { RejectEntry } from '../dynamodb/partial.ts';
import { type CallOutcome, errorOf, type Faults } from '../faults.ts';
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
  /** The number of entries in a batch. @default 1 */
  readonly entries?: number;
  /** The input to record in the digest and the trace. */
  readonly input?: unknown;
  /** The latency in milliseconds. @default - the latency in `costs` */
  readonly latency?: number;
  /** The processor time in milliseconds. @default - the processor time in `costs` */
  readonly processorTime?: number;
  /** The maximum number of attempts. @default 3 */
  readonly maxAttempts?: number;
  /** The timeout of each attempt, in milliseconds. @default 1000 */
  readonly timeout?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a call. `effect` runs in the service after half of the latency. It returns the response or throws an error. */
export type MakeCall = <Output extends object>(call: Call, effect: Effect<Output>) => Promise<WithMetadata<Output>>;

/** Executes a call in the service. If the service executes only a part of a batch, `reject` returns the error of each rejected entry. */
type Effect<Output> = (reject?: RejectEntry) => Output;

/** A response as the SDK returns it. */
export type WithMetadata<Output> = Output & { readonly $metadata: CallMetadata };

interface CallMetadata {
  readonly attempts: number;
  readonly totalRetryDelay: number;
}

/** Creates the functions that processes use to make calls. By default, a call has three attempts of at most 1 s each. */
export function makeCalls({ time, costs, faults, note }: CallContext): (process: Process) => MakeCall {
  return function callsOf(process) {
    const tokensOf = new Map<string, number>();

    return function makeCall<Output extends object>(call: Call, effect: Effect<Output>): Promise<WithMetadata<Output>> {
      const { service, operation, resource = '', entries = 1, maxAttempts = 3, timeout = 1_000, signal } = call;
      const name = `${service}:${operation}`;
      const details = { functionName: process.functionName, service, operation, resource };
      const baseLatency = call.latency ?? costs.latency[name] ?? costs.latency[service] ?? 0;
      const processorTime = call.processorTime ?? costs.call + costs.entry * (entries - 1);
      let totalRetryDelay = 0;
      let refund = 1;
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(namedError('AbortError', 'Request aborted'));
        signal?.addEventListener('abort', () => reject(namedError('AbortError', 'Request aborted')), { once: true });
        attempt(1);

        function attempt(attempts: number): void {
          if (process.isDead() || signal?.aborted) return;
          const outcome = faults.outcomeOf(details);
          if (outcome === 'dies_before') {
            process.kill(`before ${name}`);
            return;
          }
          const latency = baseLatency + (outcome === 'slow' ? faults.slowness() : 0);
          const sentAt = process.work(processorTime);
          const arrive = () => {
            if (process.diedAt() <= sentAt) return;
            const result = execute(outcome);
            const errorName = result.error instanceof Error ? result.error.name : '';
            note('call', `${process.id} ${name} ${resource} ${attempts} ${outcome} ${errorName}`, () => [
              call.input,
              result.output,
            ]);
            if (outcome === 'dies_after') {
              process.kill(`after ${name}`);
              return;
            }
            const isLost = outcome === 'request_lost' || outcome === 'response_lost' || latency > timeout;
            const received = isLost ? { error: namedError('TimeoutError', `${name}: no response in time`) } : result;
            time.at(sentAt + (isLost ? timeout : latency), () => process.deliver(() => end(received, attempts)), true);
          };
          time.at(sentAt + Math.min(latency / 2, timeout), arrive);
        }

        function execute(outcome: CallOutcome): CallResult<Output> {
          const rejection = errorOf(outcome, service);
          try {
            if (outcome === 'request_lost') return {};
            if (!rejection) return { output: effect() };
            if (service !== 'dynamodb' || entries === 1) throw rejection;
            return { output: effect(() => (faults.affectsEntry() ? rejection : undefined)) };
          } catch (error) {
            return { error };
          }
        }

        function end({ output, error }: CallResult<Output>, attempts: number): void {
          const tokens = tokensOf.get(service) ?? maxRetryTokens;
          const $metadata = { attempts, totalRetryDelay };
          if (output) {
            tokensOf.set(service, Math.min(maxRetryTokens, tokens + refund));
            resolve({ ...output, $metadata });
            return;
          }
          const { cost, pause } = isThrottling(error) ? retries.throttled : retries.transient;
          if (!isRetryable(error) || attempts >= maxAttempts || tokens < cost) {
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

interface CallResult<Output> {
  readonly output?: Output;
  readonly error?: unknown;
}

/** Returns whether the SDK retries an error: throttling, a timeout or a server error. */
function isRetryable(error: unknown): boolean {
  if (isThrottling(error)) return true;
  return error instanceof Error && (error.name === 'TimeoutError' || ('$fault' in error && error.$fault === 'server'));
}

function namedError(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** The retry quota of each SDK client. A successful retry returns its cost to the quota. */
const maxRetryTokens = 500;

/** The cost of a retry, and the maximum delay before the first retry in milliseconds. The maximum doubles with each further retry. */
const retries = { throttled: { cost: 5, pause: 1_000 }, transient: { cost: 14, pause: 50 } };
