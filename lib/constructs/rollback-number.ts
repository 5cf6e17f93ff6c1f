import { createHash } from 'node:crypto';
import { CfnOutput, CfnParameter, Fn, Stack } from 'aws-cdk-lib';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';

/**
 * The number of times that a stage was rolled back. `ops rollback` raises it, and each deployment reads it: it is part of every
 * function and of every version, so that the deployment after a roll-back publishes a version of all of them. CloudFormation
 * publishes only what changed in a template, and does not see an alias that was led elsewhere. A deployment with
 * `--revert-drift` would write 0 again: the runbook has none of this stack.
 */
export function makeRollbackNumber(stack: Stack, configuration: StageConfiguration): void {
  const { parameterName } = new StringParameter(stack, 'RollbackNumber', {
    parameterName: nameFor(configuration),
    description: `Emissor ${configuration.stage}: how often it was rolled back; ops rollback raises it`,
    stringValue: '0',
  });
  new CfnOutput(stack, 'RollbackNumberParameter', { value: parameterName });
}

/**
 * Returns the number as templates have it: CloudFormation reads it at each deployment, also where no template changed. A digest of the
 * stage's tags is part of it, since CloudFormation writes the parameter's first value again where they change. The tags themselves
 * may be longer than the description of a version, which has 256 characters at most.
 */
export function rollbackNumber(scope: Construct, configuration: StageConfiguration): string {
  const stack = Stack.of(scope);
  const known = stack.node.tryFindChild(id) as CfnParameter | undefined;
  const parameter =
    known ??
    new CfnParameter(stack, id, {
      type: 'AWS::SSM::Parameter::Value<String>',
      default: nameFor(configuration),
      description: 'How often the stage was rolled back',
    });
  const { tags } = configuration;
  if (Object.keys(tags).length === 0) return parameter.valueAsString;
  const digest = createHash('sha256').update(JSON.stringify(tags)).digest('hex').slice(0, 8);
  return Fn.join(' ', [parameter.valueAsString, digest]);
}

const id = 'RollbackNumber';

function nameFor({ stage }: StageConfiguration): string {
  return `/emissor/${stage}/rollback-number`;
}
