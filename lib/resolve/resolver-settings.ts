import { PortolanError } from "../base/diagnostic.ts";
import { choiceIn } from "../config/setting-values.ts";
import { isIpAddress } from "../config/values/ip-address.ts";

/** What a process is told of its resolver. */
export interface ResolverSettings {
  /** `off`: nothing is looked up. Absent: it is. */
  readonly RESOLVER?: string | undefined;
  /** Hosts that may be in a private network and may be asked in clear text, separated by commas. */
  readonly RESOLVER_ALLOWED_HOSTS?: string | undefined;
  /** Name servers, separated by commas. Absent: those of the system. */
  readonly RESOLVER_DNS_SERVERS?: string | undefined;
  /** URL that is asked for names instead of name servers. */
  readonly RESOLVER_DNS_OVER_HTTPS?: string | undefined;
}

/** The same, read. */
export interface ResolverRules {
  readonly allowedHosts: ReadonlySet<string>;
  /** Addresses with or without a port. */
  readonly dnsServers: readonly string[];
  readonly dnsOverHttps?: string;
}

/** A host's name or address. */
const hostForm = /^[a-z0-9:]([a-z0-9.:-]{0,251}[a-z0-9:])?$/i;

/** `10.0.0.2`, `10.0.0.2:53`, `fd00::2`, `[fd00::2]:53`. */
const serverForm = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::\d{1,5})?$/i;

/**
 * @param prefix of the settings' names, for messages
 * @returns undefined where nothing is to be looked up
 * @throws PortolanError that says what a setting may be
 */
export function readResolverSettings(settings: ResolverSettings, prefix = ""): ResolverRules | undefined {
  const isOff = choiceIn(`${prefix}RESOLVER`, settings.RESOLVER, ["on", "off"]) === "off";
  const hosts = elementsOf(settings.RESOLVER_ALLOWED_HOSTS);
  const wrong = hosts.find((host) => !hostForm.test(host));
  if (wrong !== undefined)
    throw new PortolanError(
      `${prefix}RESOLVER_ALLOWED_HOSTS names ${JSON.stringify(wrong)}; each is a host's name or address, without scheme and port`,
    );
  const dnsServers = elementsOf(settings.RESOLVER_DNS_SERVERS);
  const noServer = dnsServers.find((server) => !isServer(server));
  if (noServer !== undefined)
    throw new PortolanError(
      `${prefix}RESOLVER_DNS_SERVERS names ${JSON.stringify(noServer)}; each is an IP address, such as 10.0.0.2 or 10.0.0.2:53`,
    );
  const { RESOLVER_DNS_OVER_HTTPS: dnsOverHttps = "" } = settings;
  if (dnsOverHttps !== "" && !/^https?:$/.test(URL.parse(dnsOverHttps)?.protocol ?? ""))
    throw new PortolanError(
      `${prefix}RESOLVER_DNS_OVER_HTTPS is ${JSON.stringify(dnsOverHttps)}; it is a URL, such as https://cloudflare-dns.com/dns-query`,
    );
  if (isOff) return undefined;
  return {
    allowedHosts: new Set(hosts.map((host) => host.toLowerCase())),
    dnsServers,
    ...(dnsOverHttps === "" ? {} : { dnsOverHttps }),
  };
}

const elementsOf = (text = ""): readonly string[] => text.split(",").filter((element) => element !== "");

function isServer(text: string): boolean {
  const [, six, four] = serverForm.exec(text) ?? [];
  return isIpAddress(six ?? four ?? text);
}
