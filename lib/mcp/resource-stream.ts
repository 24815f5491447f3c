import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { type RequestResourcesSchema, ResourceSource } from "../../gen/istio/mcp/v1alpha1/resource_pb.ts";
import { createOutbox, type McpStream } from "./stream.ts";

type Request = MessageInitShape<typeof RequestResourcesSchema>;

/**
 * A stream of ResourceSource (Istio 1.1 to 1.8). Each push is answered with its nonce, refused or not.
 *
 * @param incremental whether to ask for increments; a source decides for itself
 */
export function resourceStream(transport: Transport, incremental: boolean): McpStream {
  return async ({ node, subscriptions, held, onPush }, signal) => {
    const outbox = createOutbox<Request>();
    for (const collection of subscriptions) {
      const versions = incremental ? [...held(collection)].map(([name, { version }]) => [name, version] as const) : [];
      const initialResourceVersions = Object.fromEntries(versions);
      outbox.send({ sinkNode: { id: node }, collection, initialResourceVersions, incremental });
    }
    try {
      const stream = createClient(ResourceSource, transport).establishResourceStream(outbox, { signal });
      for await (const { collection, nonce, resources, removedResources, incremental: isIncremental } of stream) {
        const push = { subscription: collection, resources, removed: removedResources, isIncremental };
        const refusal = onPush(push);
        outbox.send({
          sinkNode: { id: node },
          collection,
          responseNonce: nonce,
          incremental,
          ...(refusal === undefined ? {} : { errorDetail: refusal }),
        });
      }
    } finally {
      outbox.close();
    }
  };
}
