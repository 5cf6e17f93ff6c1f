import type { StartError, StartProblem } from '@emissor/cloud/errors';

/** Returns the message of an error, with the option that solves the problem. */
export function describeStartError({ message, problem }: StartError): string {
  return problem === undefined ? message : adviceByProblem[problem](message);
}

const adviceByProblem: Readonly<Record<StartProblem, (message: string) => string>> = {
  'port-in-use': message =>
    `${message}, perhaps by another run. Stop that run, or choose other ports with --port N (a run uses the ports N to N+5, or any free ports if N is 0).`,
  'port-refused': message => `${message}. Choose another --port, 1024 or higher.`,
  'outputs-unwritable': message => `${message}. Choose another file with --outputs.`,
  'data-in-use': message => `${message}. Stop that run, or choose another directory with --data.`,
  'data-unfit': message => `${message}. Choose an empty directory with --data.`,
  'data-damaged': message => `${message}. Restore it from a copy, or choose another directory with --data.`,
};
