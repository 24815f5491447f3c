/**
 * Envoy's descriptors: the messages that resources are, and every type that an Any in one may hold.
 * @see docs/decisions/001-envoy-types-from-npm.md
 */

import { createRegistry, type DescFile } from "@bufbuild/protobuf";
import { file_google_protobuf_field_mask } from "@bufbuild/protobuf/wkt";
import { ClusterSchema } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { TypedExtensionConfigSchema } from "../../gen/envoy/config/core/v3/extension_pb.ts";
import { ClusterLoadAssignmentSchema } from "../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import { ListenerSchema } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { RouteConfigurationSchema } from "../../gen/envoy/config/route/v3/route_pb.ts";
import { NameTableSchema } from "../../gen/istio/networking/nds/v1/nds_pb.ts";
import { descriptorFiles } from "./descriptor-files.ts";

/** Every type that an Any may hold in what we make and take. */
export const registry = createRegistry(...withImports([...descriptorFiles, file_google_protobuf_field_mask]));

/** The messages that resources are. */
export const schemas = {
  clusters: ClusterSchema,
  endpoints: ClusterLoadAssignmentSchema,
  listeners: ListenerSchema,
  routes: RouteConfigurationSchema,
  extension_configs: TypedExtensionConfigSchema,
  name_tables: NameTableSchema,
} as const;

/** The files and all that they import, each once. */
function withImports(files: readonly DescFile[]): readonly DescFile[] {
  const found = new Set<DescFile>();
  const visit = (file: DescFile): void => {
    if (found.has(file)) return;
    found.add(file);
    file.dependencies.forEach(visit);
  };
  files.forEach(visit);
  return [...found];
}
