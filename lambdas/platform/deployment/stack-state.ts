import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { patientCalls } from './patience.ts';

/** The state of a stack, and its output `Release`: until an update has ended, that of the release before. */
export interface StackState {
  readonly status: string;
  readonly release: string;
}

/** Reads the state of a stack from CloudFormation, in one try. */
export async function readStack(stackId: string): Promise<StackState> {
  const cloudFormation = new CloudFormationClient(patientCalls);
  const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName: stackId }));
  const { StackStatus = '', Outputs = [] } = Stacks[0] ?? {};
  return { status: StackStatus, release: Outputs.find(({ OutputKey }) => OutputKey === 'Release')?.OutputValue ?? '' };
}
