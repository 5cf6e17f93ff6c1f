import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { type LogLine, readLogLine } from './log-line.ts';

/** The output of the local run. */
export interface Terminal {
  /** Writes a line as it is. */
  say(text?: string): void;
  /** Shows a step of the start and how long it took. */
  step<Result>(text: string, work: () => Promise<Result>): Promise<Result>;
  /** Writes a line of one part of the cloud, with its name. */
  note(source: string, text: string, level?: LogLine['level']): void;
  /** Writes a line of a function's output, with the function's name. */
  log(source: string, line: string): void;
}

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
  /** The current step. On a terminal it stays the last line. */
  let currentStep = '';
  const draw = (): void => void (isColoured && currentStep !== '' && output.write(paint('gray', `${currentStep} …`)));
  const erase = (): void => void (isColoured && currentStep !== '' && output.write('\r\u001b[K'));
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
      currentStep = text;
      draw();
      try {
        const result = await work();
        const seconds = ((now().getTime() - startedAt) / 1000).toFixed(1);
        erase();
        currentStep = '';
        say(`${text} ${paint('gray', `${seconds} s`)}`);
        return result;
      } finally {
        erase();
        currentStep = '';
      }
    },
  };
}

/** Colours are used on a terminal, unless NO_COLOR is set (no-color.org). */
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

/** Escapes control characters: a path, or the output of a function, may contain terminal commands. */
function inOneLine(text: string): string {
  return text.replace(/[^\P{Cc}\t]/gu, character => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
