declare module 'dynalite' {
  import type { Server } from 'node:http';

  interface Options {
    /** Directory of the LevelDB store; in memory without it. */
    path?: string;
    createTableMs?: number;
  }

  const dynalite: (options: Options) => Server;
  export = dynalite;
}
