import { gatewayApiKinds } from "./gateway-api/gateway-api-kinds.ts";
import { istioKinds } from "./istio-kinds.ts";
import type { KindSchema } from "./kind-schema.ts";
import { legacyKinds } from "./legacy-kinds.ts";

/**
 * Every kind of configuration that Portolan reads, today's before the legacy ones.
 * @see docs/how-istio-does-it/kinds.md#versions
 */
export const kindSchemas: readonly KindSchema[] = [...istioKinds, ...gatewayApiKinds, ...legacyKinds];

const byGroupKind: ReadonlyMap<string, KindSchema> = new Map(
  kindSchemas.flatMap((schema) =>
    [schema.group, ...schema.aliases].map((group) => [`${group}/${schema.kind}`, schema] as const),
  ),
);

/** The schema of a kind; undefined for one that is no configuration of ours. */
export function schemaOf(group: string, kind: string): KindSchema | undefined {
  return byGroupKind.get(`${group}/${kind}`);
}
