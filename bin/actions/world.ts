import { setTimeout as pause } from 'node:timers/promises';
import { type DynamoDBDocumentClient, makeDocumentClient } from '../../lambdas/platform/aws/documents.ts';
import { type Clock, systemClock } from '../../lambdas/platform/clock.ts';
import { type MakeId, randomId } from '../../lambdas/platform/identifiers.ts';
import type { AwsClient } from './aws-clock.ts';

/** All that actions reach outside themselves: AWS, time and chance. They have it by their target; a test gives its own. */
export interface World {
  /** Makes a client of one of AWS's services. */
  readonly makeClient: <Client extends AwsClient>(Service: ServiceOf<Client>, settings: ConnectionSettings) => Client;
  /** Makes the client of DynamoDB that takes and returns items. */
  readonly makeDocumentClient: (settings: ConnectionSettings) => DynamoDBDocumentClient;
  /** The machine's clock. Actions ask their target's, which AWS's answers put right. */
  readonly now: Clock;
  readonly pause: Pause;
  readonly makeId: MakeId;
}

/**
 * Returns the client of a service, which is made when it is first asked for.
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

/** Waits for some milliseconds. It throws when the signal ends it early. */
export type Pause = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** The world of the program: AWS itself, the machine's clock, and ids that nobody can foresee. */
export const thisWorld: World = {
  makeClient: (Service, settings) => new Service(settings),
  makeDocumentClient,
  now: systemClock,
  pause: (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
  makeId: randomId,
};
