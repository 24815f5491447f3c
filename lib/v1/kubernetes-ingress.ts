import type { Config } from "../config/config.ts";
import type { Ingress, IngressBackend } from "../config/kinds/ingress.ts";
import type { IngressRule } from "../config/kinds/ingress-rule.ts";
import type { StringMatch } from "../config/kinds/virtual-service.ts";
import type { LegacyMeshConfig } from "./legacy-world.ts";

const classAnnotation = "kubernetes.io/ingress.class";

/**
 * The ingress rules that a Kubernetes Ingress stands for: one for its default backend, one for each path. None where the
 * object is meant for another controller.
 *
 * @see v1-api 11
 */
export function ingressRulesOf(ingress: Config<Ingress>, mesh: LegacyMeshConfig): readonly Config<IngressRule>[] {
  if (!isOurs(ingress, mesh)) return [];
  const { defaultBackend, rules = [] } = ingress.spec;
  return [
    ...(defaultBackend === undefined ? [] : [ruleOf(ingress, 0, 0, undefined, undefined, defaultBackend)]),
    ...rules.flatMap(({ host, http }, rule) =>
      (http?.paths ?? []).map(({ path, backend }, index) => ruleOf(ingress, rule + 1, index + 1, host, path, backend)),
    ),
  ];
}

function isOurs(ingress: Config<Ingress>, mesh: LegacyMeshConfig): boolean {
  const named = ingress.meta.annotations[classAnnotation];
  switch (mesh.ingressControllerMode) {
    case "OFF":
      return false;
    case "STRICT":
      return named === mesh.ingressClass;
    case "DEFAULT":
      return named === undefined || named === mesh.ingressClass;
  }
}

/** One certificate is there for all rules: that of the first entry. */
function ruleOf(
  ingress: Config<Ingress>,
  rule: number,
  path: number,
  host: string | undefined,
  pathText: string | undefined,
  backend: IngressBackend,
): Config<IngressRule> {
  const { meta, spec, origin } = ingress;
  const secret = spec.tls?.[0]?.secretName;
  const { service } = backend;
  const headers = {
    uri: pathMatch(pathText),
    ...(host === undefined || host === "" ? {} : { authority: { exact: host } }),
  };
  return {
    meta: { ...meta, kind: "IngressRule", group: "config.istio.io", name: `${meta.name}-${rule}-${path}` },
    origin,
    spec: {
      destination: { name: service?.name ?? "" },
      ...(secret === undefined || secret === "" ? {} : { tlsSecret: `${secret}.${meta.namespace}` }),
      match: { request: { headers } },
      ...(service?.port?.name === undefined ? {} : { destinationPortName: service.port.name }),
      ...(service?.port?.number === undefined ? {} : { destinationPort: service.port.number }),
    },
  };
}

/** A path that ends in `.*` is a prefix, every other one is exact; none means all. */
function pathMatch(path: string | undefined): StringMatch {
  if (path === undefined || path === "") return { prefix: "/" };
  return path.endsWith(".*") ? { prefix: path.slice(0, -2) } : { exact: path };
}
