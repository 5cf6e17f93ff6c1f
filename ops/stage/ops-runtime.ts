import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { makePasswordHashing } from '../../lambdas/auth/principals/password-hash.ts';
import { makeDocumentClient } from '../../lambdas/platform/aws/dynamo.ts';
import { type MakeId, randomId } from '../../lambdas/platform/identifiers.ts';
import { systemRuntime } from '../../lambdas/platform/runtime.ts';
import type { Time } from '../../lambdas/platform/timer.ts';
import type { AwsClient } from './aws-clock.ts';

/** Gives actions access to AWS, time and randomness. Tests replace this runtime. */
export interface OpsRuntime {
  readonly makeClient: <Client extends AwsClient>(Service: ServiceOf<Client>, settings: ConnectionSettings) => Client;
  /** Creates the DynamoDB client that accepts and returns plain items. */
  readonly makeDocumentClient: (settings: ConnectionSettings) => DynamoDBDocumentClient;
  /** The clock and timers of this machine. Actions use their target's clock, which is corrected from AWS responses. */
  readonly time: Time;
  readonly makeId: MakeId;
  readonly hashPassword: (password: string) => Promise<string>;
}

/**
 * Returns the client for a service. Each target creates the client once.
 * @param endpoint - the output with the endpoint of a local run's engine. Without that output, the client calls AWS.
 */
export type Connect = <Client extends AwsClient>(Service: ServiceOf<Client>, endpoint?: EndpointOutput) => Client;

/** The outputs of a local run that contain the endpoint of an engine. */
export type EndpointOutput = 'DynamoDbEndpoint' | 'KmsEndpoint' | 'LogsEndpoint' | 'SqsEndpoint';

/** The class of the SDK's client for a service. */
export type ServiceOf<Client> = new (settings: ConnectionSettings) => Client;

/** The settings of every client. If no Region or endpoint is set, the SDK's defaults apply. */
export interface ConnectionSettings {
  readonly maxAttempts: number;
  readonly region?: string;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** The runtime of the program, with AWS, this machine's clock and random ids. */
export const opsRuntime: OpsRuntime = {
  makeClient: (Service, settings) => new Service(settings),
  makeDocumentClient,
  time: systemRuntime.time,
  makeId: randomId,
  hashPassword: makePasswordHashing(systemRuntime).hash,
};
