import { ServiceError } from '../service-error.ts';

/** Creates the error for a request that DynamoDB rejects. */
export function validationError(message: string): ServiceError {
  return new ServiceError('ValidationException', message);
}

/** Creates the error for a DynamoDB feature that is not emulated. It is not a `ServiceError`, so tests cannot mistake it for a DynamoDB error. */
export function unsupported(feature: string): Error {
  return new Error(`This DynamoDB does not support ${feature}.`);
}

/** @throws if a request has an option that the emulator does not support */
export function checkOptions(request: object, supported: readonly string[]): void {
  const other = Object.entries(request).find(([option, value]) => value !== undefined && !supported.includes(option));
  if (other) throw unsupported(`the option ${other[0]}`);
}
