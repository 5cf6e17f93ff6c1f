import { Duration, Stack } from 'aws-cdk-lib';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type * as z from 'zod';
import { apiRoutes } from '../lambdas/api/routes.ts';
import { webhooksApiEnvironment } from '../lambdas/webhooks/environment.ts';
import { webhookRoutes } from '../lambdas/webhooks/routes.ts';
import { webhooksAlarms } from './alarms.ts';
import { stageVariables } from './config.ts';
import { Alarms } from './constructs/alarms.ts';
import { NodeFunction } from './constructs/node-function.ts';
import { Releases } from './constructs/releases.ts';
import type { DataStack } from './data-stack.ts';
import type { StageProps } from './stage-props.ts';

export interface WebhooksStackProps extends StageProps {
  readonly data: DataStack;
}

/** The routes of {base_url} that manage webhooks, and the default route. */
export class WebhooksStack extends Stack {
  /** The log of the function that handles requests. */
  readonly requestLog: ILogGroup;

  constructor(scope: Construct, id: string, props: WebhooksStackProps) {
    super(scope, id, props);
    const { configuration, data } = props;
    const api = new NodeFunction<z.input<typeof webhooksApiEnvironment>>(this, 'WebhooksApi', {
      entry: 'lambdas/base-api/webhooks-api.handler.ts',
      timeout: Duration.seconds(20),
      memorySize: 1024,
      configuration,
      tables: {
        CLIENTS_TABLE: data.clients.allow('BatchGetItem'),
        USERS_TABLE: data.users.allow('BatchGetItem'),
        SESSIONS_TABLE: data.sessions.allow('BatchGetItem'),
        WEBHOOKS_TABLE: data.webhooks.allow('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
        DELIVERIES_TABLE: data.deliveries.allow('BatchGetItem', 'UpdateItem'),
        KEYRING_TABLE: data.keyring.allowUse({ list: ['signing', 'encryption'], unwrap: ['encryption'] }),
      },
      environment: {
        ...stageVariables(webhooksApiEnvironment, configuration),
        ISSUER: data.auth.url,
        AUDIENCE: data.base.url,
        OWN_HOSTS: [...data.auth.hosts, ...data.base.hosts].join(),
      },
    });

    const topics = data.alarmTopics;
    new Alarms(this, 'Alarms', { configuration, topics, rows: webhooksAlarms(configuration) });
    new Releases(this, 'Releases', { configuration, topics, services: { webhooks: api } });

    this.requestLog = api.logGroup;
    data.base.addRoutes(this, { ...webhookRoutes, ...apiRoutes }, () => api);
    data.base.addDefaultRoute(this, api);
    data.base.addStage(this, 'management');
  }
}
