import { Resolver } from "node:dns/promises";
import { PortolanError } from "../base/diagnostic.ts";
import { fieldsOf } from "../base/untyped.ts";
import type { AskDns } from "./ask-dns.ts";

/** The name is known, and has no such record; the name is not known. */
const nothingThere: ReadonlySet<unknown> = new Set(["ENODATA", "ENOTFOUND"]);

/**
 * Asks name servers themselves, as the system's settings name them.
 *
 * @param servers others, as `10.0.0.2` or `10.0.0.2:5353`; none: those of the system
 */
export function createNodeDns(servers: readonly string[] = []): AskDns {
  return async (host, type, signal) => {
    // One for each question, so that giving up ends no other one. A name server that is down is left for the next one in time.
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (servers.length > 0) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const records = await (type === "A"
        ? resolver.resolve4(host, { ttl: true })
        : resolver.resolve6(host, { ttl: true }));
      return records.map(({ address, ttl }) => ({ address, ttlSeconds: ttl }));
    } catch (cause) {
      const { code } = fieldsOf(cause);
      if (nothingThere.has(code)) return [];
      const what = `no name server answers for ${host} (${type}): ${String(code ?? cause)}`;
      throw new PortolanError(what, [], cause);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}
