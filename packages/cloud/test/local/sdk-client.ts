import { onTestFinished } from 'vitest';

/** Returns the settings of an SDK client for an emulator. The client does not retry, and `accessKeyId` identifies it. */
export function settingsOf(endpoint: string, accessKeyId = 'a') {
  const credentials = { accessKeyId, secretAccessKey: 'b' };
  return { region: 'us-east-1', endpoint, credentials, maxAttempts: 1 };
}

/** Destroys a client at the end of the test. */
export function destroyAfterTest<Client extends { destroy(): void }>(client: Client): Client {
  onTestFinished(() => client.destroy());
  return client;
}
