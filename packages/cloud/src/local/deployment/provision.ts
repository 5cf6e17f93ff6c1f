import * as z from 'zod';
import { functionNameIn } from '../assembly/identities.ts';
import { type LiveResource, ofType, readProperties } from '../assembly/resources.ts';
import { tableOf } from '../dynamodb.ts';
import { StartError } from '../errors.ts';
import { eventSourceOf } from '../event-sources/mapping.ts';
import { functionOf } from '../lambda/definition.ts';
import { makeStartLock } from '../lambda/execution-environment.ts';
import { type FunctionHost, type LocalFunction, makeLocalFunction } from '../lambda/function.ts';
import type { Services } from '../services.ts';
import { requireEmail } from '../sns.ts';
import { queueOf } from '../sqs.ts';
import type { ResolvedTemplate } from './resolved-template.ts';

/** Creates keys, queues and tables. Those kept from an earlier run stay. @throws {StartError} */
export function provisionState(template: ResolvedTemplate, services: Services): void {
  const { resources, attributeOf } = template;
  for (const key of ofType(resources, 'AWS::KMS::Key')) services.kms.ensureKey(attributeOf(key, 'Ref'));
  for (const queue of ofType(resources, 'AWS::SQS::Queue')) services.sqs.ensureQueue(queueOf(queue));
  ofType(resources, 'AWS::SNS::Subscription').forEach(requireEmail);
  const tables = [...ofType(resources, 'AWS::DynamoDB::GlobalTable'), ...ofType(resources, 'AWS::DynamoDB::Table')];
  for (const table of tables) services.dynamoDb.ensureTable(tableOf(table));
}

/** The functions of the template, by name. */
export type Functions = ReadonlyMap<string, LocalFunction>;

/**
 * Creates the functions; their processes start when they are first invoked.
 *
 * @throws {StartError}
 */
export function provisionFunctions(
  { resources, assets }: ResolvedTemplate,
  host: Omit<FunctionHost, 'startLock'>,
): Functions {
  const startLock = makeStartLock();
  const concurrency = concurrencyOf(resources);
  const definitions = ofType(resources, 'AWS::Lambda::Function').map(resource => functionOf(resource, assets));
  return new Map(
    definitions.map(definition => [
      definition.name,
      makeLocalFunction(definition, { ...host, startLock }, concurrency.get(definition.name)),
    ]),
  );
}

/** Returns a function of the template. @throws {StartError} when there is none of that name */
export function functionNamed(functions: Functions, name: string): LocalFunction {
  const found = functions.get(name);
  if (!found) throw new StartError(`The template refers to the function "${name}", which it does not have.`);
  return found;
}

/**
 * Runs the functions that run when the stacks are deployed (the CDK's `Trigger`), in the order of the stacks. They are
 * invoked here directly, without the CDK's provider function.
 *
 * @throws {StartError} when one of them fails.
 */
export async function runDeploymentTriggers({ resources }: ResolvedTemplate, functions: Functions): Promise<void> {
  for (const trigger of ofType(resources, 'Custom::Trigger')) {
    const { definition, invoke } = functionNamed(functions, triggeredFunctionOf(trigger));
    const result = await invoke('{}');
    if (result.outcome === 'failed') {
      throw new StartError(`The deployment's trigger ${definition.label} failed: ${result.error.errorMessage}`);
    }
  }
}

/** Batches that the event sources of each function may process at once; without those that set no maximum. */
function concurrencyOf(resources: ResolvedTemplate['resources']): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { functionName, concurrency } of ofType(resources, 'AWS::Lambda::EventSourceMapping').map(eventSourceOf)) {
    if (Number.isFinite(concurrency)) sums.set(functionName, (sums.get(functionName) ?? 0) + concurrency);
  }
  return sums;
}

/** Returns the function that a trigger runs when the stacks are deployed. @throws {StartError} */
function triggeredFunctionOf(resource: LiveResource): string {
  const name = functionNameIn(readProperties(triggerSchema, resource).HandlerArn);
  if (name) return name;
  throw new StartError(`${resource.stack}/${resource.logicalId} triggers no function.`);
}

const triggerSchema = z.object({ HandlerArn: z.string() });
