/** An error as a service's answer makes it in the SDK: told apart by its name. `$metadata` comes with the call that ends with it. */
export class ServiceError extends Error {
  readonly $fault: 'client' | 'server';

  constructor(name: string, message: string, fault: 'client' | 'server' = 'client') {
    super(message);
    this.name = name;
    this.$fault = fault;
  }
}

/** Returns the error of a service that takes no more calls for now, by the name that it gives it. */
export function throttled(service: string): ServiceError {
  return new ServiceError(throttlingNames.get(service) ?? 'ThrottlingException', 'Rate exceeded');
}

/** Returns whether the SDK counts an error as throttling. */
export function isThrottling(error: unknown): boolean {
  return error instanceof Error && ['ThrottlingException', ...throttlingNames.values()].includes(error.name);
}

const throttlingNames = new Map([
  ['dynamodb', 'ProvisionedThroughputExceededException'],
  ['sqs', 'RequestThrottled'],
  ['sns', 'ThrottledException'],
]);
