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
 * Returns the retention of a stage as CDK properties. A failed creation deletes new resources even with the policy `retain`. They are
 * empty, and each further attempt would leave more of them.
 */
export function retentionOf(configuration: StageConfiguration): Retention {
  return {
    logRetention: configuration.logRetentionDays,
    removalPolicy:
      configuration.removalPolicy === 'retain' ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  };
}
