/** The result of one check. `unknown`: it could not be checked, and the text says why. */
export interface Finding {
  readonly state: 'ok' | 'problem' | 'unknown';
  readonly text: string;
  /** The operator's next step about a problem. */
  readonly todo?: string;
}

export function ok(text: string): Finding {
  return { state: 'ok', text };
}

export function problem(text: string, todo: string): Finding {
  return { state: 'problem', text, todo };
}

export function unknown(text: string): Finding {
  return { state: 'unknown', text };
}
