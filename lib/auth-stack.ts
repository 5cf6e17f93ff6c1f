import { CfnOutput, Duration, Stack, Validations } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as triggers from 'aws-cdk-lib/triggers';
import type { Construct } from 'constructs';
import type {
  DiscoveryEnvironment,
  IntrospectEnvironment,
  RevokeEnvironment,
  RotateKeysEnvironment,
  TokenEnvironment,
} from '../lambdas/auth/environment.ts';
import { Alarms } from './constructs/alarm.ts';
import { route } from './constructs/http-endpoint.ts';
import { allowKeyUse, allowListingKeys } from './constructs/keyring-access.ts';
import { NodeFunction } from './constructs/node-function.ts';
import type { DataStack } from './data-stack.ts';
import type { StageProps } from './stage-props.ts';

/** What the auth stack is given. */
export interface AuthStackProps extends StageProps {
  readonly data: DataStack;
}

/** {auth_url}: the endpoints around tokens, the dynamo that describe them, and the rotation of its keys. */
export class AuthStack extends Stack {
  constructor(scope: Construct, id: string, props: AuthStackProps) {
    super(scope, id, props);
    const { configuration, data } = props;

    const token = new NodeFunction<TokenEnvironment>(this, 'Token', {
      configuration,
      entry: 'lambdas/auth/endpoints/token.handler.ts',
      timeout: Duration.seconds(15),
      memorySize: 1769, // a password hash is all processor: anything less makes every login slower
      reservedConcurrentExecutions: configuration.tokenConcurrency,
      environment: {
        CLIENTS_TABLE: data.clients.tableName,
        USERS_TABLE: data.users.tableName,
        CREDENTIALS_TABLE: data.credentials.tableName,
        SESSIONS_TABLE: data.sessions.tableName,
        LOCKOUTS_TABLE: data.lockouts.tableName,
        KEYRING_TABLE: data.keyring.tableName,
        ISSUER: data.auth.url,
        AUDIENCE: data.base.url,
        ACCESS_TOKEN_SECONDS: seconds(configuration.accessTokenLifetime),
        REFRESH_IDLE_SECONDS: seconds(configuration.refreshIdleLifetime),
        REFRESH_ABSOLUTE_SECONDS: seconds(configuration.refreshAbsoluteLifetime),
        ADDRESS_FAILURE_LIMIT: String(configuration.addressFailureLimit),
        CLIENT_FAILURE_LIMIT: String(configuration.clientFailureLimit),
      },
    });
    token.allow(['dynamodb:BatchGetItem'], data.clients.tableArn);
    token.allow(['dynamodb:BatchGetItem'], data.users.tableArn);
    token.allow(['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'], data.credentials.tableArn);
    token.allow(['dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], data.sessions.tableArn);
    token.allow(['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'], data.lockouts.tableArn);
    allowListingKeys(token, data, ['signing', 'mac']);
    allowKeyUse(token, data.key, ['kms:Decrypt'], ['signing', 'mac']);

    const revoke = new NodeFunction<RevokeEnvironment>(this, 'Revoke', {
      configuration,
      entry: 'lambdas/auth/endpoints/revoke.handler.ts',
      timeout: Duration.seconds(10),
      memorySize: 512,
      environment: {
        CLIENTS_TABLE: data.clients.tableName,
        SESSIONS_TABLE: data.sessions.tableName,
        LOCKOUTS_TABLE: data.lockouts.tableName,
        KEYRING_TABLE: data.keyring.tableName,
        ISSUER: data.auth.url,
        AUDIENCE: data.base.url,
        ADDRESS_FAILURE_LIMIT: token.variables.ADDRESS_FAILURE_LIMIT,
      },
    });
    revoke.allow(['dynamodb:BatchGetItem'], data.clients.tableArn);
    revoke.allow(['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'], data.sessions.tableArn);
    revoke.allow(['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'], data.lockouts.tableArn);
    allowListingKeys(revoke, data, ['signing', 'mac']);
    allowKeyUse(revoke, data.key, ['kms:Decrypt'], ['mac']);

    const introspect = new NodeFunction<IntrospectEnvironment>(this, 'Introspect', {
      configuration,
      entry: 'lambdas/auth/endpoints/introspect.handler.ts',
      timeout: Duration.seconds(10),
      memorySize: 512,
      environment: { ...revoke.variables, USERS_TABLE: data.users.tableName },
    });
    for (const table of [data.clients, data.users, data.sessions]) {
      introspect.allow(['dynamodb:BatchGetItem'], table.tableArn);
    }
    introspect.allow(['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'], data.lockouts.tableArn);
    allowListingKeys(introspect, data, ['signing', 'mac']);
    allowKeyUse(introspect, data.key, ['kms:Decrypt'], ['mac']);

    const discovery = new NodeFunction<DiscoveryEnvironment>(this, 'Discovery', {
      configuration,
      entry: 'lambdas/auth/endpoints/discovery.handler.ts',
      timeout: Duration.seconds(5),
      memorySize: 512,
      environment: { KEYRING_TABLE: data.keyring.tableName, ISSUER: data.auth.url },
    });
    allowListingKeys(discovery, data, ['signing']);

    const rotateKeys = new NodeFunction<RotateKeysEnvironment>(this, 'RotateKeys', {
      configuration,
      entry: 'lambdas/auth/keys/rotate-keys.handler.ts',
      timeout: Duration.seconds(60),
      memorySize: 512,
      environment: {
        KEYRING_TABLE: data.keyring.tableName,
        KEY_ARN: data.key.keyArn,
        SIGNING_ALGORITHM: configuration.signingAlgorithm,
        KEY_ROTATION_SECONDS: seconds(configuration.keyRotationPeriod),
        ACCESS_TOKEN_SECONDS: seconds(configuration.accessTokenLifetime),
        REFRESH_ABSOLUTE_SECONDS: seconds(configuration.refreshAbsoluteLifetime),
      },
    });
    rotateKeys.allow(['dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:DeleteItem'], data.keyring.tableArn);
    allowKeyUse(rotateKeys, data.key, ['kms:GenerateDataKeyPairWithoutPlaintext'], ['signing']);
    allowKeyUse(rotateKeys, data.key, ['kms:GenerateDataKeyWithoutPlaintext'], ['mac', 'sealing']);
    // The operator's command line takes passwords by the stage's rule, and rotates with the very settings of the function.
    new CfnOutput(this, 'PasswordMinimumLength', { value: String(configuration.passwordMinimumLength) });
    new CfnOutput(this, 'RotateKeysSettings', { value: this.toJsonString(rotateKeys.variables) });
    new events.Rule(this, 'RotateKeysDaily', {
      description: 'Keeps the keyring fresh',
      schedule: events.Schedule.rate(Duration.days(1)),
      targets: [new targets.LambdaFunction(rotateKeys)],
    });
    new triggers.Trigger(this, 'FirstKeys', {
      handler: rotateKeys,
      timeout: Duration.minutes(2),
      invocationType: triggers.InvocationType.REQUEST_RESPONSE,
    });
    Validations.of(rotateKeys).acknowledge({
      id: 'Annotation::@aws-cdk/aws-lambda:addPermissionsToVersionOrAlias',
      reason: 'Only the deployment trigger invokes a version, and the construct grants it that itself.',
    });

    const alarms = new Alarms(this, 'Alarms', { topic: data.operations, configuration });
    alarms.add('TokenFailures', {
      description: 'The token endpoint answers 500: logins fail. Look at the token function’s log.',
      metric: alarms.count('token', 'ServerError'),
    });
    alarms.add('TokenUnavailable', {
      description:
        'The token endpoint answers 503 for ten minutes: DynamoDB or KMS fails. Look at the token function’s log.',
      metric: alarms.count('token', 'DependencyUnavailable'),
      periods: 2,
    });
    alarms.add('TokenCrashes', {
      description: 'The token function fails or times out.',
      metric: token.metricErrors(),
    });
    alarms.add('TokenThrottles', {
      description: 'Credentials are turned away: the token function has reached its concurrency.',
      metric: token.metricThrottles(),
    });
    alarms.add('RefreshTokenReuse', {
      description: 'A refresh token was used twice, its login was ended: a copy may be in other hands.',
      metric: alarms.count('token', 'RefreshTokenReuse'),
    });
    alarms.add('InvalidGrantSurge', {
      description: 'Unusually many logins are refused: somebody may be guessing passwords.',
      metric: alarms.count('token', 'InvalidGrant'),
      above: configuration.invalidGrantSurge,
      periods: 2,
    });
    alarms.add('KeyRotationFailures', {
      description: 'Keys are not rotated. Tokens go on being issued with the old ones; mend it within a day.',
      metric: rotateKeys.metricErrors(),
    });

    route(this, 'TokenRoute', data.auth, '/oauth/v1/token', token);
    route(this, 'RevokeRoute', data.auth, '/oauth/v1/revoke', revoke);
    route(this, 'IntrospectRoute', data.auth, '/oauth/v1/introspect', introspect);
    route(this, 'JwksRoute', data.auth, '/.well-known/jwks.json', discovery);
    route(this, 'MetadataRoute', data.auth, '/.well-known/oauth-authorization-server', discovery);
    route(this, 'OtherRoute', data.auth, '$default', discovery);
  }
}

function seconds(milliseconds: number): string {
  return String(Math.floor(milliseconds / 1000));
}
