import { beforeEach, describe, expect, it } from 'vitest';
import { makeStage, type Stage } from '../../../support/stage.ts';

let stage: Stage;
beforeEach(() => {
  stage = makeStage();
});

const names = () => stage.lines.map(line => JSON.parse(line)[0]);
const refuse = (refused: string) => {
  stage.faults.fateOf = ({ operation }) => (operation === refused ? 'failed' : 'fine');
};

describe('a message that can never be processed', () => {
  const queues = [
    ['events', 'event.refused'],
    ['retries', 'retry.refused'],
  ] as const;

  it.each(queues)('stays in its queue while that of dead letters is out of reach: %s', async queue => {
    refuse('SendMessage');
    stage.send(queue, 'no JSON');
    await stage.pass(100);
    expect(stage.deferrals()).toEqual(['InternalServerError']);
    expect(stage.deadLetters()).toEqual([]);
    expect(stage.waiting(queue)).toHaveLength(1);
  });

  it.each(queues)('is logged, and then deleted at once: %s', async (queue, name) => {
    let wasLogged = false;
    stage.faults.fateOf = ({ operation }) => {
      if (operation === 'DeleteMessage') wasLogged = names().includes(name);
      return 'fine';
    };
    stage.send(queue, 'no JSON');
    await stage.pass(1);
    expect(wasLogged).toBe(true);

    expect(stage.deadLetters()).toHaveLength(1);
    expect(stage.waiting(queue)).toEqual([]);
  });

  it('is a dead letter even if it cannot be deleted', async () => {
    refuse('DeleteMessage');
    stage.publish('no JSON');
    await stage.pass(100);
    expect(stage.deferrals()).toEqual([]);
    expect(stage.deadLetters()).toHaveLength(1);
    expect(names().filter(name => name === 'message.not_deleted')).toHaveLength(1);
  });

  it('is one without a sender if that is unknown: SQS would refuse an empty attribute', async () => {
    stage.publish('no JSON', {}, '');
    await stage.pass(1);
    expect(stage.deadLetters()).toEqual([expect.not.objectContaining({ sender: expect.anything() })]);
  });
});
