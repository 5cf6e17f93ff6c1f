/** A service's error as the SDK throws it, identified by its name. The caller adds `$metadata`. */
export class ServiceError extends Error {
  readonly $fault: 'client' | 'server';

  constructor(name: string, message: string, fault: 'client' | 'server' = 'client') {
    super(message);
    this.name = name;
    this.$fault = fault;
  }
}

/** Returns a service's throttling error, which each service names differently. */
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
