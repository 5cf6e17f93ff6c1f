/** The names of the emulated Internet, for programs that map them, or resolve and divert by themselves. */
export { divertConnections } from './internet/connections.ts';
export type { NetworkSettings } from './internet/host-map.ts';
export { parseMapping } from './internet/hosts-file.ts';
