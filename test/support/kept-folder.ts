import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/**
 * Returns a folder of the user's cache directory, which is made where it is not there. Another run, or another suite of this one, may be making
 * the same: each fills a draft beside the place, the first that is complete is kept, and the others are removed.
 *
 * @param name - it says the versions of all that is in it.
 * @param fill - fills the draft.
 */
export async function keptFolder(name: string, fill: (draft: string) => unknown): Promise<string> {
  const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'emissor');
  const folder = path.join(cache, name);
  if (existsSync(folder)) return folder;
  mkdirSync(path.dirname(folder), { recursive: true });
  const draft = mkdtempSync(path.join(cache, 'draft-'));
  try {
    await fill(draft);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
