import { RemovalPolicy, type StackProps } from 'aws-cdk-lib';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { StageConfiguration } from './config.ts';

/** What every stack of a stage is given. */
export interface StageProps extends StackProps {
  readonly configuration: StageConfiguration;
}

/** How long things are kept: logs while the stage lives, everything else when its stacks are deleted. */
export interface Retention {
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
}

/** Metrics of stages that share an account do not mix. */
export function metricsNamespace({ stage }: StageConfiguration): string {
  return `Emissor/${stage}`;
}

/** The retention that a stage's configuration asks for. */
export function retentionOf(configuration: StageConfiguration): Retention {
  return {
    logRetention: configuration.logRetentionDays,
    removalPolicy: configuration.removalPolicy === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  };
}
