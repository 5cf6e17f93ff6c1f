import { once } from 'node:events';
import { openTerminal, startLocalCloud } from '@emissor/cloud/start';

const terminal = openTerminal(process.stdout, process.env);
const cloud = await startLocalCloud({
  app: { root: import.meta.dirname, entry: 'app.ts' },
  apis: { NotesUrl: 4000 },
  workDirectory: '.local',
  terminal,
});
terminal.say(`Notes are at ${cloud.outputs.NotesUrl}/notes/… Ctrl-C stops it.`);
await once(process, 'SIGINT');
await cloud.stop();
