import { readFile } from "node:fs/promises";
import { isFileAbsent } from "../../base/cause-text.ts";
import { recordOf } from "../record-of.ts";

export interface AdminAddressOptions {
  /** The file into which Envoy writes the address. */
  readonly path: string;
  /** The bootstrap that Envoy was started with. */
  readonly bootstrap: string;
  readonly pid: number;
  readonly onLine: (line: string) => void;
}

/** How long an Envoy may take from creating the file to writing it. */
const writingMs = 2_000;

/**
 * Reads where an Envoy has its admin interface. A file that holds no address counts as absent: then the address in the bootstrap
 * counts, and one line reports it.
 *
 * @returns a function that gives undefined while Envoy has not written its address, and where that cannot be known
 */
export function createAdminAddress(options: AdminAddressOptions): () => Promise<string | undefined> {
  const { path, bootstrap, pid, onLine } = options;
  const startMs = performance.now();
  let hasTold = false;
  return async () => {
    const text = await readFile(path, "utf8").catch((cause: unknown) => (isFileAbsent(cause) ? undefined : ""));
    const said = text === undefined ? undefined : readAddress(text);
    const isBeingWritten = text === "" && performance.now() - startMs < writingMs;
    if (said !== undefined || text === undefined || isBeingWritten) return said;
    const instead = await addressInBootstrap(bootstrap);
    if (hasTold) return instead;
    hasTold = true;
    const way =
      instead === undefined
        ? `and the bootstrap no port: Envoy counts as not ready; end process ${pid}, and another Envoy is started`
        : `and counts as absent: Envoy is asked at ${instead}, as its bootstrap has it`;
    onLine(`[agent] ${path} holds no address, ${way}`);
    return instead;
  };
}

/** @returns undefined for a text that is no `host:port` */
function readAddress(text: string): string | undefined {
  const address = text.trim();
  return /^[\w.:[\]%-]+:\d{1,5}$/.test(address) && URL.canParse(`http://${address}`) ? address : undefined;
}

/** @returns undefined where the bootstrap cannot be read, or takes any port */
async function addressInBootstrap(path: string): Promise<string | undefined> {
  const { address: outer } = recordOf(recordOf(parsed(await readFile(path, "utf8").catch(() => ""))).admin);
  const { socketAddress, socket_address } = recordOf(outer);
  const { address, portValue, port_value } = recordOf(socketAddress ?? socket_address);
  const port = portValue ?? port_value;
  if (typeof address !== "string" || typeof port !== "number" || port === 0) return undefined;
  return readAddress(address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
