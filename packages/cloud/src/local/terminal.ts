import { styleText } from 'node:util';

/** The output of the local run. */
export interface Terminal {
  /** Writes a line unchanged. */
  print(text?: string): void;
  /** Runs a start-up step and shows its duration. */
  step<Result>(text: string, work: () => Promise<Result>): Promise<Result>;
  /** Writes a line with the time and the name of its source. */
  note(source: string, text: string, level?: Level): void;
  /** Formats and writes a line from a function's output. */
  log(source: string, line: string): void;
}

type Level = keyof typeof styles;

/** An output stream. Terminals receive colours. */
export type Output = Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean };

export function openTerminal(output: Output, now: () => Date = () => new Date()): Terminal {
  return { print, note, log, step };

  function print(text = ''): void {
    output.write(`${text}\n`);
  }

  function note(source: string, text: string, level: Level = 'info'): void {
    const label = level === 'warn' || level === 'error' ? `${level.toUpperCase()}  ` : '';
    const time = now().toTimeString().slice(0, 8);
    print(`${paint('debug', time)}  ${source.padEnd(nameWidth)}  ${paint(level, label + inOneLine(text))}`);
  }

  function log(source: string, line: string): void {
    const entry = readLogLine(line);
    if (entry) note(source, entry.text, entry.level);
  }

  async function step<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
    const startedAt = now().getTime();
    const result = await work();
    print(`${text} ${paint('debug', `${((now().getTime() - startedAt) / 1000).toFixed(1)} s`)}`);
    return result;
  }

  /** Colours a text if the output is a terminal and NO_COLOR is not set (no-color.org). */
  function paint(level: Level, text: string): string {
    return output.isTTY && !process.env.NO_COLOR ? styleText(styles[level], text, { validateStream: false }) : text;
  }
}

const nameWidth = 20;

const styles = { debug: 'gray', info: 'reset', warn: 'yellow', error: 'red' } as const;

/** Escapes control characters, because a path or a function's output may contain terminal commands. */
function inOneLine(text: string): string {
  return text.replace(/[^\P{Cc}\t]/gu, character => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/**
 * Formats a line from a function's output. A structured line becomes `message key=value …`. Returns `undefined` for empty
 * lines and metrics (CloudWatch embedded metric format), which the terminal does not show.
 */
function readLogLine(line: string): { readonly text: string; readonly level: Level } | undefined {
  if (line.trim() === '') return undefined;
  const content = parseRecord(line);
  if (!content) return { text: line, level: 'info' };
  if ('_aws' in content) return undefined;
  const { message = '', level, stack = [], ...fields } = content;
  const visible = Object.entries(fields).filter(([name]) => !hiddenFields.has(name));
  const parts = [
    message,
    ...visible.map(([name, value]) => `${name}=${shortened(value)}`),
    ...[stack].flat().slice(0, 1),
  ];
  return { text: parts.join('  ').replaceAll(/\s*\n\s*/g, ' '), level: levels[String(level)] ?? 'info' };
}

function parseRecord(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const content: unknown = JSON.parse(line);
    return typeof content === 'object' && !Array.isArray(content) ? { ...content } : undefined;
  } catch {
    return undefined;
  }
}

function shortened(value: unknown): string {
  return typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value);
}

/** The fields in structured lines that the terminal does not show. */
const hiddenFields = new Set(['timestamp', 'service', 'requestId', 'function_request_id']);

const levels: Readonly<Record<string, Level>> = { DEBUG: 'debug', WARN: 'warn', ERROR: 'error' };
