/** A line of a function's output in readable form. */
export interface LogLine {
  readonly text: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
}

/**
 * Makes a line of a function's output readable. Structured lines (Powertools, Lambda) become
 * `message key=value …`; metrics (CloudWatch embedded metric format) are hidden; anything else passes as it is.
 *
 * @returns `undefined` for a line that is not to be shown.
 */
export function readLogLine(line: string): LogLine | undefined {
  if (line.trim() === '') return undefined;
  let content: unknown;
  try {
    content = JSON.parse(line);
  } catch {
    return { text: line, level: 'info' };
  }
  if (!isRecord(content)) return { text: line, level: 'info' };
  if ('_aws' in content) return undefined;
  if (typeof content.message !== 'string' && !('level' in content)) return { text: line, level: 'info' };
  const parts = [
    String(content.message ?? ''),
    ...Object.entries(content)
      .filter(([key]) => !routine.has(key))
      .map(pair),
    describeError(content.error),
    firstFrame(content.stack),
  ];
  return {
    text: parts
      .filter(part => part !== '')
      .join('  ')
      .replaceAll(/\s*\n\s*/g, ' '),
    level: levels[String(content.level).toUpperCase()] ?? 'info',
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fields of every structured line that are of no use in a terminal. */
const routine = new Set(
  (
    'level message timestamp service cold_start function_arn function_memory_size function_name function_request_id requestId ' +
    'sampling_rate xray_trace_id stack error'
  ).split(' '),
);

/** `key=value`; values with blanks are quoted. */
function pair([key, value]: readonly [string, unknown]): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return `${key}=${/^[^\s"]+$/.test(text) || typeof value !== 'string' ? text : JSON.stringify(text)}`;
}

/** `TypeError: message (where)`, of an error as the logger writes it. */
function describeError(error: unknown): string {
  if (!isRecord(error)) return '';
  const { name = 'Error', message, location } = error;
  return `${String(name)}${message ? `: ${String(message)}` : ''}${location ? ` (${String(location)})` : ''}`;
}

/** Returns where an error was thrown: the first frame of a stack in list form. */
function firstFrame(stack: unknown): string {
  return Array.isArray(stack) && stack.length > 0 ? String(stack[0]) : '';
}

const levels: Readonly<Record<string, LogLine['level']>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
  CRITICAL: 'error',
};
