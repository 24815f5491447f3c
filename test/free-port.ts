import { once } from "node:events";
import { createServer } from "node:net";

/** Below what Linux gives to whoever asks for any port, connections that go out among them: such a port may be taken a moment later. */
const first = 20_000;
const count = 12_000;
/** Workers of a run have stretches of their own. */
const stretches = 12;
const stretch = count / stretches;

let next = Math.floor(Math.random() * stretch);

/**
 * A port on which a program can listen later: nobody listens there now, and nobody is given it by chance.
 *
 * @throws Error where all are taken
 */
export async function freePort(): Promise<number> {
  const offset = (Number(process.env.VITEST_POOL_ID ?? 0) % stretches) * stretch;
  for (let tries = 0; tries < stretch; tries += 1) {
    next = (next + 1) % stretch;
    const port = first + offset + next;
    if (await isFree(port)) return port;
  }
  throw new Error(`no port between ${first + offset} and ${first + offset + stretch} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port), "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
