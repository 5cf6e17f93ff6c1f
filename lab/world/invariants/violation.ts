/** A violation of an invariant. `about` is the id of the affected delivery, request or session. */
export interface Violation {
  readonly what: string;
  readonly about?: string;
}

/** Records a violation. */
export type Violate = (what: string, about?: string) => void;

/** The checks of one kind of guarantee. */
export interface Judgement {
  /** Checks the state during the run. */
  readonly look?: () => void;
  /** Checks the state at the end, when all work should be finished. */
  readonly judgeEnd?: () => void;
}

/** Creates a collector of violations. It removes duplicates. */
export function makeViolations() {
  const violations = new Map<string, Violation>();
  return { violate, all: (): readonly Violation[] => [...violations.values()] };

  function violate(what: string, about?: string): void {
    violations.set(`${what} ${about ?? ''}`, { what, ...(about !== undefined && { about }) });
  }
}
