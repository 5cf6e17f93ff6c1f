/** A broken promise, and the id of the delivery, request or session that it was broken for, if it is one's. */
export interface Violation {
  readonly what: string;
  readonly about?: string;
}

/** Notes a broken promise. */
export type Violate = (what: string, about?: string) => void;

/** Judges one kind of promises. */
export interface Judgement {
  /** Looks at what is in flight. */
  readonly look?: () => void;
  /** Judges what is left when all should have come to rest. */
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
