import { Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { makePublish } from '../../../../ops/deliveries/publish.command.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { thisWorld } from '../../../../ops/stage/world.ts';
import { eventsToCome, proposalWith } from '../../../support/events-to-come.ts';
import { aTask } from '../a-task.ts';

// The options of `publish` are made of the fields' rows: here of those of a catalogue with fields of each kind.

const proposal = ['--event', 'proposta.recebida', '--demand', '10', '--proposal', '20'];

describe('publish', () => {
  it('sends the values of all options', async () => {
    const own = ['--protocol', 'P-1', '--sales-channel', 'app', '--value', '990'];
    expect(await published([...proposal, ...own])).toEqual(proposalWith({}));
  });

  it('sends nothing for an option that is left out', async () => {
    const expected = proposalWith({ canal: undefined, valor: undefined });
    expect(await published([...proposal, '--protocol', 'P-1'])).toEqual(expected);
  });

  it.each([
    ['--protocol', [], '--protocol is missing'],
    ['--protocol', ['--protocol', '123456'], '--protocol must be a string of 1 to 5 characters'],
    ['--sales-channel', ['--protocol', 'P-1', '--sales-channel', 'APP'], '--sales-channel must be a string of 1 to 8'],
    ['--value', ['--protocol', 'P-1', '--value', 'much'], "option '--value <n>'"],
  ])('names the option %s that is wrong', async (_option, words, told) => {
    expect(await published([...proposal, ...words])).toContain(told);
  });

  it('says in its help what may be left out', () => {
    const help = publishing([]).commands[0]?.helpInformation() ?? '';
    expect(help).toMatch(/--demand <n> +id_demanda\n/);
    expect(help).toMatch(/--protocol <text> +protocolo, for the events that have one\n/);
    expect(help).toMatch(/--sales-channel <text> +canal, for the events that have one; may be left\s+out\n/);
  });
});

/** Returns the message that is published, or the one line that says why none is. */
async function published(words: readonly string[]): Promise<unknown> {
  const bodies: string[] = [];
  try {
    await publishing(bodies).parseAsync(['publish', '--account', 'acme', ...words], { from: 'user' });
    return JSON.parse(bodies[0] ?? '');
  } catch (error) {
    if (error instanceof CommanderError) return error.message;
    throw error;
  }
}

/** Returns a command line with `publish` alone, at a stage that puts the bodies of its messages on a list. */
function publishing(bodies: string[]): Command {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  const send = async ({ input }: { input: { MessageBody?: string } }) => {
    if (input.MessageBody !== undefined) bodies.push(input.MessageBody);
    return { Arn: 'arn:aws:iam::111122223333:user/ana', MessageId: 'message' };
  };
  const makeClient = () => ({ send, middlewareStack: { add: () => {} } }) as never;
  const outputs = { AuditLogGroup: 'audit', EventsQueueUrl: 'https://sqs.example.com/events' };
  const target = localTarget(outputs, { ...thisWorld, makeClient });
  makePublish(eventsToCome).addTo(program.command('publish'), async act => void (await act(aTask(target))));
  return program;
}
