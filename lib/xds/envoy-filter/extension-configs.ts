import type { TypedExtensionConfigJson } from "../../../gen/envoy/config/core/v3/extension_pb.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { EnvoyFilterPatches } from "../../mesh/views/views.ts";
import { noResources, type Resource, uniqueByName } from "../resource.ts";
import { readPatches } from "./patch.ts";

type ExtensionConfigs = readonly Resource<TypedExtensionConfigJson>[];

/**
 * Configurations that filters ask for by name (ECDS): those that patches add, whatever part of the proxy they say they are for. Of one name
 * the first counts.
 *
 * @returns sorted by name
 * @see istio 1.30.3 pilot/pkg/networking/core/envoyfilter/extension_configuration_patch.go
 */
export function extensionConfigs(selected: EnvoyFilterPatches, memo: Memo): ExtensionConfigs {
  return selected.patches.length === 0 ? noResources : configsOf(memo, { selected });
}

const configsOf = query(
  "extension configurations",
  ({ selected }: { readonly selected: EnvoyFilterPatches }, memo: Memo): ExtensionConfigs => {
    const added = readPatches(memo, { selected }).value.extensionConfigs.flatMap(({ operation, value: json, key }) => {
      const { name = "" } = json;
      return operation === "ADD" && name !== "" ? [{ name, json, from: [key] }] : [];
    });
    return added.length === 0 ? noResources : uniqueByName(added);
  },
);
