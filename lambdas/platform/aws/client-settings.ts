import { environmentCredentials } from './environment-credentials.ts';
import { failureRecorder } from './failed-call.ts';
import { makeRequestHandler } from './request-handler.ts';
import { makeRequestSigner } from './request-signer.ts';

/**
 * Returns the settings of an SDK client in a function: three tries of at most a second each. A call that hangs must fail while
 * there is time left in the invocation to report it.
 *
 * @param service - as in the scope of a signature: `dynamodb`
 */
export function clientSettings(service: string) {
  return {
    logger: failureRecorder,
    maxAttempts: 3,
    requestHandler: makeRequestHandler({ timeout: 1_000 }),
    signer: makeRequestSigner({
      service,
      region: process.env.AWS_REGION ?? '',
      credentials: environmentCredentials,
    }),
  };
}
