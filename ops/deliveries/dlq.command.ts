import { type Command, Option } from 'commander';
import { messageId, wholeNumber } from '../command-line/option-values.ts';
import { iso, makeShape, printable, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import type { DeadLetters, KeptLetter, ListedLetter, Redriven, RejectionReason } from './dlq.ts';

/** Adds `dlq`. */
export function addDlq(program: Command, run: Run): void {
  const dlq = program
    .command('dlq')
    .description('messages that could not be processed: list, show, redrive, discard')
    .addHelpText('after', examples);

  const list = run(actions, all => all.listLetters, listed);
  dlq
    .command('list')
    .description('list messages, with the reason; --json shows their bodies')
    .option('--limit <n>', 'show at most n messages', wholeNumber(1, 10_000), 100)
    .action((options: { readonly limit: number }, command: Command) => {
      const { json: bodies = false } = command.optsWithGlobals<{ json?: boolean }>();
      return list({ ...options, bodies });
    });

  dlq
    .command('redrive')
    .description('put messages that can be processed now back on their queue; the others stay')
    .option('--rate <n>', 'messages a second', wholeNumber(1, 1_000), 10)
    .option('--limit <n>', 'move at most n messages', wholeNumber(1, 1_000_000), 1_000)
    .action(run(actions, all => all.redriveLetters, redriven));

  dlq
    .command('show')
    .description('show one message with its body, and who sent it')
    .argument('<message-id>', 'as list shows it', messageId)
    .action(run(actions, all => all.findLetter, shown));

  const discard = run(actions, all => all.discardLetters, discarded);
  dlq
    .command('discard')
    .description('delete messages for good: those named, or all that were refused for a reason')
    .argument('[message-id...]', 'as list shows it', (id: string, before: string[] = []) => [...before, messageId(id)])
    .addOption(new Option('--reason <reason>', 'all that were refused for it').choices(['malformed', 'unknown_event']))
    .addHelpText('after', examples)
    .action((ids: string[] = [], { reason }: { readonly reason?: RejectionReason }, command: Command) => {
      if ((ids.length === 0) === (reason === undefined)) {
        command.error('error: name the messages to discard by their ids, or by --reason.');
      }
      return discard(reason === undefined ? { ids } : { reason });
    });
}

const examples = `
Messages are named by the id they were published under; copies of one are shown, redriven and discarded together. While a
command looks at messages no other one sees them: where it says that others do, repeat it. What is malformed, or names no
event we know, only its publisher can mend: discard it when that is done. The alarm rings for new messages, whatever is there
already.

Examples:
  npm run ops -- dlq list
  npm run ops -- dlq show 87d3a375-8574-4978-998f-80aa10f241f1
  npm run ops -- dlq discard 87d3a375-8574-4978-998f-80aa10f241f1
  npm run ops -- dlq discard --reason malformed --yes
  npm run ops -- --stage prod dlq redrive --rate 5 --limit 1000`;

function actions() {
  return import('./dlq.ts');
}

const letter = makeShape<ListedLetter>([
  { json: 'messageId', heading: 'message', column: 'message id', value: ({ origin }) => origin.messageId },
  { json: 'body', value: ({ body }) => body },
  { json: 'sentAt', heading: 'sent', value: ({ origin }) => iso(origin.sentAt) },
  { heading: 'sender', in: 'show', value: ({ sender }) => sender },
  {
    json: 'reason',
    heading: 'reason',
    value: ({ reason }) => reason,
    text: ({ reason }) => reason ?? 'received too often',
  },
  { json: 'detail', heading: 'detail', value: ({ detail }) => detail },
  { json: 'sender', value: ({ sender }) => sender },
  {
    json: 'copies',
    heading: 'copies',
    value: ({ copies }) => copies,
    text: ({ copies }) => (copies > 1 ? `${copies}` : undefined),
  },
]);

const keptLetter = makeShape<KeptLetter>([
  { heading: 'message id', value: ({ messageId }) => messageId },
  { heading: 'kept because', value: ({ detail }) => detail },
]);

function listed({ letters, inFlight }: DeadLetters): Report {
  return letter.list(inFlight === 0 ? 'There are no dead letters.' : 'The dead-letter queue shows no message now.')(
    letters,
  );
}

function redriven({ moved, kept, inFlight }: Redriven): Report {
  const keptLines = kept.length === 0 ? '' : `\n\n${keptLetter.table(kept, '')}`;
  const text = `Moved ${moved}, kept ${kept.length}.${keptLines}${more(inFlight)}`;
  return { json: { moved, kept, inHand: inFlight }, text };
}

function shown(found: ListedLetter): Report {
  const { json, text } = letter.show(found);
  return { json, text: `${text}\n\n${printable(found.body)}` };
}

function discarded(count: number): Report {
  return { json: { discarded: count }, text: `Discarded ${count}.` };
}

/** Returns a note that the queue may hold more than it showed. */
function more(inFlight: number): string {
  return inFlight === 0
    ? ''
    : `\n\nAbout ${inFlight} more may be in the hands of another command: they show again within a minute.`;
}
