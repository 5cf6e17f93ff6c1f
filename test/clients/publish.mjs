// Publishes the JSON events from stdin with the TypeScript publisher, and prints the results.
import { text } from 'node:stream/consumers';
import { createPublisher } from '@emissor/publisher';

const publisher = createPublisher({ queueUrl: process.env.EVENTS_QUEUE_URL });
console.log(JSON.stringify(await publisher.publishAll(JSON.parse(await text(process.stdin)))));
