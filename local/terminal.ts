import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { type LogLine, readLogLine } from './log-line.ts';

/** Where the local run speaks. */
export interface Terminal {
  /** A line as it is. */
  say(text?: string): void;
  /** A step of the start: what is being done and how long it took. */
  step<Result>(text: string, work: () => Promise<Result>): Promise<Result>;
  /** A line from one part of the cloud, under its name. */
  note(source: string, text: string, level?: LogLine['level']): void;
  /** A line of a function's output, under the function's name. */
  log(source: string, line: string): void;
}

/** The part of a stream that is used. */
export type Output = Pick<WriteStream, 'write'> & { readonly isTTY?: boolean };

/** Opens the terminal. Each source gets a colour of its own, in the order of appearance. */
export function openTerminal(
  output: Output,
  variables: Record<string, string | undefined>,
  now: () => Date = () => new Date(),
): Terminal {
  const isColoured = wantsColour(output, variables);
  const paint = (style: Style | undefined, text: string): string =>
    isColoured && style ? styleText(style, text, { validateStream: false }) : text;
  const styles = new Map<string, Style>();

  const styleOf = (source: string): Style => {
    const known = styles.get(source) ?? palette[styles.size % palette.length] ?? 'cyan';
    styles.set(source, known);
    return known;
  };
  /** The step under way; on a terminal it stays the last line. */
  let under = '';
  const draw = (): void => void (isColoured && under !== '' && output.write(paint('gray', `${under} …`)));
  const erase = (): void => void (isColoured && under !== '' && output.write('\r\u001b[K'));
  const say = (text = ''): void => {
    erase();
    output.write(`${text}\n`);
    draw();
  };
  const note: Terminal['note'] = (source, text, level = 'info') => {
    const time = now().toTimeString().slice(0, 8);
    const label = level === 'info' || level === 'debug' ? '' : `${level.toUpperCase()}  `;
    const name = paint(styleOf(source), source.padEnd(nameWidth));
    say(`${paint('gray', time)}  ${name}  ${paint(levelStyles[level], label + inOneLine(text))}`);
  };

  return {
    say,
    note,
    log: (source, line) => {
      const read = readLogLine(line);
      if (read) note(source, read.text, read.level);
    },
    step: async (text, work) => {
      const startedAt = now().getTime();
      under = text;
      draw();
      try {
        const result = await work();
        const seconds = ((now().getTime() - startedAt) / 1000).toFixed(1);
        erase();
        under = '';
        say(`${text} ${paint('gray', `${seconds} s`)}`);
        return result;
      } finally {
        erase();
        under = '';
      }
    },
  };
}

/** Whether colours are welcome: on a terminal, unless NO_COLOR is set (no-color.org). */
function wantsColour(output: Output, variables: Record<string, string | undefined>): boolean {
  return output.isTTY === true && !variables.NO_COLOR;
}

type Style = Parameters<typeof styleText>[0];

const palette: readonly Style[] = ['cyan', 'magenta', 'green', 'blue', 'yellow', 'cyanBright', 'magentaBright'];

const nameWidth = 20;

const levelStyles: Readonly<Record<LogLine['level'], Style | undefined>> = {
  debug: 'gray',
  info: undefined,
  warn: 'yellow',
  error: 'red',
};

/** Control characters as escapes: a path, or what a function writes, may hold what a terminal would obey. */
function inOneLine(text: string): string {
  return text.replace(/[^\P{Cc}\t]/gu, character => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
