/** A violation, with the id of the delivery, request or session that it concerns, if any. */
export interface Violation {
  readonly what: string;
  readonly about?: string;
}

/** Records a violation. */
export type Violate = (what: string, about?: string) => void;

/** Judges one kind of guarantee. */
export interface Judgement {
  /** Judges the state while work is in flight. */
  readonly look?: () => void;
  /** Judges the state at the end, when all work should be finished. */
  readonly judgeEnd?: () => void;
}

/** Collects violations. The same violation of the same delivery, request or session counts once. */
export function makeViolations() {
  const violations = new Map<string, Violation>();
  return { violate, all: (): readonly Violation[] => [...violations.values()] };

  function violate(what: string, about?: string): void {
    violations.set(`${what} ${about ?? ''}`, { what, ...(about !== undefined && { about }) });
  }
}
