import type { StartError, StartProblem } from '@emissor/cloud/errors';

/** Returns the message of an error with advice on the option to use. */
export function withAdvice({ message, problem }: StartError): string {
  return problem === undefined ? message : advised[problem](message);
}

const advised: Readonly<Record<StartProblem, (message: string) => string>> = {
  'port-in-use': message =>
    `${message}, perhaps by another run. Stop that run, or choose other ports with --port N (a run uses N to N+5; 0 uses any free ports).`,
  'port-refused': message => `${message}. Choose another --port, 1024 or higher.`,
  'outputs-unwritable': message => `${message}. Choose another file with --outputs.`,
  'data-in-use': message => `${message}. Stop that run, or name another directory with --data.`,
  'data-unfit': message => `${message}. Name an empty directory with --data.`,
  'data-damaged': message => `${message}. Restore it from a copy, or name another directory with --data.`,
};
