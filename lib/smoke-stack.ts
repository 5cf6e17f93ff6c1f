import { CfnOutput, Duration, Fn, Stack } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type * as z from 'zod';
import type { receiverEnvironment } from '../lambdas/smoke/receiver.ts';
import type { scheduledTestEnvironment } from '../lambdas/smoke/scheduled-test.ts';
import { receiverConcurrency } from './account-concurrency.ts';
import { smokeAlarms } from './alarms.ts';
import { Alarms } from './constructs/alarms.ts';
import { NodeFunction } from './constructs/node-function.ts';
import { SecretParameter } from './constructs/secret-parameter.ts';
import type { WorkQueue } from './constructs/work-queue.ts';
import type { DataStack } from './data-stack.ts';
import type { StageProps } from './stage-props.ts';

export interface SmokeStackProps extends StageProps {
  readonly data: DataStack;
  readonly eventsQueue: WorkQueue;
}

/** The resources that smoke tests need on a stage: a receiver, unless another one is configured, and a schedule where one is. */
export class SmokeStack extends Stack {
  readonly #props: SmokeStackProps;

  constructor(scope: Construct, id: string, props: SmokeStackProps) {
    super(scope, id, props);
    this.#props = props;
    const { smokeReceiverUrl, smokeSchedule } = props.configuration;
    const receiver = smokeReceiverUrl === undefined ? this.#addReceiver() : { url: smokeReceiverUrl };
    if (smokeSchedule !== undefined) this.#addScheduledTest(receiver, Duration.millis(smokeSchedule));
  }

  /** A function that anybody may call and that answers nobody without the key of a test. */
  #addReceiver(): Receiver {
    const { configuration } = this.#props;
    const key = this.#secretParameter('ReceiverKey', 'receiver-key');
    const receiver = new NodeFunction<z.input<typeof receiverEnvironment>>(this, 'Receiver', {
      configuration,
      entry: 'lambdas/smoke/receiver.handler.ts',
      timeout: Duration.seconds(10),
      memorySize: 256,
      reservedConcurrentExecutions: receiverConcurrency(configuration),
      tables: {},
      environment: { RECEIVER_KEY_PARAMETER: key.parameterName },
    });
    key.grantRead(receiver);
    const { url } = receiver.live.addFunctionUrl({ authType: lambda.FunctionUrlAuthType.NONE });
    new CfnOutput(this, 'SmokeReceiverUrl', { value: url });
    new CfnOutput(this, 'SmokeReceiverKeyParameter', { value: key.parameterName });
    return { url, key };
  }

  #addScheduledTest({ url, key }: Receiver, interval: Duration): void {
    const { configuration, data, eventsQueue } = this.#props;
    const credentials = this.#secretParameter('Credentials', 'credentials');
    const test = new NodeFunction<z.input<typeof scheduledTestEnvironment>>(this, 'ScheduledTest', {
      configuration,
      entry: 'lambdas/smoke/scheduled-test.handler.ts',
      timeout: Duration.seconds(170), // for the steps and tidying up; less than the test's own `longestTestMs`
      memorySize: 512,
      tables: {},
      environment: {
        AUTH_URL: data.auth.url,
        BASE_URL: data.base.url,
        EVENTS_QUEUE_URL: eventsQueue.queueUrl,
        CREDENTIALS_PARAMETER: credentials.parameterName,
        RECEIVER_URL: url,
        RECEIVER_KEY_PARAMETER: key?.parameterName ?? '',
      },
    });
    credentials.grantRead(test);
    key?.grantRead(test);
    eventsQueue.grant(test, 'sqs:SendMessage');
    new events.Rule(this, 'Schedule', {
      description: 'Tests the stage from the login to the delivery of an event',
      schedule: events.Schedule.rate(interval),
      targets: [new targets.LambdaFunction(test.live)],
    });
    // A failure is told, and not tried again. A test that finds no free place in 5 minutes is left out.
    test.live.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(5) });
    new Alarms(this, 'Alarms', { configuration, rows: smokeAlarms(test, interval) });
    new CfnOutput(this, 'SmokeCredentialsParameter', { value: credentials.parameterName });
  }

  /** It outlives the stage. By the id of its key in its name, a stage that is made anew has parameters of its own. */
  #secretParameter(id: string, name: string): SecretParameter {
    const { configuration, data } = this.#props;
    const { key } = data.keyring;
    const keyId = Fn.select(1, Fn.split('/', key.keyArn)); // of the ARN, which this stack imports anyway
    return new SecretParameter(this, id, {
      parameterName: `/emissor/${configuration.stage}/smoke/${keyId}/${name}`,
      key,
    });
  }
}

/** A receiver of smoke tests. The stage's own knows them by keys that are made with a secret. */
interface Receiver {
  readonly url: string;
  readonly key?: SecretParameter;
}
