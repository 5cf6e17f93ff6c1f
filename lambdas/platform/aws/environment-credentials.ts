import type { Credentials } from './request-signer.ts';

/**
 * Replaces the SDK's credential provider chain in the bundles. Lambda passes credentials only in the environment, so the providers for files,
 * profiles, SSO and instance metadata would only increase the start-up time.
 */
export function defaultProvider() {
  return async () => environmentCredentials();
}

export function environmentCredentials(): Credentials {
  return {
    accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? '',
    ...(process.env.AWS_SESSION_TOKEN ? { sessionToken: process.env.AWS_SESSION_TOKEN } : {}),
  };
}
