import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";

/** What is counted of a server: connections that come, and those whose handshake is done. */
type Handshaking = Pick<Server, "on">;

/**
 * Bounds the TLS handshakes that one address has under way. A handshake may wait as long as an idle connection, and whoever begins
 * thousands and ends none would leave no connection to others.
 *
 * @param most of one address; a connection beyond it is closed
 */
export function boundHandshakes(server: Handshaking, most: number): void {
  /** Handshakes under way, by address: the ports of its connections. */
  const open = new Map<string, Set<number>>();
  const ended = (address: string, port: number): void => {
    const ports = open.get(address);
    ports?.delete(port);
    if (ports?.size === 0) open.delete(address);
  };
  server.on("connection", (socket: Socket) => {
    const { remoteAddress, remotePort } = socket;
    // It is closed already.
    if (remoteAddress === undefined || remotePort === undefined) return;
    const ports = open.get(remoteAddress) ?? new Set();
    if (ports.size >= most) {
      socket.destroy();
      return;
    }
    open.set(remoteAddress, ports.add(remotePort));
    socket.once("close", () => ended(remoteAddress, remotePort));
  });
  server.on("secureConnection", ({ remoteAddress, remotePort }: TLSSocket) => {
    if (remoteAddress !== undefined && remotePort !== undefined) ended(remoteAddress, remotePort);
  });
}
