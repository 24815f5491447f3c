import { createSocket } from "node:dgram";
import { connect } from "node:net";

/** Another nameserver. */
export interface Nameserver {
  readonly address: string;
  readonly port: number;
}

/** How long one is waited for until the next is asked, as Istio's agent waits. */
const patienceMs = 5_000;

/**
 * Asks nameservers, one after the other, with the question as it came.
 *
 * @returns the first answer as it came; undefined when none answers
 */
export async function askUpstream(
  message: Buffer,
  nameservers: readonly Nameserver[],
  protocol: "udp" | "tcp",
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  for (const nameserver of nameservers) {
    if (signal.aborted) return undefined;
    const answer = await (protocol === "udp" ? overUdp : overTcp)(message, nameserver, signal);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

type Ask = (message: Buffer, nameserver: Nameserver, signal: AbortSignal) => Promise<Buffer | undefined>;

const overUdp: Ask = (message, { address, port }, signal) =>
  new Promise((resolve) => {
    // A socket for each question: its port is one that nobody else can guess. Connected, it hears of nobody else.
    const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
    const end = (answer?: Buffer) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", give);
      socket.removeAllListeners().on("error", () => {});
      socket.close();
      resolve(answer);
    };
    const give = () => end();
    const timer = setTimeout(give, patienceMs);
    signal.addEventListener("abort", give, { once: true });
    socket.on("error", give);
    socket.on("message", (answer) => {
      if (answer.length >= 12 && answer.readUInt16BE(0) === message.readUInt16BE(0)) end(answer);
    });
    socket.connect(port, address, () => socket.send(message));
  });

const overTcp: Ask = (message, { address, port }, signal) =>
  new Promise((resolve) => {
    const socket = connect({ host: address, port });
    let got = Buffer.alloc(0);
    const end = (answer?: Buffer) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", give);
      socket.destroy();
      resolve(answer);
    };
    const give = () => end();
    const timer = setTimeout(give, patienceMs);
    signal.addEventListener("abort", give, { once: true });
    socket.on("error", give).on("close", give);
    socket.on("data", (chunk) => {
      got = Buffer.concat([got, chunk]);
      const length = got.length < 2 ? undefined : got.readUInt16BE(0);
      if (length !== undefined && got.length >= length + 2) end(got.subarray(2, length + 2));
    });
    socket.write(framed(message));
  });

/** A message as TCP carries it, with its length before it. */
export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}
