import { GetParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';

/** Reads a SecureString parameter of Parameter Store. `undefined` where it does not exist. */
export async function readParameter(ssm: Pick<SSMClient, 'send'>, name: string): Promise<string | undefined> {
  try {
    const answer = await ssm.send(new GetParameterCommand({ Name: name, WithDecryption: true }));
    return answer.Parameter?.Value;
  } catch (error) {
    if (error instanceof Error && error.name === 'ParameterNotFound') return undefined;
    throw error;
  }
}
