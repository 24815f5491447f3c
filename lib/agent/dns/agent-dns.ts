import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { replaceFile } from "../files/replace-file.ts";
import type { AgentNode } from "../source/node.ts";
import type { HeldResource, Holding } from "../source/resources.ts";
import { serveDns } from "./dns-server.ts";
import { createNameBook, type DnsClient, type NameBook } from "./name-book.ts";
import { readResolvConf } from "./resolv-conf.ts";
import type { Nameserver } from "./upstream.ts";

/** Where an agent answers DNS. */
export interface DnsSettings {
  /** 0 takes any; Istio's is 15053. */
  readonly port: number;
  /** File with nameservers for other names. */
  readonly resolvConf: string;
}

/** The DNS of an agent. */
export interface AgentDns {
  readonly port: number;
  /** Answers from these names from now on. */
  take(names: Holding): void;
  /** Why nothing is answered; undefined when something is. */
  missing(): string | undefined;
  /** How many errors its sockets have had. */
  errors(): number;
  close(): void;
}

/** The names that were taken last, for a start without a control plane. */
const fileName = "names.json";
const dnsPort = 53;

interface Place {
  /** Of the agent. */
  readonly folder: string;
  readonly node: AgentNode;
  readonly say: (line: string) => void;
}

/**
 * Answers DNS at the loopback addresses, from the names that were taken last.
 *
 * @throws PortolanError when the port cannot be had, or nobody is known who could be asked for other names
 */
export async function startDns({ port, resolvConf }: DnsSettings, { folder, node, say }: Place): Promise<AgentDns> {
  const { nameservers, search } = await settingsIn(resolvConf);
  const dnsClient = dnsClientOf(node, search[0]);
  const file = join(folder, fileName);
  let book: NameBook | undefined = await bookIn(file, dnsClient);
  let errors = 0;
  const server = await serveDns({
    hosts: ["127.0.0.1", ...(nameservers.some(({ address }) => address.includes(":")) ? ["::1"] : [])],
    port,
    nameservers,
    book: () => book,
    onError: () => {
      errors += 1;
    },
  });
  let kept = Promise.resolve();
  return {
    port: server.port,
    take({ resources }) {
      const texts = [...resources.values()].map(({ text }) => text);
      // A proxy that does not capture DNS has no table; what is asked for is all elsewhere then.
      book = createNameBook(resources.values(), dnsClient);
      kept = kept
        .then(() => replaceFile(file, JSON.stringify(texts)))
        .catch((cause: unknown) => say(`cannot keep the names for the next start: ${causeText(cause)}`));
    },
    missing: () => (book === undefined ? "no names to answer DNS from have come yet" : undefined),
    errors: () => errors,
    close: server.close,
  };
}

async function settingsIn(
  file: string,
): Promise<{ readonly nameservers: readonly Nameserver[]; readonly search: readonly string[] }> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new PortolanError(`cannot read the nameservers in ${file}: ${causeText(cause)}`, [], cause);
  });
  const { nameservers, search } = readResolvConf(text);
  if (nameservers.length === 0)
    throw new PortolanError(`${file} names no nameserver, so names outside the mesh cannot be resolved`);
  return { nameservers: nameservers.map(nameserverOf), search };
}

/** An address, of which the port may be said as `10.0.0.10#5353` or `[2001:db8::1]#5353`, as some resolvers do. */
function nameserverOf(text: string): Nameserver {
  const [address = "", port] = text.split("#");
  return { address: address.replace(/^\[|\]$/g, ""), port: Number(port) || dnsPort };
}

/** Of `shop.svc.cluster.local` the namespace is no part of the domain. */
function dnsClientOf({ id, metadata }: AgentNode, search: string | undefined): DnsClient {
  const [, , name = "", domain = ""] = id.split("~");
  const said = metadata.NAMESPACE;
  const namespace = typeof said === "string" && said !== "" ? said : (name.split(".")[1] ?? "");
  return {
    namespace,
    domain: domain.startsWith(`${namespace}.`) ? domain.slice(namespace.length + 1) : domain,
    search,
  };
}

async function bookIn(file: string, dnsClient: DnsClient): Promise<NameBook | undefined> {
  try {
    const texts: readonly string[] = JSON.parse(await readFile(file, "utf8"));
    return createNameBook(
      texts.map((text): Pick<HeldResource, "text"> => ({ text })),
      dnsClient,
    );
  } catch {
    // There were none, or they are not whole: the first that come are waited for.
    return undefined;
  }
}
