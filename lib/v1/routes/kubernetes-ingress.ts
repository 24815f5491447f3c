import type { Config } from "../../config/config.ts";
import type { Ingress, IngressBackend } from "../../config/kinds/ingress.ts";
import type { IngressRule } from "../../config/kinds/legacy/ingress-rule.ts";
import type { StringMatch } from "../../config/kinds/virtual-service.ts";
import type { LegacyMeshConfig } from "../legacy-world.ts";

const classAnnotation = "kubernetes.io/ingress.class";

/**
 * The ingress rules that a Kubernetes Ingress stands for: one for its default backend, one for each path. None where the
 * object is meant for another controller.
 *
 * @see docs/how-istio-does-it/legacy-v1.md#ingress
 */
export function ingressRulesOf(ingress: Config<Ingress>, mesh: LegacyMeshConfig): readonly Config<IngressRule>[] {
  if (!isOurs(ingress, mesh)) return [];
  const { defaultBackend, rules = [] } = ingress.spec;
  const paths: IngressPath[] = rules.flatMap(({ host, http }, rule) =>
    (http?.paths ?? []).map(({ path, backend }, index) => ({ name: `${rule + 1}-${index + 1}`, host, path, backend })),
  );
  if (defaultBackend !== undefined) {
    paths.unshift({ name: "0-0", host: undefined, path: undefined, backend: defaultBackend });
  }
  return paths.map((path) => ruleOf(ingress, path));
}

/** One path of an Ingress, named by the places of its rule and of itself, both counted from 1. */
interface IngressPath {
  readonly name: string;
  readonly host: string | undefined;
  readonly path: string | undefined;
  readonly backend: IngressBackend;
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
function ruleOf(ingress: Config<Ingress>, { name, host, path, backend }: IngressPath): Config<IngressRule> {
  const { meta, spec, origin } = ingress;
  const secret = spec.tls?.[0]?.secretName;
  const { service } = backend;
  const headers = {
    uri: pathMatch(path),
    ...(host === undefined || host === "" ? {} : { authority: { exact: host } }),
  };
  return {
    meta: { ...meta, kind: "IngressRule", group: "config.istio.io", name: `${meta.name}-${name}` },
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
