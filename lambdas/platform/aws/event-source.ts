import type { LambdaClient } from '@aws-sdk/client-lambda';
import { clientSettings } from './client-settings.ts';

/** Reads the state of an event source mapping, as Lambda names it: `Enabled`, `Disabled` and others. */
export type ReadEventSourceState = (id: string) => Promise<string | undefined>;

/** Makes the reader of event source mappings. It loads Lambda's client when it is first called, which is once an hour. */
export function makeReadEventSourceState(): ReadEventSourceState {
  let lambda: LambdaClient | undefined;
  return async function readEventSourceState(id) {
    const { GetEventSourceMappingCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
    lambda ??= new LambdaClient(clientSettings('lambda'));
    return (await lambda.send(new GetEventSourceMappingCommand({ UUID: id }))).State;
  };
}
