import { createInterface } from 'node:readline';
import { command, type Noun } from '../audit/command.ts';
import { argument, jsonOutput, option } from '../command-line/arg-spec.ts';
import { ordinaryAccountId, wholeNumber } from '../command-line/forms.ts';
import type { Streams } from '../command-line/terminal.ts';
import { untilInterrupted } from '../command-line/until-interrupted.ts';
import { openSupport } from './support.ts';

const examples = `
The console shows the webhooks and deliveries of the account, with bodies, as its admins see them. The console is read-only.
The command creates a client and a user of the account with the scope webhooks:read, and deletes both after an hour or after
Ctrl-C. If the command is killed, the secret of the client expires after the hour, and the next "support" for the account
deletes both. With --json, the first line is {"link"}.

Examples:
  npm run ops -- support acme
  npm run ops -- --stage prod support acme --port 4005`;

export function support({ stdin, stdout, interruption }: Streams): Noun {
  const open = command('support', {
    description: 'open a read-only console for an account, for an hour or until Ctrl-C; the command is audited',
    notes: examples,
    args: {
      account: argument('account', 'the id of the account', ordinaryAccountId),
      port: option('<n>', 'the port on 127.0.0.1, or 0 for any free port', wholeNumber(0, 65_535), 0),
      isQuiet: jsonOutput,
    },
    effect: 'writes',
    act: async (task, { account, port, isQuiet }) => {
      const lines = stdin.isTTY ? createInterface({ input: stdin }) : undefined;
      const show = (link: string) => stdout.write(isQuiet ? `${JSON.stringify({ link })}\n` : `console  ${link}\n`);
      const onOpen = (makeLink: () => string) => {
        show(makeLink());
        task.print(
          'Each link works once. Press Enter for another link. The console closes after an hour or when you press Ctrl-C.',
        );
        lines?.on('line', () => show(makeLink()));
      };
      const act = (signal: AbortSignal) => openSupport(task, { account, port, interruption: signal, onOpen });
      await untilInterrupted(act, task.print, interruption).finally(() => lines?.close());
    },
    subject: (_task, { account }) => ({ account }),
    report: (_value, { account }) => ({
      json: { account, ended: true },
      text: `Ended. The temporary login of account ${account} is deleted.`,
    }),
  });
  return { name: 'support', commands: [open] };
}
