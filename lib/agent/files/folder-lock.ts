import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { identityOf, isAlive, readIdentity } from "../process-identity.ts";
import { listenerAt } from "../running-processes.ts";
import { writeDraft } from "./replace-file.ts";

const lockName = "agent.lock";

/** Where the agent of a folder serves its Envoy. */
export const socketIn = (folder: string): string => join(folder, "xds", "socket");

/**
 * Makes sure that one agent works in a folder. What a killed one left is taken over. A lock that cannot be read counts as absent; an
 * agent that works there is then known by its socket.
 *
 * @param say takes a line about a lock that cannot be read
 * @returns gives the folder back
 * @throws PortolanError when another one works there
 */
export async function lockFolder(folder: string, say: (line: string) => void): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, lockName);
  const own = JSON.stringify({ ...(await identityOf(process.pid)), key: randomUUID() });
  const draft = await writeDraft(path, own).catch((cause: unknown) => {
    throw new PortolanError(`cannot write into ${folder}: ${causeText(cause)}`, [], cause);
  });
  try {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      if (await takes(draft, path)) {
        const unlock = async () => {
          if ((await readText(path)) === own) await rm(path, { force: true });
        };
        await refuseServed(folder, path, unlock);
        return unlock;
      }
      const found = await readText(path);
      const holder = readIdentity(found);
      if (holder !== undefined && holder.pid !== process.pid && (await isAlive(holder)))
        throw new PortolanError(
          `another agent, process ${holder.pid}, works in ${folder}: stop it, or give this one a folder of its own with --dir`,
        );
      if (holder === undefined) say(`${path} is empty or holds something else, and counts as absent`);
      await clear(path, found);
    }
    throw new PortolanError(`${path} is taken again and again`);
  } finally {
    await rm(draft, { force: true });
  }
}

/** @throws PortolanError when an agent serves there whose lock was lost */
async function refuseServed(folder: string, path: string, unlock: () => Promise<void>): Promise<void> {
  const socket = socketIn(folder);
  if (!(await isServed(socket))) return;
  const pid = await listenerAt(socket);
  await unlock();
  throw new PortolanError(
    `another agent${pid === undefined ? "" : `, process ${pid},`} answers at ${socket}, although ${path} does not name it: ` +
      "stop it, or give this one a folder of its own with --dir",
  );
}

const isServed = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const tried = connect(socket);
    const end = (isThere: boolean) => {
      tried.destroy();
      resolve(isThere);
    };
    tried.once("connect", () => end(true));
    tried.once("error", () => end(false));
  });

/** Clears away a lock that nobody holds; one that somebody has put there meanwhile is put back. */
async function clear(path: string, found: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch(() => {});
  if ((await readText(aside)) !== found) await takes(aside, path);
  await rm(aside, { force: true });
}

const takes = (from: string, to: string): Promise<boolean> =>
  link(from, to).then(
    () => true,
    () => false,
  );

const readText = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");
