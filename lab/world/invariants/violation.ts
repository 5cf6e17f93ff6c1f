/** A broken promise, with the id of the delivery, request or session, if it concerns one. */
export interface Violation {
  readonly what: string;
  readonly about?: string;
}

/** Records a broken promise. */
export type Violate = (what: string, about?: string) => void;

/** Judges one kind of promises. */
export interface Judgement {
  /** Judges what is in flight. */
  readonly look?: () => void;
  /** Judges the state at the end, when all work should be finished. */
  readonly judgeEnd?: () => void;
}

/** Collects broken promises. The same one of the same delivery, request or session counts once. */
export function makeViolations() {
  const violations = new Map<string, Violation>();
  return { violate, all: (): readonly Violation[] => [...violations.values()] };

  function violate(what: string, about?: string): void {
    violations.set(`${what} ${about ?? ''}`, { what, ...(about !== undefined && { about }) });
  }
}
