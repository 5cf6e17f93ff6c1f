import { makeHostMap } from '../../local/internet/host-map.ts';
import { type AccountPlan, hostOf } from './population.ts';

/** What the names lead to: a receiver while webhooks are registered, then whatever the receiver's kind says. */
export function hostTables(plans: readonly AccountPlan[], port: number) {
  const places = plans.flatMap(({ account, kinds }) =>
    kinds.map((kind, place) => ({ kind, host: hostOf(account, place) })),
  );
  const receiver = `http://127.0.0.1:${port}`;
  const before = Object.fromEntries(places.map(({ host }) => [host, receiver]));
  const stays = places.filter(({ kind }) => kind.nameAfterwards === undefined).map(({ host }) => host);
  // The name then leads to the address of another receiver, which has no certificate for it.
  const builtIn = new Map([['receiver.example.com', port]]);
  const book = makeHostMap({ builtIn, mappings: new Map(stays.map(host => [host, port])) });
  const addresses = {
    nothing: [],
    loopback: ['127.0.0.1'],
    'someone-elses': book.addressesOf(stays[0] ?? '') ?? [],
  };
  const after = places.map(({ kind, host }) => [host, kind.nameAfterwards ? addresses[kind.nameAfterwards] : receiver]);
  return { before, after: Object.fromEntries(after) };
}
