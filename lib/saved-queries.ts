import type { Stack } from 'aws-cdk-lib';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { StageConfiguration } from './config.ts';
import { NodeFunction } from './constructs/node-function.ts';

const newestFirst = { sort: '@timestamp desc', limit: 200 };

const errorFields = ['errorName', 'action', 'table', 'index', 'throttled.0', 'httpStatus'];

const internalErrors: Query = {
  fields: [
    ...['@timestamp', 'service', 'message', 'account'],
    ...errorFields,
    ...errorFields.map(field => `cause.${field}`), // some errors only wrap their cause, such as the error from a failed sweep
    ...['at.0', 'at.1'],
  ],
  filterStatements: ["level = 'ERROR'"],
  ...newestFirst,
};

const refusedRequests: Query = {
  fields: ['@timestamp', 'method', 'route', 'status', 'code', 'findings', 'account', 'clientId'],
  filterStatements: ["message = 'api.refused'"],
  ...newestFirst,
};

/** The CloudWatch Logs Insights queries of each stack, by name. The runbook explains when to use each query. */
export const savedQueries: Readonly<Record<'auth' | 'webhooks' | 'delivery', Readonly<Record<string, Query>>>> = {
  auth: {
    'refused tokens': {
      fields: ['@timestamp', 'message', 'error', 'reason', 'grant', 'clientId', 'userId', 'ip'],
      filterStatements: ['message like /^(token|revoke|introspect)\\.refused$/'],
      ...newestFirst,
    },
    'right passwords in a lock': {
      fields: ['@timestamp', 'clientId', 'userId', 'ip'],
      filterStatements: ["message = 'token.refused' and reason = 'user_locked_during_login'"],
      ...newestFirst,
    },
    'reused refresh tokens': {
      fields: ['@timestamp', 'clientId', 'userId', 'sessionId', 'ip'],
      filterStatements: ["message = 'token.refused' and reason = 'refresh_token_reused'"],
      ...newestFirst,
    },
    'refused tokens by client': {
      filterStatements: ['message like /^(token|revoke|introspect)\\.refused$/'],
      statsStatements: ['count(*) as refusals by clientId, error, reason'],
      sort: 'refusals desc',
    },
    'secrets in use': {
      filterStatements: ['message like /^(token|revoke|introspect)\\.granted$/'],
      statsStatements: ['max(@timestamp) as lastUsed by clientId, secretCreatedAt'],
      sort: 'lastUsed desc',
    },
    'internal errors': internalErrors,
  },
  webhooks: { 'refused requests': refusedRequests, 'internal errors': internalErrors },
  delivery: {
    'one event': {
      fields: [
        '@timestamp',
        'message',
        'attempt',
        'result',
        'cause',
        'status',
        'errorCode',
        'host',
        'nextAttemptAt',
        'state',
      ],
      filterStatements: ["deliveryId = 'evt_REPLACE_ME'"],
      sort: '@timestamp asc',
    },
    'failed attempts by receiver': {
      filterStatements: ["message = 'delivery.attempt'", "result != 'delivered'"],
      statsStatements: ['count(*) as attempts by host, result, cause, status, account, event'],
      sort: 'attempts desc',
    },
    'events that were not sent': {
      fields: ['@timestamp', 'message', 'account', 'event', 'deliveryId', 'messageId', 'reason', 'detail'],
      filterStatements: ['message like /^event\\./'],
      ...newestFirst,
    },
    'refused requests': refusedRequests,
    'internal errors': internalErrors,
  },
};

/** Saves the queries for an area as `Emissor/<stage>/<area>/<name>`. They search the log groups of all functions in the stack. */
export function addSavedQueries(stack: Stack, area: keyof typeof savedQueries, { stage }: StageConfiguration): void {
  const functions = stack.node.findAll().filter(construct => construct instanceof NodeFunction);
  for (const [name, query] of Object.entries(savedQueries[area])) {
    new logs.QueryDefinition(stack, `Query ${name}`, {
      queryDefinitionName: `Emissor/${stage}/${area}/${name}`,
      queryString: new logs.QueryString(query),
      logGroups: functions.map(({ logGroup }) => logGroup),
    });
  }
}

/** Saves a query that finds a request by its id in the access logs and in the logs of the functions behind the APIs. */
export function addRequestQuery(stack: Stack, { stage }: StageConfiguration, logGroups: logs.ILogGroup[]): void {
  new logs.QueryDefinition(stack, 'Query one request', {
    queryDefinitionName: `Emissor/${stage}/one request`,
    queryString: new logs.QueryString({
      fields: ['@timestamp', '@message'],
      filterStatements: ["requestId = 'REPLACE_ME'"],
      sort: '@timestamp asc',
    }),
    logGroups,
  });
}

type Query = Omit<logs.QueryStringProps, 'filter' | 'stats' | 'parse'>;
