// A user of the TypeScript publisher, for the tests: reads a task as JSON and writes its outcome.
import { text } from 'node:stream/consumers';
import { createPublisher } from '@emissor/publisher';

const { queueUrl, attempts, events } = JSON.parse(await text(process.stdin));
async function* oneByOne() {
  yield* events;
}
console.log(JSON.stringify(await createPublisher({ queueUrl, attempts }).publishAll(oneByOne())));
