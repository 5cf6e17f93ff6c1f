/** A broken promise, and the delivery that it was broken for, if it is one's. */
export interface Violation {
  readonly what: string;
  readonly deliveryId?: string;
}

/** Notes a broken promise. The same one of the same delivery counts once. */
export type Violate = (what: string, deliveryId?: string) => void;

/** Judges one kind of promises. */
export interface Judgement {
  /** Looks at what is under way. */
  readonly look?: () => void;
  /** Judges what is left when all should have come to rest. */
  readonly judgeEnd?: () => void;
}
