import type { Config } from "../../lib/config/config.ts";
import { config as aConfig } from "./world-parts.ts";

/** A policy in namespace `shop`, unless said otherwise. */
export function config<Spec>(
  kind: string,
  name: string,
  spec: Spec,
  meta: { readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> } = {},
): Config<Spec> {
  return aConfig(kind, name, spec, { namespace: "shop", group: "security.istio.io", ...meta });
}
