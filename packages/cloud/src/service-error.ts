/** A service error, as the SDK throws it. `name` identifies the error, and the caller adds `$metadata`. */
export class ServiceError extends Error {
  readonly $fault: 'client' | 'server';

  constructor(name: string, message: string, fault: 'client' | 'server' = 'client') {
    super(message);
    this.name = name;
    this.$fault = fault;
  }
}

/** Creates a service's throttling error. Its name depends on the service. */
export function throttled(service: string): ServiceError {
  return new ServiceError(throttlingNames.get(service) ?? 'ThrottlingException', 'Rate exceeded');
}

/** Returns whether the SDK treats an error as throttling. */
export function isThrottling(error: unknown): boolean {
  return error instanceof Error && ['ThrottlingException', ...throttlingNames.values()].includes(error.name);
}

const throttlingNames = new Map([
  ['dynamodb', 'ProvisionedThroughputExceededException'],
  ['sqs', 'RequestThrottled'],
  ['sns', 'ThrottledException'],
]);
