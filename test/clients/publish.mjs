// A user of the TypeScript publisher, for the tests: publishes the events that it reads as JSON, and writes their results.
import { text } from 'node:stream/consumers';
import { createPublisher } from '@emissor/publisher';

const publisher = createPublisher({ queueUrl: process.env.EVENTS_QUEUE_URL });
console.log(JSON.stringify(await publisher.publishAll(JSON.parse(await text(process.stdin)))));
