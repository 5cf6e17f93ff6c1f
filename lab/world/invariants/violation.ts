/** A violation of an invariant. `subjectId` is the id of the affected delivery, request or session. */
export interface Violation {
  readonly message: string;
  readonly subjectId?: string;
}

export type Violate = (message: string, subjectId?: string) => void;

/** The checks for one kind of guarantee. */
export interface Check {
  readonly checkDuringRun?: () => void;
  /** Checks the state at the end, when all work should be finished. */
  readonly checkAtEnd?: () => void;
}

/** Creates a collector of violations. It removes duplicates. */
export function makeViolations() {
  const violations = new Map<string, Violation>();
  return { violate, all: (): readonly Violation[] => [...violations.values()] };

  function violate(message: string, subjectId?: string): void {
    violations.set(`${message} ${subjectId ?? ''}`, { message, ...(subjectId !== undefined && { subjectId }) });
  }
}
