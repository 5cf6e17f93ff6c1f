import { DeleteParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { readParameter } from '../../lambdas/platform/deployment/parameters.ts';
import { isNamed } from '../stage/operator.ts';
import { requireOutput, type Target } from '../stage/target.ts';

/** Connects to the secrets that the target keeps in Parameter Store, encrypted with its own KMS key. */
export function openParameters(target: Target) {
  const ssm = target.connect(SSMClient);
  return { read, readOrMake, replace, remove };

  /** Returns a secret; `undefined` where there is none. */
  function read(name: string): Promise<string | undefined> {
    return readParameter(ssm, name);
  }

  /** Returns a secret. Where there is none, it makes one and stores it. */
  async function readOrMake(name: string, make: () => string): Promise<string> {
    const found = await read(name);
    if (found !== undefined) return found;
    const value = make();
    try {
      await put(name, value, false);
      return value;
    } catch (error) {
      if (!isNamed(error, 'ParameterAlreadyExists')) throw error;
      return readOrMake(name, make); // somebody else made it meanwhile
    }
  }

  /** Stores a secret in place of another. */
  function replace(name: string, value: string): Promise<void> {
    return put(name, value, true);
  }

  /** Deletes a secret. One that does not exist counts as deleted. */
  async function remove(name: string): Promise<void> {
    try {
      await ssm.send(new DeleteParameterCommand({ Name: name }));
    } catch (error) {
      if (!isNamed(error, 'ParameterNotFound')) throw error;
    }
  }

  async function put(name: string, value: string, replacesAnother: boolean): Promise<void> {
    await ssm.send(
      new PutParameterCommand({
        Name: name,
        Value: value,
        Type: 'SecureString',
        KeyId: requireOutput(target, 'KeyArn'),
        Overwrite: replacesAnother,
      }),
    );
  }
}
