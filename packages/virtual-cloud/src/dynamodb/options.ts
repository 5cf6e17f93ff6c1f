import { notImplemented } from './errors.ts';

/** @throws where a request has an option that is not among the known ones: it would be overlooked. */
export function checkOptions(request: object, known: ReadonlySet<string>): void {
  for (const [option, value] of Object.entries(request)) {
    if (value !== undefined && !known.has(option)) throw notImplemented(`the option ${option}`);
  }
}
