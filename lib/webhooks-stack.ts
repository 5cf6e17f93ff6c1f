import { Duration, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { WebhooksApiEnvironment } from '../lambdas/webhooks/environment.ts';
import { Alarms } from './constructs/alarm.ts';
import { route } from './constructs/http-endpoint.ts';
import { allowKeyUse, allowListingKeys } from './constructs/keyring-access.ts';
import { NodeFunction } from './constructs/node-function.ts';
import type { DataStack } from './data-stack.ts';
import type { StageProps } from './stage-props.ts';

/** What the webhooks stack is given. */
export interface WebhooksStackProps extends StageProps {
  readonly data: DataStack;
}

/** {base_url}: the management of webhooks. */
export class WebhooksStack extends Stack {
  constructor(scope: Construct, id: string, props: WebhooksStackProps) {
    super(scope, id, props);
    const { configuration, data } = props;
    const api = new NodeFunction<WebhooksApiEnvironment>(this, 'WebhooksApi', {
      entry: 'lambdas/webhooks/webhooks-api.handler.ts',
      timeout: Duration.seconds(20),
      memorySize: 1024,
      configuration,
      reservedConcurrentExecutions: configuration.apiConcurrency,
      environment: {
        CLIENTS_TABLE: data.clients.tableName,
        USERS_TABLE: data.users.tableName,
        SESSIONS_TABLE: data.sessions.tableName,
        WEBHOOKS_TABLE: data.webhooks.tableName,
        KEYRING_TABLE: data.keyring.tableName,
        ISSUER: data.auth.url,
        AUDIENCE: data.base.url,
        OWN_HOSTS: `${data.auth.host},${data.base.host}`,
        DOCS_URL: configuration.docsUrl ?? '',
      },
    });
    for (const table of [data.clients, data.users, data.sessions]) api.allow(['dynamodb:BatchGetItem'], table.tableArn);
    api.allow(
      ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
      data.webhooks.tableArn,
    );
    allowListingKeys(api, data, ['signing', 'sealing']);
    allowKeyUse(api, data.key, ['kms:Decrypt'], ['sealing']);

    const alarms = new Alarms(this, 'Alarms', { topic: data.operations, configuration });
    alarms.add('WebhooksApiCrashes', {
      description: 'The webhooks API fails or times out.',
      metric: api.metricErrors(),
    });
    alarms.add('WebhooksApiThrottles', {
      description: 'Requests to the webhooks API are turned away: its function has reached its concurrency.',
      metric: api.metricThrottles(),
    });

    route(this, 'WebhooksRoute', data.base, '/v1/webhooks', api);
    route(this, 'WebhookRoute', data.base, '/v1/webhooks/{proxy+}', api);
    route(this, 'OtherRoute', data.base, '$default', api);
  }
}
