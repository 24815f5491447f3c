import { X509Certificate } from "node:crypto";
import { fieldsOf, stringsOf } from "../base/untyped.ts";
import type { Config } from "../config/config.ts";
import type { ParsedObject } from "../config/documents/parse.ts";
import type { Gateway, Server } from "../config/kinds/gateway.ts";
import { keyPairFact } from "../config/secrets/secret-facts.ts";
import { hostsOverlap } from "../config/values/host-name.ts";
import { isSubset, type Labels } from "../config/values/labels.ts";
import type { Analysis } from "./analysis-input.ts";
import { type Analyzer, found, notFound } from "./analyzer.ts";

/** Secrets of a gateway are looked for where its pods run, and in its own namespace where none are known. */
function namespacesOf(gateway: Config<Gateway>, analysis: Analysis): readonly string[] {
  const pods = analysis.podsOf(gateway);
  return pods.length === 0 ? [gateway.meta.namespace] : [...new Set(pods.map((pod) => pod.namespace))];
}

const secrets: Analyzer = {
  name: "gateway.SecretAnalyzer",
  about: "credentials of gateways exist and hold a certificate",
  *analyze(analysis) {
    const known = new Map(
      analysis.secrets.map((object) => [`${object.metadata.namespace ?? "default"}/${object.metadata.name}`, object]),
    );
    for (const config of analysis.gateways) {
      for (const [index, { tls }] of config.spec.servers.entries()) {
        const name = tls?.credentialName;
        if (name === undefined || name.includes("://") || tls?.mode === "ISTIO_MUTUAL") continue;
        const path = ["spec", "servers", index, "tls", "credentialName"];
        const places = name.includes("/") ? [name] : namespacesOf(config, analysis).map((space) => `${space}/${name}`);
        const secret = places.map((place) => known.get(place)).find((object) => object !== undefined);
        if (secret === undefined) yield notFound(config, path, "credentialName", name);
        else if (!holdsCertificate(secret)) {
          yield found(
            "IST0161",
            config,
            path,
            `the secret ${name} holds no valid certificate`,
            "it needs tls.crt and tls.key",
          );
        }
      }
    }
  },
};

function holdsCertificate(secret: ParsedObject): boolean {
  // What was found of a Secret whose values were left out since.
  const fact = stringsOf(secret.metadata.annotations)[keyPairFact];
  if (fact !== undefined) return fact === "";
  const encoded = fieldsOf(secret.data);
  const plain = fieldsOf(secret.stringData);
  const text = (name: string): string => {
    const base64 = encoded[name];
    const written = plain[name];
    return typeof written === "string" ? written : typeof base64 === "string" ? atobText(base64) : "";
  };
  const certificate = text("tls.crt") || text("cert");
  const key = text("tls.key") || text("key");
  if (certificate === "" || key === "") return false;
  try {
    return new X509Certificate(certificate).subject !== undefined;
  } catch {
    return false;
  }
}

function atobText(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}

const certificates: Analyzer = {
  name: "gateway.CertificateAnalyzer",
  about: "no two gateways of one workload share a certificate",
  *analyze(analysis) {
    const uses = analysis.gateways.flatMap((config) =>
      config.spec.servers.flatMap(({ tls }) => {
        const id =
          tls?.credentialName ?? (tls?.serverCertificate && `${tls.serverCertificate} ${tls.privateKey ?? ""}`);
        return id === undefined || id === "" ? [] : [{ config, id }];
      }),
    );
    for (const [id, users] of Map.groupBy(uses, (use) => use.id)) {
      const gateways = [...new Set(users.map((use) => use.config))];
      for (const config of gateways) {
        const others = gateways.filter((other) => other !== config && sameWorkload(config, other, analysis));
        if (others.length === 0) continue;
        const names = others
          .map(({ meta }) => `${meta.namespace}/${meta.name}`)
          .sort()
          .join(", ");
        const message = `shares the certificate ${id} with ${names}: connections that are reused may get a 404`;
        yield found("IST0138", config, ["spec", "servers"], message);
      }
    }
  },
};

/** Whether two Gateways may be for one workload. */
export function sameWorkload(a: Config<Gateway>, b: Config<Gateway>, { pods }: Analysis): boolean {
  const [one, other]: readonly Labels[] = [a.spec.selector ?? {}, b.spec.selector ?? {}];
  if (one === undefined || other === undefined) return false;
  if (isSubset(one, other) && isSubset(other, one)) return true;
  return (
    (isSubset(one, other) || isSubset(other, one)) &&
    pods.some(({ labels }) => isSubset(one, labels) && isSubset(other, labels))
  );
}

const conflicts: Analyzer = {
  name: "gateway.ConflictingGatewayAnalyzer",
  about: "no two gateways of one workload claim one host on one port",
  *analyze(analysis) {
    for (const config of analysis.gateways) {
      for (const [index, server] of config.spec.servers.entries()) {
        const rival = analysis.gateways.find(
          (other) =>
            other !== config &&
            sameWorkload(config, other, analysis) &&
            other.spec.servers.some((candidate) => serversClash(server, candidate)),
        );
        if (rival === undefined) continue;
        const message = `claims port ${server.port.number} for hosts that ${rival.meta.namespace}/${rival.meta.name} claims too`;
        yield found("IST0145", config, ["spec", "servers", index], message, "give each gateway hosts of its own");
      }
    }
  },
};

function serversClash(a: Server, b: Server): boolean {
  if (a.port.number !== b.port.number || (a.bind ?? "") !== (b.bind ?? "")) return false;
  const plain = (host: string) => host.split("/").at(-1) ?? "";
  return a.hosts.some((host) => b.hosts.some((other) => hostsOverlap(plain(host), plain(other))));
}

const ports: Analyzer = {
  name: "gateway.IngressGatewayPortAnalyzer",
  about: "ports of gateways are ports of a service in front of them",
  *analyze(analysis) {
    for (const config of analysis.gateways) {
      const selector = config.spec.selector ?? {};
      const pods = analysis.podsOf(config);
      if (pods.length === 0) {
        if (Object.keys(selector).length > 0) {
          yield notFound(config, ["spec", "selector"], "selector", labelText(selector));
        }
        continue;
      }
      const services = analysis.services.filter(
        (service) =>
          service.selector !== undefined &&
          pods.some((pod) => pod.namespace === service.namespace && isSubset(service.selector ?? {}, pod.labels)),
      );
      const known = new Set(
        services.flatMap((service) => service.ports.flatMap(({ port, targetPort }) => [port, targetPort])),
      );
      for (const [index, { port }] of config.spec.servers.entries()) {
        if (services.length === 0 || known.has(port.number)) continue;
        const message = `port ${port.number} is no port of a service that selects the gateway's pods`;
        yield found("IST0162", config, ["spec", "servers", index, "port", "number"], message, "add it to the service");
      }
    }
  },
};

export function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(",");
}

export const gatewayAnalyzers: readonly Analyzer[] = [certificates, conflicts, ports, secrets];
