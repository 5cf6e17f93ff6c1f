import { type Command, Option } from 'commander';
import type { RejectedMessage } from '../../lambdas/delivery/event.ts';
import type { Discarded } from './discard.ts';
import { messageId, wholeNumber } from './option-values.ts';
import type { DeadLetter, Queues } from './queues.ts';
import type { KeptLetter, RedriveOptions } from './redrive.ts';
import { fields, iso, printable, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';
import type { ShowProgress } from './terminal.ts';
import { confirm, yesOption } from './terminal.ts';

/** Adds `dlq`. */
export function addDlq(program: Command, run: Run): void {
  const dlq = program
    .command('dlq')
    .description('messages that could not be processed: list, show, redrive, discard')
    .addHelpText('after', examples);

  dlq
    .command('list')
    .description('list messages, with the reason; --json shows their bodies')
    .option('--limit <n>', 'at most so many', wholeNumber(1, 10_000), 100)
    .action(({ limit }: { limit: number }, command: Command) =>
      run(command, (target, progress) => list(target, limit, progress)),
    );

  dlq
    .command('redrive')
    .description('put messages that can be processed now back on their queue; the others stay')
    .option('--rate <n>', 'messages a second', wholeNumber(1, 1_000), 10)
    .option('--limit <n>', 'at most so many', wholeNumber(1, 1_000_000), 1_000)
    .action((options: RedriveOptions, command: Command) =>
      run(command, (target, progress) => redrive(target, options, progress)),
    );

  dlq
    .command('show')
    .description('show one message with its body, and who sent it')
    .argument('<message-id>', 'as list shows it', messageId)
    .action((id: string, _options: object, command: Command) => run(command, target => show(target, id)));

  dlq
    .command('discard')
    .description('delete messages for good: those named, or all that were refused for a reason')
    .argument('[message-id...]', 'as list shows it', (id: string, before: string[] = []) => [...before, messageId(id)])
    .addOption(new Option('--reason <reason>', 'all that were refused for it').choices(['malformed', 'unknown_event']))
    .addOption(yesOption())
    .addHelpText('after', examples)
    .action(async (ids: string[] = [], { reason, yes }: DiscardOptions, command: Command) => {
      if ((ids.length === 0) === (reason === undefined)) {
        command.error('error: name the messages to discard by their ids, or by --reason.');
      }
      const discarded = reason === undefined ? { ids } : { reason };
      await run(command, (target, progress) => discard(target, discarded, yes, progress));
    });
}

const examples = `
Messages are named by the id they were published under. While a command works on messages no other one sees them. What is
malformed, or names no event we know, only its publisher can mend: discard it when that is done. The alarm rings for new
messages, whatever is there already.

Examples:
  npm run ops -- dlq list
  npm run ops -- dlq show 87d3a375-8574-4978-998f-80aa10f241f1
  npm run ops -- dlq discard 87d3a375-8574-4978-998f-80aa10f241f1
  npm run ops -- dlq discard --reason malformed --yes
  npm run ops -- --stage prod dlq redrive --rate 5 --limit 1000`;

async function list(target: Target, limit: number, progress: ShowProgress): Promise<Report> {
  const letters: Listed[] = [];
  const queues = await open(target);
  const inHand = await queues.countInHand();
  for await (const letter of queues.deadLetters(limit)) {
    letters.push(shown(letter));
    progress(`Found ${letters.length} messages so far`);
  }
  const stillInHand = Math.min(inHand, await queues.countInHand());
  const columns = [
    { heading: 'MESSAGE ID', cell: ({ messageId }: Listed) => messageId },
    { heading: 'SENT', cell: ({ sentAt }: Listed) => sentAt ?? '-' },
    { heading: 'REASON', cell: ({ reason }: Listed) => reason ?? 'received too often' },
    { heading: 'DETAIL', cell: ({ detail }: Listed) => detail ?? '-' },
  ];
  return {
    json: letters,
    text: table(letters, columns, 'The dead-letter queue shows no message.') + more(stillInHand),
  };
}

async function redrive(target: Target, options: RedriveOptions, progress: ShowProgress): Promise<Report> {
  const { redriveDeadLetters } = await import('./redrive.ts');
  const { moved, kept, inHand } = await redriveDeadLetters(await open(target), options, progress);
  const columns = [
    { heading: 'MESSAGE ID', cell: ({ messageId }: KeptLetter) => messageId },
    { heading: 'KEPT BECAUSE', cell: ({ detail }: KeptLetter) => detail },
  ];
  const keptLines = kept.length === 0 ? '' : `\n\n${table(kept, columns, '')}`;
  const text = `Moved ${moved}, kept ${kept.length}.${keptLines}${more(inHand)}`;
  return { json: { moved, kept, inHand }, text };
}

async function show(target: Target, id: string): Promise<Report> {
  const { findDeadLetter } = await import('./discard.ts');
  const { letter, copies } = await findDeadLetter(await open(target), id);
  const json = { ...shown(letter), copies };
  const lines = fields([
    ['message', json.messageId],
    ['sent', json.sentAt ?? '-'],
    ['sender', json.sender ?? '-'],
    ['reason', json.reason ?? 'received too often'],
    ['detail', json.detail ?? '-'],
    ...(copies > 1 ? ([['copies', String(copies)]] as const) : []),
  ]);
  return { json, text: `${lines}\n\n${printable(json.body)}` };
}

interface DiscardOptions {
  readonly reason?: RejectedMessage['reason'];
  readonly yes?: boolean;
}

async function discard(
  target: Target,
  discarded: Discarded,
  yes: boolean | undefined,
  progress: ShowProgress,
): Promise<Report> {
  const { discardDeadLetters } = await import('./discard.ts');
  const which = 'ids' in discarded ? discarded.ids.join(', ') : `of every message refused as ${discarded.reason}`;
  await confirm(`This deletes the dead letter ${which} of ${target.label} for good.`, yes);
  const removed = await discardDeadLetters(await open(target), discarded, progress);
  return { json: { discarded: removed }, text: `Discarded ${removed}.` };
}

type Listed = ReturnType<typeof shown>;

async function open(target: Target): Promise<Queues> {
  return (await import('./queues.ts')).openQueues(target);
}

/** What is shown of a dead letter: the id and the time it was published under. */
function shown({ origin: { messageId, sentAt }, body, reason, detail, sender }: DeadLetter) {
  return {
    messageId,
    body,
    sentAt: iso(sentAt),
    reason,
    detail,
    sender,
  };
}

/** Tells that the queue may hold more than was seen. */
function more(inHand: number): string {
  return inHand === 0
    ? ''
    : `\n\nAbout ${inHand} more may be in the hands of another command: they show again within a minute.`;
}
