import { ServiceError } from './emulator.ts';

/** Returns whether a query of CloudWatch Logs Insights is for a line. */
export type MatchesQuery = (line: string) => boolean;

/**
 * Reads the filters of a query. Lines come the newest first, with time and text, whatever else it says.
 *
 * @throws {ServiceError} for a filter that is not emulated: to ignore it would find too much.
 */
export function parseLogQuery(query: string): MatchesQuery {
  const filters = query
    .split(/\s*\|\s*(?=(?:fields|filter|sort|limit|stats)\b)/)
    .filter(command => command.startsWith('filter'))
    .map(parseFilter);
  return line => filters.every(matches => matches(line));
}

function parseFilter(filter: string): MatchesQuery {
  const { text } = messageFilter.exec(filter)?.groups ?? {};
  if (text !== undefined) return line => line.includes(text);
  const { field, values } = fieldFilter.exec(filter)?.groups ?? {};
  if (field === undefined || values === undefined) {
    throw new ServiceError('MalformedQueryException', `This filter is not emulated: ${filter}`);
  }
  const allowed = new Set([...values.matchAll(/"([^"]*)"/g)].map(([, value]) => value));
  return line => allowed.has(fieldOf(line, field));
}

/** A text in quotation marks, or a regular expression that means nothing but itself. */
const messageFilter = /^filter @message like (?<mark>["/])(?<text>[^"/]*)\k<mark>$/;

/** A field that has one of several values. */
const fieldFilter = /^filter (?<field>\w+) in \[(?<values>"[^"]*"(?:, ?"[^"]*")*)\]$/;

/** Returns a field of a line that is a JSON object, as text. */
function fieldOf(line: string, field: string): string | undefined {
  try {
    const { [field]: value } = Object(JSON.parse(line));
    return value === undefined ? undefined : String(value);
  } catch {
    return undefined;
  }
}
