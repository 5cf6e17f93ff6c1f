import { DeleteParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { smokeAccount } from '../../lambdas/auth/principals/account.ts';
import { readParameter } from '../../lambdas/platform/deployment/parameters.ts';
import { type Identity, parseIdentity } from '../../lambdas/smoke/smoke-test.ts';
import { isNamed } from '../stage/operator.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import { createLogin } from '../tenants/program-login.ts';

/** Creates a client and a user for smoke tests. */
export function createIdentity(target: Target): Promise<Identity> {
  return createLogin(target, { account: smokeAccount, name: 'Smoke test', domain: 'smoke.invalid' });
}

/** Reads the stored client and user. Returns `undefined` if they do not exist. */
export async function readIdentity(target: Target, parameter: string): Promise<Identity | undefined> {
  const value = await readParameter(target.connect(SSMClient), parameter);
  return value === undefined ? undefined : parseIdentity(value);
}

/** Stores a client and a user, encrypted with the key of the stage. */
export async function storeIdentity(target: Target, parameter: string, identity: Identity): Promise<void> {
  const Value = JSON.stringify(identity);
  const KeyId = requireOutput(target, 'KeyArn');
  const ssm = target.connect(SSMClient);
  await ssm.send(new PutParameterCommand({ Name: parameter, Value, Type: 'SecureString', KeyId, Overwrite: true }));
}

/** Deletes the parameter, if it exists. */
export async function deleteParameter(target: Target, parameter: string): Promise<void> {
  try {
    await target.connect(SSMClient).send(new DeleteParameterCommand({ Name: parameter }));
  } catch (error) {
    if (!isNamed(error, 'ParameterNotFound')) throw error;
  }
}
