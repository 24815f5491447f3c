import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A line to a server that can be cut. */
export interface CutProxy {
  readonly port: number;
  /** Breaks all connections, and takes no more until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function openCutProxy(port: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    if (isCut) return void socket.destroy();
    const other = connect(port, "127.0.0.1");
    for (const [one, peer] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => peer.destroy());
      one.on("close", () => {
        sockets.delete(one);
        peer.destroy();
      });
      one.pipe(peer);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo; // a TCP server's address is never a text
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    cut() {
      isCut = true;
      breakAll();
    },
    mend() {
      isCut = false;
    },
    close: () =>
      new Promise((resolve) => {
        breakAll();
        server.close(() => resolve());
      }),
  };
}
