import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { clientSettings } from '../aws/client-settings.ts';

/** Reads a SecureString parameter of Parameter Store by name. Returns `undefined` if it does not exist. */
export type ReadParameter = (name: string) => Promise<string | undefined>;

export async function readParameter(ssm: Pick<SSMClient, 'send'>, name: string): Promise<string | undefined> {
  try {
    const output = await ssm.send(new GetParameterCommand({ Name: name, WithDecryption: true }));
    return output.Parameter?.Value;
  } catch (error) {
    if (error instanceof Error && error.name === 'ParameterNotFound') return undefined;
    throw error;
  }
}

export function makeReadParameter(): ReadParameter {
  const ssm = new SSMClient(clientSettings('ssm'));
  return name => readParameter(ssm, name);
}
