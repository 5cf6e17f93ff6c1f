import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type * as z from 'zod';
import type { scheduledTestEnvironment } from '../lambdas/smoke/environment.ts';
import { receiverConcurrency } from './account-concurrency.ts';
import { smokeAlarms } from './alarms.ts';
import { Alarms } from './constructs/alarms.ts';
import { NodeFunction } from './constructs/node-function.ts';
import { Releases } from './constructs/releases.ts';
import type { WorkQueue } from './constructs/work-queue.ts';
import type { DataStack } from './data-stack.ts';
import type { StageProps } from './stage-props.ts';

export interface SmokeStackProps extends StageProps {
  readonly data: DataStack;
  readonly eventsQueue: WorkQueue;
}

/** The resources for smoke tests: a receiver, unless the stage has an external one, and the scheduled test, if the stage has a schedule. */
export class SmokeStack extends Stack {
  readonly #props: SmokeStackProps;

  constructor(scope: Construct, id: string, props: SmokeStackProps) {
    super(scope, id, props);
    this.#props = props;
    const { smokeReceiverUrl, smokeSchedule } = props.configuration;
    const receiverUrl = smokeReceiverUrl ?? this.#addReceiver();
    if (smokeSchedule !== undefined) this.#addScheduledTest(receiverUrl, Duration.millis(smokeSchedule));
  }

  /** Adds a public function that always returns 204. Returns its URL. */
  #addReceiver(): string {
    const { configuration } = this.#props;
    const receiver = new NodeFunction(this, 'Receiver', {
      configuration,
      entry: 'lambdas/smoke/receiver.handler.ts',
      timeout: Duration.seconds(10),
      memorySize: 256,
      reservedConcurrentExecutions: receiverConcurrency(configuration),
      tables: {},
      environment: {},
    });
    // The receiver needs no alias, because it has no state or settings. With an alias, the scheduled test would depend on its release.
    const { url } = receiver.addFunctionUrl({ authType: lambda.FunctionUrlAuthType.NONE });
    new CfnOutput(this, 'SmokeReceiverUrl', { value: url });
    return url;
  }

  #addScheduledTest(receiverUrl: string, interval: Duration): void {
    const { configuration, data, eventsQueue } = this.#props;
    const test = new NodeFunction<z.input<typeof scheduledTestEnvironment>>(this, 'ScheduledTest', {
      configuration,
      entry: 'lambdas/smoke/scheduled-test.handler.ts',
      timeout: Duration.seconds(170), // 120 s for the steps, and 30 s to delete the webhook
      memorySize: 512,
      tables: {},
      environment: {
        AUTH_URL: data.auth.url,
        BASE_URL: data.base.url,
        EVENTS_QUEUE_URL: eventsQueue.queueUrl,
        CREDENTIALS_PARAMETER: data.smokeCredentials.parameterName,
        RECEIVER_URL: receiverUrl,
      },
    });
    data.smokeCredentials.grantRead(test);
    eventsQueue.grant(test, 'sqs:SendMessage');
    new events.Rule(this, 'Schedule', {
      description: 'Tests the stage, from login to the delivery of an event',
      schedule: events.Schedule.rate(interval),
      targets: [new targets.LambdaFunction(test.live)],
    });
    // Lambda does not retry a failed test, and skips a test that it cannot start within 5 minutes.
    test.live.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(5) });
    const topics = data.alarmTopics;
    new Alarms(this, 'Alarms', { configuration, topics, rows: smokeAlarms(test, interval) });
    new Releases(this, 'Releases', { configuration, topics, others: [test] });
  }
}
