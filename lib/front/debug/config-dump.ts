/** What a proxy is served, in the form of Envoy's configuration dump, as istioctl compares it with the Envoy's own. */
import { create, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  ClustersConfigDumpSchema,
  EndpointsConfigDumpSchema,
  ListenersConfigDumpSchema,
  RoutesConfigDumpSchema,
} from "../../../gen/envoy/admin/v3/config_dump_shared_pb.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import { type CoreType, typeUrlOf } from "../../snapshot/resource-type.ts";
import { binaryResources } from "../../streams/binary-resources.ts";
import type { Front } from "../front.ts";
import type { ServedProxy } from "./visible-nodes.ts";

/** A message of the dump, and its type. */
export interface DumpPart {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** Most that a dump may have, in bytes: all of it is in memory at a time. */
const maxDumpBytes = 32 * 1024 * 1024;

interface Resource {
  readonly name: string;
  readonly versionInfo: string;
  readonly any: Any;
}

/** @throws ConnectError for a snapshot without binary forms, and for a proxy that is served more than 32 MiB */
export async function configDump(front: Pick<Front, "browsing">, proxy: ServedProxy): Promise<readonly DumpPart[]> {
  let bytes = 0;
  async function resourcesOf(type: CoreType): Promise<{ readonly version: string; readonly all: readonly Resource[] }> {
    const { loaded, classId } = proxy;
    const tree = await front.browsing.tree(loaded.root, type, loaded.classes.get(classId)?.stream[type]);
    const all: Resource[] = [];
    for (const segment of tree.segments) {
      const names = [...(await front.browsing.entries(segment))];
      const parts = names.map(([name]) => ({ segment, name }));
      for (const [i, value] of (await binaryResources(front.browsing, parts)).entries()) {
        const [name, { version }] = names[i] ?? ["", { version: "" }];
        bytes += value.length;
        if (bytes > maxDumpBytes)
          throw new ConnectError("the dump is too long: use `portolan proxy-config`", Code.ResourceExhausted);
        all.push({ name, versionInfo: version, any: create(AnySchema, { typeUrl: typeUrlOf(type), value }) });
      }
    }
    return { version: wireVersion(tree.version), all };
  }
  const [clusters, listeners] = [await resourcesOf("clusters"), await resourcesOf("listeners")];
  const [routes, endpoints] = [await resourcesOf("routes"), await resourcesOf("endpoints")];
  const part = (name: string, value: Uint8Array): DumpPart => ({
    typeUrl: `type.googleapis.com/envoy.admin.v3.${name}`,
    value,
  });
  const { version: versionInfo } = clusters;
  const dynamicActiveClusters = clusters.all.map(({ any: cluster, ...of }) => ({
    versionInfo: of.versionInfo,
    cluster,
  }));
  const dynamicListeners = listeners.all.map(({ name, versionInfo, any: listener }) => ({
    name,
    activeState: { versionInfo, listener },
  }));
  const dynamicRouteConfigs = routes.all.map(({ versionInfo, any: routeConfig }) => ({ versionInfo, routeConfig }));
  const dynamicEndpointConfigs = endpoints.all.map(({ versionInfo, any: endpointConfig }) => ({
    versionInfo,
    endpointConfig,
  }));
  return [
    part(
      "ClustersConfigDump",
      toBinary(ClustersConfigDumpSchema, create(ClustersConfigDumpSchema, { versionInfo, dynamicActiveClusters })),
    ),
    part(
      "ListenersConfigDump",
      toBinary(
        ListenersConfigDumpSchema,
        create(ListenersConfigDumpSchema, { versionInfo: listeners.version, dynamicListeners }),
      ),
    ),
    part("RoutesConfigDump", toBinary(RoutesConfigDumpSchema, create(RoutesConfigDumpSchema, { dynamicRouteConfigs }))),
    part(
      "EndpointsConfigDump",
      toBinary(EndpointsConfigDumpSchema, create(EndpointsConfigDumpSchema, { dynamicEndpointConfigs })),
    ),
  ];
}
