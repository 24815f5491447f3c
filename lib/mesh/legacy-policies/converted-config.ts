import type { Config } from "../../config/config.ts";
import { fingerprint } from "../../incremental/plain-text.ts";

/** What an object of the old kinds is converted into. */
export interface ConvertedSpec<Spec> {
  readonly kind: "AuthorizationPolicy" | "PeerAuthentication" | "RequestAuthentication";
  readonly name: string;
  readonly namespace: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: Spec;
  /** Fields of the spec that stand for one of the origin's. */
  readonly madeFrom?: NonNullable<Config["madeFrom"]>;
}

/**
 * An object as if somebody had written it at the place of the one that it was made from. It is made for single workloads, of
 * which several may have one of this name: its version tells what it says.
 */
export function convertedConfig<Spec>(origin: Config, converted: ConvertedSpec<Spec>): Config<Spec> {
  const { kind, name, namespace, annotations = {}, spec, madeFrom = {} } = converted;
  return {
    meta: {
      ...origin.meta,
      kind,
      group: "security.istio.io",
      version: "v1",
      name,
      namespace,
      labels: {},
      annotations,
      resourceVersion: fingerprint(JSON.stringify([annotations, spec])),
    },
    spec,
    origin: origin.origin,
    madeFrom,
  };
}
