import { environmentCredentials } from './environment-credentials.ts';
import { failureRecorder } from './failed-call.ts';
import { makeRequestHandler } from './request-handler.ts';
import { makeRequestSigner } from './request-signer.ts';

/**
 * Returns the settings of an SDK client in a function. A call has 3 tries of at most 1 s each, so a hanging call fails early enough for the
 * invocation to report it.
 */
export function clientSettings(service: string) {
  const credentials = environmentCredentials();
  return {
    credentials, // constant for the lifetime of a process, as with the SDK's own provider
    logger: failureRecorder,
    maxAttempts: 3,
    requestHandler: makeRequestHandler({ timeout: 1_000 }),
    signer: makeRequestSigner({
      service,
      region: process.env.AWS_REGION ?? '',
      credentials,
    }),
  };
}
