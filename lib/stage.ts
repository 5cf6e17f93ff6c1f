import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, DefaultStackSynthesizer, Tags } from 'aws-cdk-lib';
import { AuthStack } from './auth-stack.ts';
import type { StageConfiguration } from './config.ts';
import { DataStack } from './data-stack.ts';
import { DeliveryStack } from './delivery-stack.ts';
import { addSavedQueries } from './saved-queries.ts';
import { WebhooksStack } from './webhooks-stack.ts';

/** Adds the four stacks of one stage to an app: `Emissor-<stage>-Data`, `-Auth`, `-Webhooks` and `-Delivery`. */
export function addStage(app: App, configuration: StageConfiguration): void {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  const name = (stack: string): string => `Emissor-${configuration.stage}-${stack}`;
  const props = () => ({
    configuration,
    analyticsReporting: false,
    terminationProtection: configuration.removalPolicy === 'retain',
    // `cdk deploy` checks the bootstrap version itself. Without the rule, the templates need no parameter for it.
    synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
  });
  const data = new DataStack(app, name('Data'), props());
  const auth = new AuthStack(app, name('Auth'), { ...props(), data });
  const webhooks = new WebhooksStack(app, name('Webhooks'), { ...props(), data });
  const delivery = new DeliveryStack(app, name('Delivery'), { ...props(), data, serviceVersion: version });
  addSavedQueries(auth, 'auth', configuration);
  addSavedQueries(webhooks, 'webhooks', configuration);
  addSavedQueries(delivery, 'delivery', configuration);
  Tags.of(app).add('service', 'emissor');
  Tags.of(app).add('stage', configuration.stage);
}

const packageFile = join(import.meta.dirname, '../package.json');
