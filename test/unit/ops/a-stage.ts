import type { Stack } from '@aws-sdk/client-cloudformation';
import { stageConfiguration } from '../../../lib/config.ts';
import type { AwsClient } from '../../../ops/stage/aws-clock.ts';
import { type StackName, type StageStacks, stackNameOf, stackNames } from '../../../ops/stage/stage-stacks.ts';

/** Changes to the stacks of a stage. `undefined` removes a stack. */
export type StackChanges = Partial<Record<StackName, Partial<Stack> | undefined>>;

export const noStacks: StackChanges = Object.fromEntries(stackNames.map(name => [name, undefined]));

/** Returns a deployed stage with changes to its configuration and its stacks. */
export function aStage(values: object = {}, changes: StackChanges = {}, stage: 'dev' | 'prod' = 'dev'): StageStacks {
  const [region, account] = ['sa-east-1', '111122223333'];
  const stacks = stackNames.map(name => {
    const stackName = stackNameOf(stage, name);
    const found: Stack = { StackName: stackName, CreationTime: new Date(0), StackStatus: 'CREATE_COMPLETE' };
    const isMissing = name in changes && changes[name] === undefined;
    return { name, stackName, found: isMissing ? undefined : { ...found, ...changes[name] } };
  });
  return { configuration: stageConfiguration(stage, { account, region, ...values }), region, account, stacks };
}

/** Returns a `connect` function. `respond` returns AWS's response to each command. */
export function connectTo<Command extends object>(respond: (command: Command) => unknown) {
  return (Service: new (settings: object) => AwsClient) =>
    Object.assign(new Service({ region: 'sa-east-1' }), { send: async (command: Command) => respond(command) });
}
