import { ServiceError } from '../service-error.ts';

/** Makes the error of a request that DynamoDB refuses. */
export function validationError(message: string): ServiceError {
  return new ServiceError('ValidationException', message);
}

/** Makes the error of what DynamoDB knows and these tables do not. It is none of DynamoDB's, so nobody takes it for an answer. */
export function notKnown(what: string): Error {
  return new Error(`This DynamoDB does not know ${what}.`);
}

/** @throws where a request has an option that is not among the known ones: it would be overlooked. */
export function checkOptions(request: object, known: readonly string[]): void {
  const other = Object.entries(request).find(([option, value]) => value !== undefined && !known.includes(option));
  if (other) throw notKnown(`the option ${other[0]}`);
}
