import type { ConfigMeta } from "../../config.ts";
import { error, type Finding, type Path, warning } from "../../finding.ts";
import type { Gateway, Server } from "../../kinds/gateway.ts";
import { isIpAddress } from "../../values/ip-address.ts";
import { lengthRules, maxServers } from "../expansion.ts";
import { isDns1123Label, isPartialWildcard, isUnixAddress, isWildcardDomain } from "../names.ts";
import { isHttpProtocol, isKnownProtocol, isTlsProtocol } from "../protocols.ts";
import { serverTlsRules } from "../tls/server-tls.ts";
import { dnsLabelRules, duplicates, each, ipRules, portRules } from "../values.ts";

/** @see docs/how-istio-does-it/kind-rules.md#gateway */
export function* gatewayRules(spec: Gateway, meta: ConfigMeta): Generator<Finding> {
  if (!isDns1123Label(meta.name)) {
    yield error([], `the name ${JSON.stringify(meta.name)} is not a DNS label`, "rename the Gateway");
  }
  if (spec.servers.length === 0) yield error(["servers"], "needs at least one server", "", "missing-field");
  yield* lengthRules(spec.servers, maxServers, ["servers"]);
  yield* each(spec.servers, ["servers"], serverRules);
  const names = spec.servers.map((server) => server.port.name);
  for (const [index, name] of duplicates(names)) {
    if (name === "") continue;
    yield error(["servers", index, "port", "name"], `port name ${JSON.stringify(name)} is given twice`);
  }
}

function* serverRules(server: Server, path: Path): Generator<Finding> {
  const { port, hosts, bind, tls } = server;
  if (hosts.length === 0) yield error([...path, "hosts"], "needs at least one host", "", "missing-field");
  for (const [index, host] of hosts.entries()) yield* namespacedHostRules(host, [...path, "hosts", index], true);
  yield* serverPortRules(server, [...path, "port"]);
  if (bind !== undefined) {
    const at = [...path, "bind"];
    if (bind.startsWith("unix://")) {
      if (!isUnixAddress(bind.slice("unix://".length)))
        yield error(at, `${JSON.stringify(bind)} is no path of a socket`);
      if (port.number !== 0) yield error([...path, "port", "number"], "must be 0 for a unix socket");
    } else yield* ipRules(bind, at);
  }
  yield* serverTlsRules(tls, [...path, "tls"]);
  const { protocol } = port;
  if (isTlsProtocol(protocol)) {
    if (tls === undefined) yield error([...path, "tls"], `is required for ${protocol}`, "", "missing-field");
  } else if (tls !== undefined && isHttpProtocol(protocol)) {
    const passive = tls.mode === undefined || tls.mode === "PASSTHROUGH" || tls.mode === "AUTO_PASSTHROUGH";
    const plain = passive && !tls.serverCertificate && !tls.privateKey && !tls.caCertificates && !tls.credentialName;
    if (!plain) {
      const hint = "only httpsRedirect can be set; for TLS use protocol HTTPS";
      yield error([...path, "tls"], `a server of protocol ${protocol} has no TLS`, hint, "conflicting-fields");
    }
  } else if (tls !== undefined) {
    yield error(
      [...path, "tls"],
      `a server of protocol ${protocol} has no TLS`,
      "use protocol TLS",
      "conflicting-fields",
    );
  }
  if (tls?.httpsRedirect === true && !isHttpProtocol(protocol)) {
    yield warning([...path, "tls", "httpsRedirect"], `has no effect on a server of protocol ${protocol}`);
  }
}

function* serverPortRules(server: Server, path: Path): Generator<Finding> {
  const { number, protocol, name, targetPort } = server.port;
  if (protocol === "") yield error([...path, "protocol"], "is required", "", "missing-field");
  else if (!isKnownProtocol(protocol)) {
    const hint = "known: HTTP, HTTPS, HTTP2, GRPC, GRPC-WEB, MONGO, REDIS, MYSQL, TCP, TLS";
    yield error([...path, "protocol"], `${JSON.stringify(protocol)} is not a protocol`, hint);
  }
  if (!(server.bind?.startsWith("unix://") && number === 0)) yield* portRules(number, [...path, "number"]);
  if (targetPort !== undefined) yield error([...path, "targetPort"], "is not supported for Gateways", "leave it out");
  if (name === "") yield error([...path, "name"], "is required", "", "missing-field");
}

/** `dns`, `ns/dns`, `./dns`, `*\/dns`: hosts of Gateways and, always with a namespace, of Sidecars. */
function* namespacedHostRules(host: string, path: Path, addressAllowed: boolean): Generator<Finding> {
  const parts = host.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > 2 || parts.includes("")) {
    yield error(path, `${JSON.stringify(host)} is neither a host nor namespace/host`);
    return;
  }
  const namespace = parts.length === 2 ? parts[0] : undefined;
  if (namespace !== undefined && namespace !== "*" && namespace !== ".") yield* dnsLabelRules(namespace, path);
  yield* gatewayHostRules(name, path, addressAllowed);
}

export function* gatewayHostRules(name: string, path: Path, addressAllowed: boolean): Generator<Finding> {
  if (name !== "*" && !name.includes(".") && !(addressAllowed && isIpAddress(name))) {
    yield error(path, `${JSON.stringify(name)} is a short name`, 'write the full name, or "*"');
    return;
  }
  if (isPartialWildcard(name))
    yield error(
      path,
      `${JSON.stringify(name)}: a wildcard must replace whole DNS labels`,
      'write "*." before the rest',
    );
  else if (!isWildcardDomain(name) && !(addressAllowed && isIpAddress(name))) {
    yield error(path, `${JSON.stringify(name)} is not a domain name, with or without wildcard`);
  }
}
