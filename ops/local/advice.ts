import type { StartError, StartProblem } from '@emissor/cloud/errors';

/** Returns the message of an error, with the option that helps. */
export function withAdvice({ message, problem }: StartError): string {
  return problem === undefined ? message : advised[problem](message);
}

const advised: Readonly<Record<StartProblem, (message: string) => string>> = {
  'port-in-use': message =>
    `${message}, perhaps by another run: end that, or choose others with --port N (a run takes N to N+5; 0 takes any free ones).`,
  'port-refused': message => `${message}: choose another --port, from 1024 up.`,
  'outputs-unwritable': message => `${message}. Choose another file with --outputs.`,
  'data-in-use': message => `${message}: end that one, or name another directory with --data.`,
  'data-unfit': message => `${message}: use a fresh --data.`,
  'data-damaged': message => `${message}. Restore it from a copy, or name another directory with --data.`,
};
