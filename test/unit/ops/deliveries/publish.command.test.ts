import { Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { makePublish } from '../../../../ops/deliveries/publish.command.ts';
import { opsRuntime } from '../../../../ops/stage/ops-runtime.ts';
import { localTarget } from '../../../../ops/stage/target.ts';
import { futureEvents, proposalWith } from '../../../support/future-events.ts';
import { aTask } from '../a-task.ts';

// The options of `publish` are defined by the fields of an event catalogue. These tests use fields of each kind.

const proposal = ['--event', 'proposta.recebida', '--demand', '10', '--proposal', '20'];

describe('publish', () => {
  const own = ['--protocol', 'P-1'];
  it.each<[string, readonly string[], unknown]>([
    ['sends the values of all options', [...own, '--sales-channel', 'app', '--value', '990'], proposalWith({})],
    ['omits an option that is not set', own, proposalWith({ canal: undefined, valor: undefined })],
    ['reports a missing option', [], /--protocol is missing/],
    ['reports a long value', ['--protocol', '123456'], /--protocol must be a string of 1 to 5 characters/],
    ['reports a wrong value', [...own, '--sales-channel', 'APP'], /--sales-channel must be a string of 1 to 8/],
    ['reports an invalid number', [...own, '--value', 'much'], /option '--value <n>'/],
  ])('%s', async (_case, words, expected) => {
    const outcome = expected instanceof RegExp ? expect.stringMatching(expected) : expected;
    expect(await published([...proposal, ...words])).toEqual(outcome);
  });

  it('marks optional options in its help', () => {
    const help = publishing([]).commands[0]?.helpInformation() ?? '';
    expect(help).toMatch(/--demand <n> +id_demanda\n/);
    expect(help).toMatch(/--protocol <text> +protocolo, for the events that have one\n/);
    expect(help).toMatch(/--sales-channel <text> +canal, for the events that have one; may be\s+omitted\n/);
  });
});

/** Returns the published message, or the error. */
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

/** Returns a command line with only `publish`, and collects the bodies of the sent messages. */
function publishing(bodies: string[]): Command {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  const send = async ({ input }: { input: { MessageBody?: string } }) => {
    if (input.MessageBody !== undefined) bodies.push(input.MessageBody);
    return { Arn: 'arn:aws:iam::111122223333:user/ana', MessageId: 'message' };
  };
  const makeClient = () => ({ send, middlewareStack: { add: () => {} } }) as never;
  const outputs = { AuditLogGroup: 'audit', EventsQueueUrl: 'https://sqs.example.com/events' };
  const target = localTarget(outputs, { ...opsRuntime, makeClient });
  makePublish(futureEvents).addTo(program.command('publish'), async act => void (await act(aTask(target))));
  return program;
}
