import { beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryWorld, makeDeliveryWorld } from '../../../support/delivery-world/delivery-world.ts';

let world: DeliveryWorld;
beforeEach(async () => {
  world = makeDeliveryWorld();
});

const names = () => world.lines.map(line => JSON.parse(line)[0]);
const isDown = () => Promise.reject(new Error('the queue is down'));

describe('a message that can never be processed', () => {
  const queues = [
    ['first', 'events', 'event.refused'],
    ['retry', 'retries', 'retry.refused'],
  ] as const;

  it.each(queues)('stays in its queue while that of dead letters is out of reach: %s', async (lane, queue) => {
    world.send(queue, 'no JSON');
    world.between('SendMessageCommand', isDown);
    await world.step(lane);
    expect(world.deferrals()).toEqual(['Error']);
    expect(world.deadLetters()).toEqual([]);
    expect(world.waiting(queue)).toHaveLength(1);
  });

  it.each(queues)('is told of, and then deleted at once: %s', async (lane, queue, name) => {
    world.send(queue, 'no JSON');
    let wasTold = false;
    world.between('DeleteMessageCommand', async () => {
      wasTold = names().includes(name);
    });
    await world.step(lane, undefined, true); // Lambda does not delete it
    expect(wasTold).toBe(true);
    expect(world.deadLetters()).toHaveLength(1);
    expect(world.waiting(queue)).toEqual([]);
  });

  it('is a dead letter though it cannot be deleted', async () => {
    world.publish('no JSON');
    world.between('DeleteMessageCommand', isDown);
    await world.step('first');
    expect(world.deferrals()).toEqual([]);
    expect(world.deadLetters()).toHaveLength(1);
    expect(names().filter(name => name === 'message.not_deleted')).toHaveLength(1);
  });

  it('is one without a sender where nobody knows that: SQS would refuse an empty attribute', async () => {
    world.publish('no JSON', {}, '');
    await world.step('first');
    expect(world.deadLetters()).toEqual([expect.not.objectContaining({ sender: expect.anything() })]);
  });
});
