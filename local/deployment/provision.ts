import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { region } from '../assembly/identities.ts';
import { ofType } from '../assembly/resources.ts';
import { ensureDemo } from '../demo.ts';
import { createTables, tableOf } from '../dynamodb/tables.ts';
import { eventSourceOf, triggeredFunctionOf } from '../event-sources/definition.ts';
import { LocalFault } from '../fault.ts';
import { functionPolicies } from '../iam/policies.ts';
import { functionOf } from '../lambda/definition.ts';
import { type FunctionHost, type LocalFunction, makeLocalFunction } from '../lambda/function.ts';
import { makeStartGate } from '../lambda/start-gate.ts';
import { type DemoCredentials, requiredOutput } from '../outputs.ts';
import type { Services } from '../services.ts';
import { queueOf, topicOf } from '../sqs/engine.ts';
import type { Blueprint } from './blueprint.ts';

/** The stand-ins take any credentials, but the SDK insists on some. */
export const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Puts the policies in force and creates what holds state: keys, queues, topics, tables. What was kept stays. @throws {LocalFault} */
export async function provisionState(blueprint: Blueprint, services: Services): Promise<void> {
  const { resources, assets, attributeOf } = blueprint;
  services.gate.enforce(functionPolicies(resources, assets));
  for (const key of ofType(resources, 'AWS::KMS::Key')) services.kms.ensureKey(attributeOf(key, 'Ref'));
  for (const queue of ofType(resources, 'AWS::SQS::Queue')) services.sqs.ensureQueue(queueOf(queue));
  for (const topic of ofType(resources, 'AWS::SNS::Topic')) services.sqs.ensureTopic(topicOf(topic));
  const client = new DynamoDBClient({ region, endpoint: services.dynamoDb.endpoint, credentials: localCredentials });
  try {
    await createTables(client, ofType(resources, 'AWS::DynamoDB::GlobalTable').map(tableOf));
  } finally {
    client.destroy();
  }
}

/** Makes sure of the demo client and the demo admin. @throws {LocalFault} when the stacks lack their tables */
export async function provisionDemo(
  { outputs }: Blueprint,
  services: Services,
  file: string | undefined,
): Promise<DemoCredentials> {
  const client = new DynamoDBClient({ region, endpoint: services.dynamoDb.endpoint, credentials: localCredentials });
  try {
    return await ensureDemo({
      dynamo: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
      clientsTable: requiredOutput(outputs, 'ClientsTable'),
      userTables: {
        users: requiredOutput(outputs, 'UsersTable'),
        credentials: requiredOutput(outputs, 'CredentialsTable'),
      },
      ...(file === undefined ? {} : { file }),
    });
  } finally {
    client.destroy();
  }
}

/** The functions of the template, by name. */
export type Functions = ReadonlyMap<string, LocalFunction>;

/** Makes the functions known; their processes start when they are first invoked. @throws {LocalFault} */
export function provisionFunctions(
  { resources, assets }: Blueprint,
  surroundings: Omit<FunctionHost, 'startGate'>,
): Functions {
  const host = { ...surroundings, startGate: makeStartGate() };
  const places = placesOf(resources);
  return new Map(
    ofType(resources, 'AWS::Lambda::Function')
      .map(resource => functionOf(resource, assets))
      .map(definition => [definition.name, makeLocalFunction(definition, host, places.get(definition.name))]),
  );
}

/** A function of the template. @throws {LocalFault} when there is none of that name */
export function functionNamed(functions: Functions, name: string): LocalFunction {
  const found = functions.get(name);
  if (!found) throw new LocalFault(`The template refers to the function "${name}", which it does not have.`);
  return found;
}

/**
 * Runs the functions that are to run when the stacks are deployed, in the order of the stacks. The CDK's own provider
 * function, which would ask AWS to invoke them, is passed by.
 *
 * @throws {LocalFault} when one of them fails.
 */
export async function runTriggers({ resources }: Blueprint, functions: Functions): Promise<void> {
  for (const trigger of ofType(resources, 'Custom::Trigger')) {
    const { definition, invoke } = functionNamed(functions, triggeredFunctionOf(trigger));
    const result = await invoke('{}');
    if (result.outcome === 'failed') {
      throw new LocalFault(`The deployment's trigger ${definition.label} failed: ${result.fault.errorMessage}`);
    }
  }
}

/** Batches that the event sources of each function may have under way at once; without those that set no maximum. */
function placesOf(resources: Blueprint['resources']): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const { functionName, concurrency } of ofType(resources, 'AWS::Lambda::EventSourceMapping').map(eventSourceOf)) {
    if (Number.isFinite(concurrency)) places.set(functionName, (places.get(functionName) ?? 0) + concurrency);
  }
  return places;
}
