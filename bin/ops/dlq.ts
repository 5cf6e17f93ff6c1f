import { type Command, Option } from 'commander';
import type { DeadLetters, FoundLetter, KeptLetter, Redriven, RedriveOptions, RejectionReason } from './dlq-actions.ts';
import { messageId, wholeNumber } from './option-values.ts';
import type { DeadLetter, Queues } from './queues.ts';
import { fields, iso, printable, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';
import { type Confirmed, confirm, yesOption } from './terminal.ts';

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
      run(
        command,
        async (target, progress) => (await actions()).listLetters(await openQueues(target), limit, progress),
        reportLetters,
      ),
    );

  dlq
    .command('redrive')
    .description('put messages that can be processed now back on their queue; the others stay')
    .option('--rate <n>', 'messages a second', wholeNumber(1, 1_000), 10)
    .option('--limit <n>', 'at most so many', wholeNumber(1, 1_000_000), 1_000)
    .action((options: RedriveOptions, command: Command) =>
      run(
        command,
        async (target, progress) => (await actions()).redriveLetters(await openQueues(target), options, progress),
        reportRedrive,
      ),
    );

  dlq
    .command('show')
    .description('show one message with its body, and who sent it')
    .argument('<message-id>', 'as list shows it', messageId)
    .action((id: string, _options: object, command: Command) =>
      run(command, async target => (await actions()).findLetter(await openQueues(target), id), reportLetter),
    );

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
      const wanted = reason === undefined ? { ids } : { reason };
      await run(
        command,
        async (target, progress) => {
          const which = reason === undefined ? ids.join(', ') : `of every message refused as ${reason}`;
          await confirm(`This deletes the dead letter ${which} of ${target.label} for good.`, yes);
          return (await actions()).discardLetters(await openQueues(target), wanted, progress);
        },
        reportDiscarded,
      );
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

interface DiscardOptions extends Confirmed {
  readonly reason?: RejectionReason;
}

function actions() {
  return import('./dlq-actions.ts');
}

async function openQueues(target: Target): Promise<Queues> {
  return (await import('./queues.ts')).openQueues(target);
}

function reportLetters({ letters, inFlight }: DeadLetters): Report {
  const rows = letters.map(viewLetter);
  const columns = [
    { heading: 'MESSAGE ID', cell: ({ messageId }: LetterView) => messageId },
    { heading: 'SENT', cell: ({ sentAt }: LetterView) => sentAt ?? '-' },
    { heading: 'REASON', cell: ({ reason }: LetterView) => reason ?? 'received too often' },
    { heading: 'DETAIL', cell: ({ detail }: LetterView) => detail ?? '-' },
  ];
  return { json: rows, text: table(rows, columns, 'The dead-letter queue shows no message.') + more(inFlight) };
}

function reportRedrive({ moved, kept, inFlight }: Redriven): Report {
  const columns = [
    { heading: 'MESSAGE ID', cell: ({ messageId }: KeptLetter) => messageId },
    { heading: 'KEPT BECAUSE', cell: ({ detail }: KeptLetter) => detail },
  ];
  const keptLines = kept.length === 0 ? '' : `\n\n${table(kept, columns, '')}`;
  const text = `Moved ${moved}, kept ${kept.length}.${keptLines}${more(inFlight)}`;
  return { json: { moved, kept, inHand: inFlight }, text };
}

function reportLetter({ letter, copies }: FoundLetter): Report {
  const json = { ...viewLetter(letter), copies };
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

function reportDiscarded(discarded: number): Report {
  return { json: { discarded }, text: `Discarded ${discarded}.` };
}

type LetterView = ReturnType<typeof viewLetter>;

/** The JSON of a dead letter, with the id and the time of its publication. */
function viewLetter({ origin: { messageId, sentAt }, body, reason, detail, sender }: DeadLetter) {
  return {
    messageId,
    body,
    sentAt: iso(sentAt),
    reason,
    detail,
    sender,
  };
}

/** A note that the queue may hold more than it showed. */
function more(inFlight: number): string {
  return inFlight === 0
    ? ''
    : `\n\nAbout ${inFlight} more may be in the hands of another command: they show again within a minute.`;
}
