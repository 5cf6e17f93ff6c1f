import { ServiceError } from '../service-error.ts';

/** Creates the error of a request that DynamoDB rejects. */
export function validationError(message: string): ServiceError {
  return new ServiceError('ValidationException', message);
}

/** Creates the error for a DynamoDB feature that is not emulated. Its type differs from DynamoDB's errors, so that tests cannot confuse them. */
export function notKnown(what: string): Error {
  return new Error(`This DynamoDB does not support ${what}.`);
}

/** @throws if a request has an unknown option, which would otherwise be ignored. */
export function checkOptions(request: object, known: readonly string[]): void {
  const other = Object.entries(request).find(([option, value]) => value !== undefined && !known.includes(option));
  if (other) throw notKnown(`the option ${other[0]}`);
}
