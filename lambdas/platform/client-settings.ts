import { callMemory } from './aws-call.ts';

/**
 * How long the SDK's clients wait, the same for all of them: three tries of a second at most. A call that hangs must
 * fail while there is time left in the invocation to say so; without `throwOnRequestTimeout` the SDK only warns.
 */
export const clientSettings = {
  logger: callMemory,
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_000, throwOnRequestTimeout: true },
} as const;
