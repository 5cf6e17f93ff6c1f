import type { Target } from './target.ts';

/** How an SDK client reaches the target: at the local run's endpoint, or on AWS with the SDK's usual credentials. */
export function connectionSettings({ outputs }: Target, endpoint: string | undefined) {
  return {
    maxAttempts: 3,
    ...(outputs.Region !== undefined && { region: outputs.Region }),
    ...(endpoint !== undefined && { endpoint, credentials: localCredentials }),
  };
}

/** The embedded engines take any credentials, but the SDK insists on some. */
const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };
