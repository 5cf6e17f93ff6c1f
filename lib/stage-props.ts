import { RemovalPolicy, type StackProps } from 'aws-cdk-lib';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { StageConfiguration } from './config.ts';

export interface StageProps extends StackProps {
  readonly configuration: StageConfiguration;
}

/** The retention of logs, and the removal policy of resources. */
export interface Retention {
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
}

/**
 * Returns the retention settings of a stage as CDK properties. Even with the policy `retain`, a failed creation deletes new resources.
 * Otherwise, each attempt would leave empty resources behind.
 */
export function retentionOf(configuration: StageConfiguration): Retention {
  return {
    logRetention: configuration.logRetentionDays,
    removalPolicy:
      configuration.removalPolicy === 'retain' ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  };
}
