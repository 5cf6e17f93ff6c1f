import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, CfnOutput, DefaultStackSynthesizer, Tags } from 'aws-cdk-lib';
import { AuthStack } from './auth-stack.ts';
import { hasSmokeStack, type StageConfiguration } from './config.ts';
import { Table } from './constructs/table.ts';
import { DataStack } from './data-stack.ts';
import { DeliveryStack } from './delivery-stack.ts';
import { setRelease } from './release.ts';
import { addRequestQuery, addSavedQueries } from './saved-queries.ts';
import { SmokeStack } from './smoke-stack.ts';
import { WebhooksStack } from './webhooks-stack.ts';

/**
 * Adds the stacks of a stage to an app: `Emissor-<stage>-Data`, `-Auth`, `-Webhooks`, `-Delivery`, and `-Smoke` if smoke tests need
 * resources on the stage.
 *
 * @param release - the label of the release (see `release.ts`), which the environment of every function contains
 */
export function addStage(app: App, configuration: StageConfiguration, release: string): void {
  setRelease(app, release);
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  const { account, region } = configuration;
  const tags = { ...configuration.tags, service: 'emissor', stage: configuration.stage };
  const name = (stack: string): string => `Emissor-${configuration.stage}-${stack}`;
  const props = () => ({
    configuration,
    // With an account and a Region, the CDK deploys the stage only there.
    ...(account && region ? { env: { account, region } } : {}),
    analyticsReporting: false,
    terminationProtection: configuration.protection,
    tags, // CloudFormation applies the tags to the resources
    // `cdk deploy` checks the bootstrap version itself. Without this rule, the templates need no parameter.
    synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
  });
  const data = new DataStack(app, name('Data'), props());
  const auth = new AuthStack(app, name('Auth'), { ...props(), data });
  const webhooks = new WebhooksStack(app, name('Webhooks'), { ...props(), data });
  const delivery = new DeliveryStack(app, name('Delivery'), { ...props(), data, serviceVersion: version });
  const smoke = hasSmokeStack(configuration)
    ? [new SmokeStack(app, name('Smoke'), { ...props(), ...unprotected, data, eventsQueue: delivery.eventsQueue })]
    : [];
  // `ops status` compares the versions, because a failed deployment can leave the stacks at different versions.
  for (const stack of [data, auth, webhooks, delivery, ...smoke])
    new CfnOutput(stack, 'ServiceVersion', { value: version });
  // CloudFormation does not pass the stack's tags to the replicas of a global table.
  for (const table of app.node.findAll().filter(child => child instanceof Table))
    for (const [key, value] of Object.entries(tags)) Tags.of(table).add(key, value);
  for (const stack of [auth, webhooks, delivery, ...smoke]) new CfnOutput(stack, 'Release', { value: release });
  addSavedQueries(auth, 'auth', configuration);
  addSavedQueries(webhooks, 'webhooks', configuration);
  addSavedQueries(delivery, 'delivery', configuration);
  const accessLogs = [data.auth.accessLogs, data.base.accessLogs];
  addRequestQuery(delivery, configuration, [
    ...accessLogs,
    ...auth.requestLogs,
    webhooks.requestLog,
    delivery.requestLog,
  ]);
}

/** The smoke stack has no data, so it needs no protection. If its creation fails, the operator must be able to delete it. */
const unprotected = { terminationProtection: false };

const packageFile = join(import.meta.dirname, '../package.json');
