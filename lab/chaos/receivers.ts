import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeNow, listen } from '../../tools/support/listen.ts';
import { receiverBehaviours } from './receiver-behaviours.ts';

/** A delivery as it arrived. */
export interface Arrival {
  readonly deliveryId: string;
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

/**
 * Starts the receivers, all of them one plain HTTP server of this process. The path of each is the index of its behaviour; their
 * names differ. Requests to another path are counted: the target of a redirect.
 */
export async function startReceivers() {
  const arrivals: Arrival[] = [];
  let followed = 0;
  const server = createServer(async (request, response) => {
    const { host, authorization, 'webhook-id': id } = request.headers;
    const behaviour = receiverBehaviours[Number(request.url?.slice(1))];
    if (!behaviour) {
      followed += 1;
      response.writeHead(204).end();
      return;
    }
    const body = await text(request).catch(() => undefined); // cut off with the process that sent it
    if (body === undefined) return;
    const deliveryId = String(id);
    const earlier = arrivals.filter(arrival => arrival.deliveryId === deliveryId).length;
    arrivals.push({ deliveryId, host, authorization, body });
    response.on('error', () => undefined);
    behaviour.answer({ request, response, earlier });
  });
  return {
    port: await listen(server),
    arrivals,
    followed: () => followed,
    stop: () => void closeNow(server),
  };
}
