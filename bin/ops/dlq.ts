import type { Command } from 'commander';
import { wholeNumber } from './option-values.ts';
import type { DeadLetter, Queues } from './queues.ts';
import type { KeptLetter, RedriveOptions } from './redrive.ts';
import { iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';

const open = async (target: Target): Promise<Queues> => (await import('./queues.ts')).openQueues(target);

/** Tells that the queue may hold more than was seen. */
const more = (inHand: number): string =>
  inHand === 0
    ? ''
    : `\n\nAbout ${inHand} more may be in the hands of another command: they show again within a minute.`;

/** What is shown of a dead letter: the id and the time it was published under. */
const shown = ({ origin: { messageId, sentAt }, body, reason, detail }: DeadLetter) => ({
  messageId,
  body,
  sentAt: iso(sentAt),
  reason,
  detail,
});
type Listed = ReturnType<typeof shown>;

const list = async (target: Target, limit: number): Promise<Report> => {
  const letters: Listed[] = [];
  const queues = await open(target);
  const inHand = await queues.countInHand();
  for await (const letter of queues.deadLetters(limit)) letters.push(shown(letter));
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
};

const redrive = async (target: Target, options: RedriveOptions): Promise<Report> => {
  const { redriveDeadLetters } = await import('./redrive.ts');
  const { moved, kept, inHand } = await redriveDeadLetters(await open(target), options);
  const columns = [
    { heading: 'MESSAGE ID', cell: ({ messageId }: KeptLetter) => messageId },
    { heading: 'KEPT BECAUSE', cell: ({ detail }: KeptLetter) => detail },
  ];
  const keptLines = kept.length === 0 ? '' : `\n\n${table(kept, columns, '')}`;
  const text = `Moved ${moved}, kept ${kept.length}.${keptLines}${more(inHand)}`;
  return { json: { moved, kept, inHand }, text };
};

const examples = `
Messages are named by the id they were published under. While a command works on messages no other one sees them.

Examples:
  npm run ops -- dlq list
  npm run ops -- --stage prod dlq redrive --rate 5 --limit 1000`;

/** Adds `dlq`. */
export const addDlq = (program: Command, run: Run): void => {
  const dlq = program
    .command('dlq')
    .description('messages that could not be processed: list, redrive')
    .addHelpText('after', examples);

  dlq
    .command('list')
    .description('list messages, with the reason; --json shows their bodies')
    .option('--limit <n>', 'at most so many', wholeNumber(1, 10_000), 100)
    .action(({ limit }: { limit: number }, command: Command) => run(command, target => list(target, limit)));

  dlq
    .command('redrive')
    .description('put messages that can be processed now back on their queue; the others stay')
    .option('--rate <n>', 'messages a second', wholeNumber(1, 1_000), 10)
    .option('--limit <n>', 'at most so many', wholeNumber(1, 1_000_000), 1_000)
    .action((options: RedriveOptions, command: Command) => run(command, target => redrive(target, options)));
};
