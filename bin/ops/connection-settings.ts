import type { Target } from './target.ts';

/** The embedded engines take any credentials, but the SDK insists on some. */
const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** How an SDK client reaches the target: at the local run's endpoint, or on AWS with the SDK's usual credentials. */
export const connectionSettings = ({ outputs }: Target, endpoint: string | undefined) => ({
  maxAttempts: 3,
  ...(outputs.Region !== undefined && { region: outputs.Region }),
  ...(endpoint !== undefined && { endpoint, credentials: localCredentials }),
});
