import { RemovalPolicy, type StackProps } from 'aws-cdk-lib';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { StageConfiguration } from './config.ts';

export interface StageProps extends StackProps {
  readonly configuration: StageConfiguration;
}

/** The time that logs are kept, and the fate of resources that leave their stack. */
export interface Retention {
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
}

/**
 * The retention of a stage, in the terms of the CDK. What a failed first deployment created is deleted even where resources are
 * retained: it is empty, and would be left over by each further attempt.
 */
export function retentionOf(configuration: StageConfiguration): Retention {
  return {
    logRetention: configuration.logRetentionDays,
    removalPolicy:
      configuration.removalPolicy === 'retain' ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  };
}
