import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CliError } from './cli-error.ts';

/**
 * The outputs of a deployed stage, read from its CloudFormation stacks with the SDK's usual credentials and region.
 *
 * @throws {CliError} when a stack is missing.
 */
export async function readStageOutputs(stage: string): Promise<Record<string, string>> {
  const client = new CloudFormationClient({ maxAttempts: 3 });
  const region = await client.config.region();

  const readStack = async (name: string): Promise<[string, string][]> => {
    const stackName = `Emissor-${stage}-${name}`;
    try {
      const answer = await client.send(new DescribeStacksCommand({ StackName: stackName }));
      const outputs = answer.Stacks?.[0]?.Outputs ?? [];
      return outputs.map(output => [output.OutputKey ?? '', output.OutputValue ?? '']);
    } catch (error) {
      if (!isMissing(error)) throw error;
      throw new CliError(
        `stage ${stage} is not deployed in ${region}: stack ${stackName} is missing (npx cdk deploy --all -c stage=${stage}).`,
      );
    }
  };

  try {
    const outputs = await Promise.all(stacks.map(readStack));
    return { ...Object.fromEntries(outputs.flat()), Region: region };
  } finally {
    client.destroy();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist');
}

const stacks = ['Data', 'Auth', 'Webhooks', 'Delivery'];
