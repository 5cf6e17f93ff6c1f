import { failureRecorder } from './failed-call.ts';

/**
 * The settings of all SDK clients: three tries of at most a second each. A call that hangs must fail while there is time
 * left in the invocation to report it; without `throwOnRequestTimeout` the SDK only warns.
 */
export const clientSettings = {
  logger: failureRecorder,
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_000, throwOnRequestTimeout: true },
} as const;
