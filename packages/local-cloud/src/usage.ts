import { appendFileSync, writeFileSync } from 'node:fs';
import type { Units } from './capacity.ts';
import type { Interceptor, ServiceRequest } from './emulator.ts';

/** A line of a usage file: a request to a service, an invocation of a function, or a line of its log. */
export type UsageLine =
  | (Pick<ServiceRequest, 'service' | 'operation' | 'caller'> & { readonly kind: 'request'; readonly units?: Units })
  | { readonly kind: 'invocation'; readonly function: string; readonly memory: number }
  | { readonly kind: 'log'; readonly function: string; readonly bytes: number };

export type RecordUsage = (line: UsageLine) => void;

/** Empties a usage file. Returns the function that appends to it. */
export function openUsageFile(file: string): RecordUsage {
  writeFileSync(file, '');
  return function recordUsage(line) {
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  };
}

/** Makes an interceptor that records requests. DynamoDB records its own, which have units. */
export function makeUsageInterceptor(record: RecordUsage): Interceptor {
  return function recordRequest({ service, operation, caller }) {
    if (service !== 'dynamodb') record({ kind: 'request', service, operation, caller });
    return undefined;
  };
}
