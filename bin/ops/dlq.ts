import type { Command } from 'commander';
import { wholeNumber } from './option-values.ts';
import type { DeadLetter, Queues } from './queues.ts';
import type { KeptLetter, RedriveOptions } from './redrive.ts';
import { type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';

const open = async (target: Target): Promise<Queues> => (await import('./queues.ts')).openQueues(target);

const list = async (target: Target, limit: number): Promise<Report> => {
  const letters: DeadLetter[] = [];
  for await (const letter of (await open(target)).deadLetters({ limit, hiddenSeconds: 10 })) letters.push(letter);
  const columns = [
    { heading: 'MESSAGE ID', cell: ({ messageId }: DeadLetter) => messageId },
    { heading: 'SENT', cell: ({ sentAt }: DeadLetter) => sentAt ?? '-' },
    { heading: 'REASON', cell: ({ reason }: DeadLetter) => reason ?? 'received too often' },
    { heading: 'DETAIL', cell: ({ detail }: DeadLetter) => detail ?? '-' },
  ];
  return {
    json: letters.map(({ receipt: _receipt, ...letter }) => letter),
    text: table(
      letters,
      columns,
      'The dead-letter queue shows no message (one just looked at is hidden for a moment).',
    ),
  };
};

const redrive = async (target: Target, options: RedriveOptions): Promise<Report> => {
  const { redriveDeadLetters } = await import('./redrive.ts');
  const { moved, kept } = await redriveDeadLetters(await open(target), options);
  const columns = [
    { heading: 'MESSAGE ID', cell: ({ messageId }: KeptLetter) => messageId },
    { heading: 'KEPT BECAUSE', cell: ({ detail }: KeptLetter) => detail },
  ];
  const keptLines = kept.length === 0 ? '' : `\n\n${table(kept, columns, '')}`;
  return { json: { moved, kept }, text: `Moved ${moved}, kept ${kept.length}.${keptLines}` };
};

const examples = `
A message that one command has looked at is hidden from the next: for 10 seconds by list, for 60 by redrive.

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
