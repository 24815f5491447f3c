import type { ConfigSourceJson } from "../../../gen/envoy/config/core/v3/config_source_pb.ts";
import type { SdsSecretConfigJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";
import { sdsCluster } from "../names.ts";

/** An SDS server behind a cluster. @param authority that it is called by; "": the cluster's name */
function server(clusterName: string, authority = ""): ConfigSourceJson {
  return {
    apiConfigSource: {
      apiType: "GRPC",
      transportApiVersion: "V3",
      setNodeOnFirstMessageOnly: true,
      grpcServices: [{ envoyGrpc: { clusterName, ...(authority === "" ? {} : { authority }) } }],
    },
    resourceApiVersion: "V3",
  };
}

/** The agent beside the proxy, which has the workload's identity and reads certificate files. */
const agent = server(sdsCluster);

/** Identity secrets: without them nothing may start, so the proxy waits for ever. */
export function identitySecret(name: string): SdsSecretConfigJson {
  return { name, sdsConfig: { ...agent, initialFetchTimeout: "0s" } };
}

/** Secrets made from files. */
export function fileSecret(name: string): SdsSecretConfigJson {
  return { name, sdsConfig: agent };
}

/** Secrets of an SDS server that the mesh names. */
export function serverSecret(name: string, cluster: string, authority: string): SdsSecretConfigJson {
  return { name, sdsConfig: server(cluster, authority) };
}

/** Secrets that the control plane hands out; one that is missing must not hold the proxy up. */
export function credentialSecret(name: string): SdsSecretConfigJson {
  return { name, sdsConfig: { ads: {}, resourceApiVersion: "V3" } };
}
