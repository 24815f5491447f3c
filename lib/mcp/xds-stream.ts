import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { AggregatedDiscoveryService } from "../../gen/envoy/service/discovery/v3/ads_pb.ts";
import type { DiscoveryRequestSchema } from "../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { type Resource, ResourceSchema } from "../../gen/istio/mcp/v1alpha1/resource_pb.ts";
import { causeText } from "../base/cause-text.ts";
import type { McpPush } from "./collection-state.ts";
import { createOutbox, type McpStream } from "./stream.ts";

type Request = MessageInitShape<typeof DiscoveryRequestSchema>;

/** What tells Istio's server that configuration is asked for, and not resources of Envoy. */
const metadata = { GENERATOR: "api" };

/**
 * A stream of ADS that carries configuration (Istio since 1.8): a type URL is `<group>/<version>/<Kind>`, each answer is all of its
 * type, and each resource a `Resource` of MCP.
 */
export function xdsStream(transport: Transport): McpStream {
  return async ({ node: id, subscriptions, onPush }, signal) => {
    const outbox = createOutbox<Request>();
    /** The last version of each type that was taken. */
    const versions = new Map<string, string>();
    for (const typeUrl of subscriptions) outbox.send({ node: { id, metadata }, typeUrl });
    try {
      const stream = createClient(AggregatedDiscoveryService, transport).streamAggregatedResources(outbox, { signal });
      for await (const { typeUrl, nonce, versionInfo, resources } of stream) {
        const refusal = onPush({
          subscription: typeUrl,
          removed: [],
          isIncremental: false,
          ...readResources(resources),
        });
        if (refusal === undefined) versions.set(typeUrl, versionInfo);
        outbox.send({
          node: { id, metadata },
          typeUrl,
          responseNonce: nonce,
          versionInfo: versions.get(typeUrl) ?? "",
          ...(refusal === undefined ? {} : { errorDetail: refusal }),
        });
      }
    } finally {
      outbox.close();
    }
  };
}

function readResources(list: readonly Any[]): Pick<McpPush, "resources" | "problem"> {
  try {
    return { resources: list.map(readResource) };
  } catch (cause) {
    return { resources: [], problem: causeText(cause) };
  }
}

function readResource({ typeUrl, value }: Any): Resource {
  if (!typeUrl.endsWith(`/${ResourceSchema.typeName}`))
    throw new Error(`a ${typeUrl} is no ${ResourceSchema.typeName}`);
  return fromBinary(ResourceSchema, value);
}
