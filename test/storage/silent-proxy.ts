import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

export interface SilentProxy {
  readonly endpoint: string;
  /** From now on nothing passes, in either direction, and nobody is told: connections stay open, new ones are taken. */
  silence(): void;
  /** New connections pass again; those of the silence never do, as behind a router that has forgotten them. */
  recover(): void;
  /** Connections that are open. */
  open(): number;
  close(): Promise<void>;
}

/** A TCP proxy that can fall silent, as a store does behind a broken network. */
export async function startSilentProxy(target: string): Promise<SilentProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const pairs = new Set<() => void>();
  let isSilent = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let isDead = isSilent;
    const silence = () => {
      isDead = true;
    };
    pairs.add(silence);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (data) => {
        if (!isDead) to.write(data);
      });
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        pairs.delete(silence);
        if (!isDead || from === near) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    silence() {
      isSilent = true;
      for (const silence of pairs) silence();
    },
    recover() {
      isSilent = false;
    },
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
