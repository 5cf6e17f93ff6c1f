/** Exports the settings of the emulated Internet, for programs that map host names. */
export type { NetworkSettings } from './internet/host-map.ts';
export { parseMapping } from './internet/hosts-file.ts';
