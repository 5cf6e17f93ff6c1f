import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { makePasswordHashing } from '../../lambdas/auth/principals/password-hash.ts';
import { makeDocumentClient } from '../../lambdas/platform/aws/dynamo.ts';
import { type MakeId, randomId } from '../../lambdas/platform/identifiers.ts';
import { systemRuntime } from '../../lambdas/platform/runtime.ts';
import type { Time } from '../../lambdas/platform/timer.ts';
import type { AwsClient } from './aws-clock.ts';

/** All that actions reach outside themselves: AWS, time and chance. They have it by their target; a test gives its own. */
export interface OpsRuntime {
  readonly makeClient: <Client extends AwsClient>(Service: ServiceOf<Client>, settings: ConnectionSettings) => Client;
  /** Makes the client of DynamoDB that takes and returns items. */
  readonly makeDocumentClient: (settings: ConnectionSettings) => DynamoDBDocumentClient;
  /** The machine's own. Actions ask their target's clock, which AWS's answers put right. */
  readonly time: Time;
  readonly makeId: MakeId;
  readonly hashPassword: (password: string) => Promise<string>;
}

/**
 * Returns a client of a service; a target's is made once.
 *
 * @param endpoint - the output with the endpoint of a local run's engine; AWS's own where there is no such output.
 */
export type Connect = <Client extends AwsClient>(Service: ServiceOf<Client>, endpoint?: EndpointOutput) => Client;

/** The outputs of a local run that name an engine's endpoint. */
export type EndpointOutput = 'DynamoDbEndpoint' | 'KmsEndpoint' | 'LogsEndpoint' | 'SqsEndpoint';

/** The class of the SDK's client for a service. */
export type ServiceOf<Client> = new (settings: ConnectionSettings) => Client;

/** The settings of every client. Without a Region or an endpoint it takes those that the SDK finds. */
export interface ConnectionSettings {
  readonly maxAttempts: number;
  readonly region?: string;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** The world of the program: AWS itself, the machine's clock, and ids that nobody can foresee. */
export const opsRuntime: OpsRuntime = {
  makeClient: (Service, settings) => new Service(settings),
  makeDocumentClient,
  time: systemRuntime.time,
  makeId: randomId,
  hashPassword: makePasswordHashing(systemRuntime).hash,
};
