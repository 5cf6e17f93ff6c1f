import { createHash } from 'node:crypto';

/** Something that happened, at its virtual moment. */
export interface Happening {
  readonly at: number;
  readonly kind: 'call' | 'invocation' | 'line' | 'message' | 'process';
  readonly text: string;
  /** What was asked and answered, as JSON; may be empty. */
  readonly detail: string;
}

/** Notes what happens. */
export type Note = (kind: Happening['kind'], text: string, detail?: () => unknown) => void;

/**
 * Makes the record of all that happens.
 *
 * @param leavesOut - what the digest is not to hold: what holds chance of the real world
 * @param keepsTrace - `false` keeps the digest only
 */
export function makeRecord({
  now,
  leavesOut = () => false,
  keepsTrace = true,
}: {
  readonly now: () => number;
  readonly leavesOut?: (happening: Happening) => boolean;
  readonly keepsTrace?: boolean;
}) {
  const hash = createHash('sha256');
  const happenings: Happening[] = [];

  const note: Note = (kind, text, detail) => {
    const happening = { at: now(), kind, text, detail: detail ? JSON.stringify(detail()) : '' };
    if (keepsTrace) happenings.push(happening);
    if (leavesOut(happening)) return;
    hash.update(`${happening.at} ${kind} ${text} ${happening.detail}\n`);
  };

  return {
    note,
    /** Returns a hash of all that has happened so far. */
    digest: () => hash.copy().digest('hex').slice(0, 16),
    /** Returns what has happened, in order. */
    trace: (isWanted: (happening: Happening) => boolean = () => true) => happenings.filter(isWanted),
  };
}
