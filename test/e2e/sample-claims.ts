import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/**
 * What samples that run on this machine listen on: an Envoy shares a port without a word with another one. Each claim is a socket that says
 * what is claimed. It ends with its process, however that ends; a process that was killed may go on having an id.
 */
const folder = join(tmpdir(), `portolan-samples-${userInfo().username}`);

interface Claim {
  readonly sample: string;
  readonly pid: number;
  /** `127.0.0.11:9080`. */
  readonly places: readonly string[];
}

/**
 * Claims addresses with their ports for a sample.
 *
 * @returns what to call when it ends
 * @throws Error that names the sample that has one of them
 */
export async function claimPlaces(sample: string, places: readonly string[]): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  for (const other of await claims()) {
    const place = other.places.find((one) => places.includes(one));
    if (place === undefined || other.pid === process.pid) continue;
    throw new Error(
      `${place} is taken by the sample ${other.sample}, process ${other.pid}: end that one (Ctrl-C, or kill ${other.pid}), and try again`,
    );
  }
  const claim: Claim = { sample, pid: process.pid, places };
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(JSON.stringify(claim));
  });
  await once(server.listen(join(folder, `${randomUUID()}.sock`)), "listening");
  return async () => {
    await new Promise((closed) => server.close(closed));
  };
}

async function claims(): Promise<readonly Claim[]> {
  const sockets = readdirSync(folder).filter((name) => name.endsWith(".sock"));
  const read = await Promise.all(
    sockets.map(async (name): Promise<readonly Claim[]> => {
      const path = join(folder, name);
      try {
        const claim: Claim = JSON.parse(await text(connect(path)));
        return [claim];
      } catch {
        // Its process has ended.
        await rm(path, { force: true });
        return [];
      }
    }),
  );
  return read.flat();
}
