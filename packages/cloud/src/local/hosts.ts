/** The names of the emulated Internet, for programs that map them. */
export type { NetworkSettings } from './internet/host-map.ts';
export { parseMapping } from './internet/hosts-file.ts';
