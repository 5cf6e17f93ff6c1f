import { localTarget, type Target } from '../../../ops/stage/target.ts';
import { thisWorld } from '../../../ops/stage/world.ts';

/** Returns a target at which the nth command of a name fails, such as the second `PutCommand`, or something happens before it. */
export function targetFailingAt(
  outputs: Readonly<Record<string, string>>,
  name: string,
  nth: number,
  happens: () => void = fail,
): Target {
  let calls = 0;
  const failing = <Client extends object>(made: Client): Client => {
    const client = made as { send: (command: object) => Promise<unknown> };
    const send = client.send.bind(client);
    client.send = async (command: object) => {
      if (command.constructor.name === name && ++calls === nth) happens();
      return send(command);
    };
    return made;
  };
  return localTarget(outputs, {
    ...thisWorld,
    makeClient: (Service, settings) => failing(thisWorld.makeClient(Service, settings)),
    makeDocumentClient: settings => failing(thisWorld.makeDocumentClient(settings)),
  });
}

/** Interrupts the process, as Ctrl-C does. */
export function interrupt(): void {
  process.emit('SIGINT', 'SIGINT');
}

function fail(): never {
  throw new Error('it ended half-way');
}
