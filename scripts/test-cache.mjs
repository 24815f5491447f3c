// What tests fetch or build, kept in the user's cache by version, so that a fresh clone does not do it again.

import { existsSync, lstatSync, mkdirSync, symlinkSync, unlinkSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const root = new URL("..", import.meta.url).pathname;

/** Tests that run as root start Envoy as other users, who may not look into root's home. */
const usersCache = process.getuid?.() === 0 ? "/var/cache" : (process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"));

/** `PORTOLAN_TEST_CACHE`, or a folder of the user's cache. */
const cache = process.env.PORTOLAN_TEST_CACHE ?? join(usersCache, "portolan-tests");

/**
 * Makes a folder of this checkout a link to a folder of the cache. One that is there already, link or not, stays.
 *
 * @param {string} path in the checkout, e.g. `.cache/servers`
 * @param {string} version of what it holds: another one has a folder of its own
 */
export function linkToCache(path, version) {
  const link = join(root, path);
  if (existsSync(link)) return;
  const kept = join(cache, `${path.split("/").at(-1)}-${version}`);
  mkdirSync(kept, { recursive: true });
  mkdirSync(dirname(link), { recursive: true });
  // A link whose cache was emptied.
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) unlinkSync(link);
  symlinkSync(kept, link);
}
