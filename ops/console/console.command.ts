import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { command, type Noun } from '../audit/command.ts';
import { wholeNumber } from '../command-line/forms.ts';
import type { Streams } from '../command-line/terminal.ts';
import { untilInterrupted } from '../command-line/until-interrupted.ts';
import { option } from '../command-line/words.ts';
import { CliError } from '../stage/operator.ts';
import type { Task } from '../stage/target.ts';
import { makeOperatorSource } from './operator-source.ts';
import { describePort, startConsole } from './server.ts';

export function consolePages(streams: Streams): Noun {
  const serving = command('console', {
    about: 'pages that show what happens and mend it, on 127.0.0.1, with your own credentials',
    notes: `
It prints a link that opens the console once, within an hour; Enter prints another one, and so does any line on standard
input where that is no terminal. A session ends after an hour without a click; all end with the console, by Ctrl-C. What
a page changes leaves an audit line, as a command does.

Examples:
  npm run ops -- console
  npm run ops -- --stage prod console`,
    given: { port: option('<number>', 'where it listens; 0 takes any free port', wholeNumber(0, 65_535), 0) },
    effect: 'reads',
    act: (task, { port }) => serve(task, port, streams),
    report: url => ({ json: { url }, text: 'The console has ended.' }),
  });
  return { name: 'console', commands: [serving] };
}

/** Serves the pages until it is interrupted. Returns their address, without a token. */
async function serve({ target, tell }: Task, port: number, { stdin, stdout, interruption }: Streams): Promise<string> {
  const source = makeOperatorSource(target);
  const running = await startConsole(() => source, port).catch(error => {
    const problem = describePort(error, port);
    throw problem === undefined ? error : new CliError(problem);
  });
  const showLink = () => stdout.write(`Console: ${running.makeLink()}\n`);
  showLink();
  const lines = createInterface({ input: stdin }).on('line', showLink);
  await untilInterrupted(
    async signal => {
      if (!signal.aborted) await once(signal, 'abort');
      lines.close();
      await running.stop();
      await source.operator?.endRedrive(); // it would go on unseen, and hold the process
    },
    tell,
    interruption,
  );
  return running.url;
}
