import { lookup } from "node:dns/promises";
import { connect, isIP } from "node:net";
import { codeOf } from "../../base/cause-text.ts";
import { hostIn } from "../../base/loopback.ts";
import { counted } from "../numbers.ts";
import { portIn } from "../server-url.ts";
import type { Deployment } from "./deployment.ts";
import { troubleIn } from "./exchange.ts";
import { type Finding, failed, passed, skipped, warned } from "./finding.ts";

/** Whether the name leads to addresses. */
export async function dnsCheck({ url, timeoutMs }: Deployment): Promise<readonly Finding[]> {
  const host = hostIn(url);
  if (isIP(host) !== 0) return [skipped("dns", `${host} is an address`)];
  const found = await within(timeoutMs, lookup(host, { all: true })).catch((cause: unknown) => String(codeOf(cause)));
  if (typeof found === "string") {
    const why = found === "ENOTFOUND" ? "has no address" : "was not answered by the name server in time";
    const remedy = `check the name for a typing error, and its records: \`dig ${host}\`; a new record takes some minutes`;
    return [failed("dns", `${host} ${why}`, remedy)];
  }
  const versions = [4, 6].map((version) => found.filter(({ family }) => family === version).length);
  const [four = 0, six = 0] = versions;
  const text = `${host} has ${counted(four + six, "address", "addresses")} (IPv4: ${four}, IPv6: ${six})`;
  const remedy = "add an A record, unless every proxy has IPv6";
  return [four === 0 ? warned("dns", `${text}; machines without IPv6 cannot connect`, remedy) : passed("dns", text)];
}

/** Whether something listens. */
export async function connectionCheck({ url, timeoutMs }: Deployment): Promise<readonly Finding[]> {
  const where = `${hostIn(url)} port ${portIn(url)}`;
  const trouble = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ host: hostIn(url), port: portIn(url) });
    const end = (reason?: string) => {
      socket.destroy();
      resolve(reason);
    };
    socket.setTimeout(timeoutMs, () => end(`it did not accept a connection within ${timeoutMs / 1_000} s`));
    socket.once("connect", () => end());
    socket.once("error", (cause) => end(troubleIn(cause, false, timeoutMs)));
  });
  if (trouble === undefined) return [passed("connection", `${where} takes connections`)];
  const remedy = "check that the front runs, that this is its port, and that no firewall is between";
  return [failed("connection", `${where}: ${trouble}`, remedy)];
}

/** Rejects after so long; what goes on is left alone. */
async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("too late")), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
