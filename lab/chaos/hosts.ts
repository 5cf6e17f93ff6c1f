import { makeHostMap } from '@emissor/local-cloud/internet/host-map';
import { type AccountPlan, hostOf } from './registrations.ts';

/** Returns the targets of the host names: receivers while webhooks are registered, afterwards as the receivers' behaviours say. */
export function hostTables(plans: readonly AccountPlan[], port: number) {
  const hosts = plans.flatMap(({ account, behaviours }) =>
    behaviours.map((behaviour, index) => ({ behaviour, host: hostOf(account, index) })),
  );
  const receiver = `http://127.0.0.1:${port}`;
  const before = Object.fromEntries(hosts.map(({ host }) => [host, receiver]));
  const stays = hosts.filter(({ behaviour }) => behaviour.nameChange === undefined).map(({ host }) => host);
  // The name then leads to the address of another receiver, which has no certificate for it.
  const builtIn = new Map([['receiver.example.com', port]]);
  const book = makeHostMap({ builtIn, mappings: new Map(stays.map(host => [host, port])) });
  const addresses = {
    nothing: [],
    loopback: ['127.0.0.1'],
    'someone-elses': book.addressesOf(stays[0] ?? '') ?? [],
  };
  const after = hosts.map(({ behaviour, host }) => [
    host,
    behaviour.nameChange ? addresses[behaviour.nameChange] : { url: receiver, ...behaviour.hostDelays },
  ]);
  return { before, after: Object.fromEntries(after) };
}
