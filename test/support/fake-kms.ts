import { randomBytes } from 'node:crypto';
import type { KMSClient } from '@aws-sdk/client-kms';
import { makeKms } from '@emissor/cloud/kms';

/** A KMS that lives in this process, and how often each of its operations was called. */
export interface FakeKms {
  readonly client: Pick<KMSClient, 'send'>;
  /** Calls so far, by command name, such as `DecryptCommand`. */
  readonly calls: ReadonlyMap<string, number>;
  /** From now on the operation (a command's name) fails with this error, or one of this name; `undefined` mends it. */
  fail(command: string, error: Error | string | undefined): void;
}

/** Makes a virtual KMS with keys by chance, which counts its calls and fails where it is told to. */
export function makeFakeKms(): FakeKms {
  const { execute } = makeKms({ bytes: randomBytes });
  const calls = new Map<string, number>();
  const failures = new Map<string, Error>();

  const send = async (command: object): Promise<object> => {
    const { name } = command.constructor;
    calls.set(name, (calls.get(name) ?? 0) + 1);
    const failure = failures.get(name);
    if (failure) throw failure;
    return execute(command);
  };
  return {
    client: { send } as unknown as FakeKms['client'],
    calls,
    fail: (command, error) => {
      if (error === undefined) failures.delete(command);
      else failures.set(command, typeof error === 'string' ? Object.assign(new Error(error), { name: error }) : error);
    },
  };
}
