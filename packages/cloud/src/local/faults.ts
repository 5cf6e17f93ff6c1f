import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { type Interceptor, ServiceError, type ServiceRequest } from './emulator.ts';
import { type Change, followFile, readAtStart, watchChanges } from './followed-file.ts';

export type FaultKind = keyof z.output<typeof faultsSchema>;

/** Faults that a local run injects from outside: the bundles do not know of them. */
export interface FaultInjection {
  /** Draws whether a fault of this kind happens now. The caller must then let it happen. */
  happens(kind: FaultKind): boolean;
}

const range = 'must be a number from 0 to 1';
const share = z.number(range).min(0, range).max(1, range).default(0);

/** The faults file: the share of each kind that happens, from 0 (the default) to 1. README.md says what each is. */
const faultsSchema = z.strictObject({
  throttledReadsAndWrites: share,
  refusedSends: share,
  throttledKeyUses: share,
  failedKeyUses: share,
  failedNotifications: share,
  repeatedBatches: share,
});

export const faultKinds: readonly FaultKind[] = faultsSchema.keyof().options;

/**
 * Reads faults from a file, and follows it.
 *
 * @param onFault - receives each fault that happens
 * @throws {StartError} when the file cannot be used at the start.
 */
export function readFaultInjection(
  file: string,
  random: () => number,
  onFault: (kind: FaultKind) => void,
): FaultInjection {
  const current = followFile(file, readShares, readAtStart('faults', file, readShares));
  return {
    happens: kind => {
      if (random() >= current()[kind]) return false;
      onFault(kind);
      return true;
    },
  };
}

/** Fails requests of functions. Requests of the run itself and of operators' programs never fail on purpose. */
export function makeFaultInterceptor({ happens }: FaultInjection): Interceptor {
  return function injectFaults(request) {
    if (request.caller === 'local') return undefined;
    return failures.find(({ kind, concerns }) => concerns(request) && happens(kind))?.error;
  };
}

/** Reports each change of a faults file. Returns what ends the watch. */
export function watchFaults(file: string, onChange: (change: Change<unknown>) => void): () => void {
  return watchChanges(file, readShares, onChange);
}

/** @throws {TypeError | NodeJS.ErrnoException} with one sentence that says what is wrong. */
function readShares(file: string): z.output<typeof faultsSchema> {
  let content: unknown;
  const text = readFileSync(file, 'utf8');
  try {
    content = JSON.parse(text);
  } catch {
    throw new TypeError('It is not JSON.');
  }
  const { success, data, error } = faultsSchema.safeParse(content);
  if (success) return data;
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const names = faultKinds.join(', ');
    throw new TypeError(`It names "${issue.keys[0]}", which is none of ${names}.`);
  }
  if (!issue?.path.length) throw new TypeError('It must be one JSON object of shares.');
  throw new TypeError(`"${issue.path.join('.')}" ${issue.message}.`);
}

/** The requests that a fault concerns, and what the service answers then. */
const failures: readonly {
  readonly kind: FaultKind;
  readonly concerns: (request: ServiceRequest) => boolean;
  readonly error: ServiceError;
}[] = [
  {
    kind: 'throttledReadsAndWrites',
    concerns: ({ service }) => service === 'dynamodb',
    error: new ServiceError('ProvisionedThroughputExceededException', 'The throughput of the table was exceeded.'),
  },
  {
    kind: 'refusedSends',
    concerns: ({ service, operation }) => service === 'sqs' && operation.startsWith('SendMessage'),
    error: new ServiceError('RequestThrottled', 'The request was denied due to throttling.'),
  },
  {
    kind: 'throttledKeyUses',
    concerns: ({ service }) => service === 'kms',
    error: new ServiceError('ThrottlingException', 'The rate at which KMS may be called is exceeded.'),
  },
  {
    kind: 'failedKeyUses',
    concerns: ({ service }) => service === 'kms',
    error: new ServiceError('KMSInternalException', 'A fault that was injected on purpose.', 500),
  },
  {
    kind: 'failedNotifications',
    concerns: ({ service, operation }) => service === 'sns' && operation === 'Publish',
    error: new ServiceError('InternalError', 'A fault that was injected on purpose.', 500),
  },
];
