import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { TracedRequest } from "../../../lib/trace/traced-request.ts";
import type { Certificates, TokenSigner } from "./identities.ts";

/** How a request is sent. */
export interface Sending {
  readonly port: number;
  /** Of this side of the connection, by which logs know it again. */
  readonly localAddress: string;
  readonly certificates: Certificates;
  readonly signer: TokenSigner;
}

/** Sends one request through a PROXY header that says where it comes from and where it was going; ends when the connection does. */
export async function send(request: TracedRequest, sending: Sending): Promise<void> {
  const { port, localAddress, certificates, signer } = sending;
  const { source, destination, tls } = request;
  const socket = connect({ host: "127.0.0.1", port, localAddress });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => socket.destroy());
  socket.setTimeout(4_000, () => socket.destroy());
  const family = destination.address?.includes(":") === true ? "TCP6" : "TCP4";
  socket.write(`PROXY ${family} ${source?.address} ${destination.address} ${source?.port} ${destination.port}\r\n`);
  if (tls === undefined) talk(socket, request, signer);
  else {
    const own = tls.hasCertificate && tls.identity !== undefined ? certificates.clients.get(tls.identity) : undefined;
    const protocols = [...tls.applicationProtocols];
    const secured = connectTls(
      { socket, servername: tls.serverName, ALPNProtocols: protocols, rejectUnauthorized: false, ...own },
      () => talk(secured, request, signer),
    );
    secured.on("error", () => socket.destroy());
  }
  await closed;
}

function talk(socket: Socket, { http }: TracedRequest, signer: TokenSigner): void {
  socket.on("data", () => {
    // One answer is one small packet: the servers of these tests say little.
    socket.end();
  });
  if (http === undefined) {
    socket.write("some bytes that are no protocol\r\n\r\n");
    return;
  }
  const token = http.claims && signer.sign(http.claims);
  // In every place where a provider of these tests looks.
  const carried =
    token === undefined ? [] : [["authorization", `Bearer ${token}`] as const, ["x-token", token] as const];
  const headers = [...http.headers, ...carried].map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${http.method} ${http.path} HTTP/1.1\r\nhost: ${http.authority}\r\n${headers.join("")}\r\n`);
}
