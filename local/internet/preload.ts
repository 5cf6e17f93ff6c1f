import { makeAddressBook } from './address-book.ts';
import { divertConnections } from './connections.ts';
import { answerNames } from './names.ts';
import type { PreloadSettings } from './preload-settings.ts';

// Loaded before a function's bundle by `node --import`, so that the bundle needs no switch and its environment stays
// that of Lambda: the settings come with this module's URL.
const settings: PreloadSettings = JSON.parse(new URL(import.meta.url).searchParams.get('settings') ?? '{}');

const book = makeAddressBook({
  builtIn: new Map(settings.builtIn),
  mappings: new Map(settings.mappings),
  ...(settings.hostsFile === undefined ? {} : { hostsFile: settings.hostsFile }),
});
answerNames(book);
divertConnections(book, settings.terminatorPort);
