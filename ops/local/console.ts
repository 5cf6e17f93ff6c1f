import { portError } from '@emissor/local-cloud/errors';
import { makeOperatorSource } from '../console/operator-source.ts';
import { startConsole } from '../console/server.ts';
import { localTarget } from '../stage/target.ts';

/**
 * Starts the console of a local run. It listens before the run does, so that a port in use is told at once; it has something to
 * show from `show` on.
 *
 * @throws {StartError} where the port cannot be had.
 */
export async function startLocalConsole(port: number) {
  let source = makeOperatorSource(localTarget({}));
  const running = await startConsole(() => source, port).catch(error => {
    throw portError(error, port);
  });
  return {
    ...running,
    /** Shows the run with these outputs. */
    show: (outputs: object): void => {
      source = makeOperatorSource(localTarget({ ...outputs }));
    },
  };
}
