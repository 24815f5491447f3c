import type { RouteMatchJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { HttpConnectionManagerJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { NodeResources } from "../../../lib/trace/node-resources.ts";
import type { HttpRequest, TracedRequest } from "../../../lib/trace/traced-request.ts";
import { identities, randomClaims } from "./random-policies.ts";

/** What requests are made of so that they meet what is configured, or come near it. */
interface Words {
  readonly hosts: readonly string[];
  readonly matches: readonly RouteMatchJson[];
  readonly ports: readonly number[];
  readonly addresses: readonly string[];
  readonly serverNames: readonly string[];
  readonly protocols: readonly (readonly string[])[];
}

const methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"];

const filled = (domain: string): string => domain.replace(/^\*\./, "a.").replace(/^\*/, "any").replace(/\*$/, "com");

function wordsOf({ listeners, routes }: NodeResources): Words {
  const chains = listeners.flatMap(({ filterChains = [], defaultFilterChain = {} }) => [
    ...filterChains,
    defaultFilterChain,
  ]);
  const inline = chains
    .flatMap(({ filters = [] }) => filters)
    .flatMap(({ typedConfig }) => {
      const manager: HttpConnectionManagerJson = Object(typedConfig);
      return manager.routeConfig ?? [];
    });
  const hosts = [...routes.values(), ...inline].flatMap(({ virtualHosts = [] }) => virtualHosts);
  const sockets = listeners.flatMap(({ address }) => address?.socketAddress ?? []);
  const ownPorts = new Set(
    listeners
      .filter(({ name }) => name?.startsWith("virtual") === true)
      .map(({ address }) => address?.socketAddress?.portValue),
  );
  const asked = chains.map(({ filterChainMatch = {} }) => filterChainMatch);
  return {
    hosts: [...hosts.flatMap(({ domains = [] }) => domains.map(filled)), "nobody.example", "NOBODY.example:80"],
    matches: hosts.flatMap(({ routes: list = [] }) => list.map(({ match = {} }) => match)),
    ports: [
      ...sockets.map(({ portValue = 0 }) => portValue),
      ...asked.flatMap(({ destinationPort = 4_321 }) => destinationPort),
      80,
      9_999,
      // What is led to Envoy comes in by another port here than in a mesh.
    ].filter((port) => !ownPorts.has(port)),
    addresses: [
      ...sockets.map(({ address = "" }) => address).filter((one) => /^\d/.test(one) && one !== "0.0.0.0"),
      ...asked
        .flatMap(({ prefixRanges = [] }) => prefixRanges.map(({ addressPrefix = "" }) => addressPrefix))
        .filter((one) => /^\d/.test(one) && one !== "0.0.0.0"),
      "240.0.0.9",
    ],
    serverNames: [...asked.flatMap(({ serverNames = [] }) => serverNames.map(filled)), "nobody.example"],
    protocols: [
      [],
      ["http/1.1"],
      ["istio-http/1.1", "istio"],
      ["istio"],
      ["istio-peer-exchange", "istio"],
      ["h2", "http/1.1"],
    ],
  };
}

/** What varies: what routes ask for; what policies do, too; and tokens that providers of these tests verify. */
export type Asked = "routes" | "policies" | "tokens";

/**
 * Requests that resources may tell apart; the same for the same numbers. Each has a source of its own.
 *
 */
export function randomRequests(
  resources: NodeResources,
  count: number,
  random: () => number,
  asked: Asked = "routes",
): readonly TracedRequest[] {
  const words = wordsOf(resources);
  const pick = <T>(list: readonly [T, ...T[]] | readonly T[]): T => {
    const found = list[Math.floor(random() * list.length)];
    if (found === undefined) throw new Error("nothing to pick from");
    return found;
  };
  const chance = (share: number) => random() < share;
  return Array.from({ length: count }, (_, at): TracedRequest => {
    const isTls = chance(0.2);
    const isHttp = chance(0.9);
    const destination = { address: pick(words.addresses), port: pick(words.ports) };
    const source = { address: chance(0.1) ? destination.address : "240.1.2.3", port: 1_024 + (at % 60_000) };
    const tls = {
      serverName: pick(words.serverNames),
      applicationProtocols: pick(words.protocols),
      ...client(),
    };
    return {
      direction: chance(0.75) ? "outbound" : "inbound",
      destination,
      source,
      ...(isTls ? { tls } : {}),
      ...(isHttp ? { http: randomHttp() } : {}),
    };
  });

  /** Where nobody is told apart by it, everybody has one: chains that want a certificate get it. */
  function client() {
    const isNamed = identities.length > 0 && chance(asked === "routes" ? 1 : 0.7);
    return isNamed ? { hasCertificate: true, identity: pick(identities) } : { hasCertificate: false };
  }

  /** What policies ask for. */
  function added(headers: Map<string, string>): Partial<HttpRequest> {
    if (asked === "routes") return {};
    if (chance(0.3))
      headers.set(
        "x-forwarded-for",
        pick(["9.9.9.9", "10.1.1.1, 9.9.9.9", "9.9.9.9,nobody", "9.9.9.9,10.2.2.2,240.1.1.1"]),
      );
    if (chance(0.3)) headers.set(pick(["x-one", "x-two", "x-sub"]), pick(["abc", "ab", "jo", "other"]));
    if (chance(0.15)) {
      headers.set("origin", pick(["https://a.test", "http://other.test"]));
      if (chance(0.8)) headers.set("access-control-request-method", "PUT");
      return { method: "OPTIONS" };
    }
    if (chance(0.1)) headers.set(pick(["authorization", "x-token"]), pick(["Bearer nonsense", "Basic abc", "a.b.c"]));
    else if (asked === "tokens" && chance(0.6)) return { claims: randomClaims((...list) => pick(list)) };
    return {};
  }

  function randomHttp() {
    const match = words.matches.length === 0 ? {} : pick(words.matches);
    const headers = new Map<string, string>();
    let method = pick(["GET", "GET", "POST", "DELETE"]);
    let authority = pick(words.hosts);
    if (chance(0.2))
      authority = chance(0.5) ? authority.toUpperCase() : `${authority.replace(/:\d+$/, "")}:${pick(words.ports)}`;
    for (const { name = "", ...matcher } of match.headers ?? []) {
      if (chance(0.2)) continue;
      const { exact, prefix, suffix, safeRegex, contains } = matcher.stringMatch ?? {};
      const value = chance(0.15)
        ? "other"
        : (exact ?? prefix ?? suffix ?? contains ?? safeRegex?.regex?.replace(/[\\^$]|\.\*/g, "") ?? "7");
      if (name === ":method") method = methods.find((one) => one === value.toUpperCase()) ?? "PUT";
      else if (name === ":authority") authority = value.replaceAll(/[^a-z.]/g, "") || "a.test";
      else if (!name.startsWith(":") && /^[\x20-\x7e]*$/.test(value)) headers.set(name.toLowerCase(), value);
    }
    const base =
      match.path ??
      match.prefix ??
      match.pathSeparatedPrefix ??
      match.safeRegex?.regex?.replace(/[\\^$()+?[\]{}|]|\.\*/g, "") ??
      "/";
    const tail = pick([
      "",
      "",
      "",
      "/",
      "x",
      "/x",
      "/x/../y",
      "//z",
      "/%2fq",
      "/./k",
      ";v=1",
      "/A%41",
      "/a%2eb",
      "/q%7Ez%20",
      "/<x>",
      "/a|b^`{}",
      "/%2e%2e/w",
      "/\\\\b",
    ]);
    const cased = chance(0.15) ? base.toUpperCase() : base;
    const query = (match.queryParameters ?? []).map(({ name = "", stringMatch }) => {
      const value = chance(0.2) ? "no" : (stringMatch?.exact ?? stringMatch?.prefix ?? "1");
      return chance(0.1) ? name : `${name}=${value}`;
    });
    if (chance(0.1)) query.push("other=1");
    const path = `/${cased.replace(/^\/+/, "")}${tail}${query.length === 0 ? "" : `?${query.join("&")}`}`;
    const more = added(headers);
    return { method, authority, path: path.replaceAll(/[^\x21-\x7e]/g, "-"), headers, isHttp2: false, ...more };
  }
}
