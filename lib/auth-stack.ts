import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type * as z from 'zod';
import {
  type discoveryEnvironment,
  type introspectEnvironment,
  type revokeEnvironment,
  rotateKeysEnvironment,
  tokenEnvironment,
} from '../lambdas/auth/environment.ts';
import { authRoutes } from '../lambdas/auth/routes.ts';
import { authAlarms } from './alarms.ts';
import { stageVariables } from './config.ts';
import { Alarms } from './constructs/alarms.ts';
import { FirstRun } from './constructs/first-run.ts';
import { NodeFunction } from './constructs/node-function.ts';
import { Releases } from './constructs/releases.ts';
import type { DataStack } from './data-stack.ts';
import type { StageProps } from './stage-props.ts';

export interface AuthStackProps extends StageProps {
  readonly data: DataStack;
}

/** The endpoints of {auth_url}, and the key rotation. */
export class AuthStack extends Stack {
  /** The logs of the functions that handle requests. */
  readonly requestLogs: readonly ILogGroup[];
  readonly #props: AuthStackProps;

  constructor(scope: Construct, id: string, props: AuthStackProps) {
    super(scope, id, props);
    const { configuration, data } = props;
    this.#props = props;

    const rotateKeys = this.#addRotateKeys();
    const token = this.#addToken();
    const revoke = this.#addRevoke();
    const introspect = this.#addIntrospect();
    const discovery = this.#addDiscovery();
    const topics = data.alarmTopics;
    new Alarms(this, 'Alarms', { configuration, topics, rows: authAlarms(configuration, data) });
    const services = { token, revoke, introspect, discovery };
    new Releases(this, 'Releases', { configuration, topics, services, others: [rotateKeys] });

    const functions = { Token: token, Revoke: revoke, Introspect: introspect, Jwks: discovery, Metadata: discovery };
    data.auth.addRoutes(this, authRoutes, name => functions[name]);
    data.auth.addDefaultRoute(this, discovery);
    data.auth.addStage(this, 'auth');

    this.requestLogs = Object.values(services).map(({ logGroup }) => logGroup);
    // The operators' command line enforces the minimum password length, invokes the rotation and reads its settings.
    new CfnOutput(this, 'PasswordMinimumLength', { value: String(configuration.passwordMinimumLength) });
    new CfnOutput(this, 'RotateKeysFunction', { value: rotateKeys.live.functionArn });
    new CfnOutput(this, 'RotateKeysSettings', { value: this.toJsonString(rotateKeys.variables) });
  }

  #addToken() {
    const { configuration, data } = this.#props;
    return new NodeFunction<z.input<typeof tokenEnvironment>>(this, 'Token', {
      configuration,
      entry: 'lambdas/auth/endpoints/token.handler.ts',
      timeout: Duration.seconds(15),
      memorySize: 1769, // one full vCPU, because with less, password hashing would slow down every login
      reservedConcurrentExecutions: configuration.tokenConcurrency,
      tables: {
        CLIENTS_TABLE: data.clients.allow('BatchGetItem'),
        USERS_TABLE: data.users.allow('BatchGetItem'),
        CREDENTIALS_TABLE: data.credentials.allow('BatchGetItem', 'UpdateItem'),
        SESSIONS_TABLE: data.sessions.allow('BatchGetItem', 'DeleteItem', 'PutItem', 'UpdateItem'),
        LOCKOUTS_TABLE: data.lockouts.allow('BatchGetItem', 'DeleteItem', 'UpdateItem'),
        KEYRING_TABLE: data.keyring.allowUse({ list: ['signing', 'mac'], unwrap: ['signing', 'mac'] }),
      },
      environment: {
        ...stageVariables(tokenEnvironment, configuration),
        ISSUER: data.auth.url,
        AUDIENCE: data.base.url,
      },
    });
  }

  #addRevoke() {
    const { configuration, data } = this.#props;
    return new NodeFunction<z.input<typeof revokeEnvironment>>(this, 'Revoke', {
      configuration,
      entry: 'lambdas/auth/endpoints/revoke.handler.ts',
      timeout: Duration.seconds(10),
      memorySize: 512,
      tables: {
        CLIENTS_TABLE: data.clients.allow('BatchGetItem'),
        SESSIONS_TABLE: data.sessions.allow('BatchGetItem', 'UpdateItem'),
        KEYRING_TABLE: data.keyring.allowUse({ list: ['signing', 'mac'], unwrap: ['mac'] }),
      },
      environment: this.#tokenReaderEnvironment(),
    });
  }

  #addIntrospect() {
    const { configuration, data } = this.#props;
    return new NodeFunction<z.input<typeof introspectEnvironment>>(this, 'Introspect', {
      configuration,
      entry: 'lambdas/auth/endpoints/introspect.handler.ts',
      timeout: Duration.seconds(10),
      memorySize: 512,
      tables: {
        CLIENTS_TABLE: data.clients.allow('BatchGetItem'),
        USERS_TABLE: data.users.allow('BatchGetItem'),
        SESSIONS_TABLE: data.sessions.allow('BatchGetItem'),
        KEYRING_TABLE: data.keyring.allowUse({ list: ['signing', 'mac'], unwrap: ['mac'] }),
      },
      environment: this.#tokenReaderEnvironment(),
    });
  }

  /** Returns the variables that the revocation and introspection endpoints need to recognise tokens of this issuer. */
  #tokenReaderEnvironment() {
    const { data } = this.#props;
    return {
      ISSUER: data.auth.url,
      AUDIENCE: data.base.url,
    };
  }

  #addDiscovery() {
    const { configuration, data } = this.#props;
    return new NodeFunction<z.input<typeof discoveryEnvironment>>(this, 'Discovery', {
      configuration,
      entry: 'lambdas/auth/endpoints/discovery.handler.ts',
      timeout: Duration.seconds(5),
      memorySize: 512,
      tables: { KEYRING_TABLE: data.keyring.allowUse({ list: ['signing'] }) },
      environment: { ISSUER: data.auth.url },
    });
  }

  /** Adds the daily key rotation. It also runs on the first deployment, to create the first keys. */
  #addRotateKeys() {
    const { configuration, data } = this.#props;
    const rotateKeys = new NodeFunction<z.input<typeof rotateKeysEnvironment>>(this, 'RotateKeys', {
      configuration,
      entry: 'lambdas/auth/keys/rotate-keys.handler.ts',
      timeout: Duration.seconds(60),
      memorySize: 512,
      tables: { KEYRING_TABLE: data.keyring.allowRotation() },
      environment: {
        ...stageVariables(rotateKeysEnvironment, configuration),
        KEY_ARN: data.keyring.key.keyArn,
      },
    });
    new events.Rule(this, 'RotateKeysDaily', {
      description: 'Creates the keys that are due and deletes expired keys',
      schedule: events.Schedule.rate(Duration.days(1)),
      targets: [new targets.LambdaFunction(rotateKeys.live)],
    });
    new FirstRun(this, 'FirstKeys', { configuration, handler: rotateKeys });
    return rotateKeys;
  }
}
