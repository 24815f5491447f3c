import { PortolanError } from "../base/diagnostic.ts";
import { isLoopback } from "../base/loopback.ts";
import { hostGuard } from "../front/host-guard.ts";
import { listening, serveHttp } from "../front/node-server.ts";
import type { Front } from "./serve.ts";

/** A front that answers on an address. */
export interface Listening {
  /** `http://host:port`, with the port that was given or found. */
  readonly url: string;
  /** Lets held polls go, answers what was asked, and resolves when the port is free. */
  close(): Promise<void>;
}

/**
 * Serves a front over HTTP/1.1, on Node.
 *
 * @param port 0 takes any free one
 * @param hosts names that requests may ask for besides loopback's and `host`, where the front serves anyone on loopback
 * @throws PortolanError when the port is taken, and when others than this machine can connect and nobody has said who may ask
 */
export async function listen(
  front: Front,
  port: number,
  host = "127.0.0.1",
  hosts: readonly string[] = [],
): Promise<Listening> {
  if (front.isOpen && !isLoopback(host)) {
    throw new PortolanError(
      `${host} is open to other machines without authentication: give createFront an authentication (docs/security.md), or "off" to serve every client that can connect`,
    );
  }
  const guard = hostGuard({ servesAnyone: front.servesAnyone, host, hosts });
  const server = await listening(
    serveHttp(front, port, host, undefined, guard),
    `${host}:${port}`,
    "give another port",
  );
  return {
    url: server.url,
    close: async () => {
      front.close();
      await server.close();
    },
  };
}
