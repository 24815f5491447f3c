import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { KeyServer } from "../../config/kinds/remote-keys.ts";
import { isIpAddress } from "../../config/values/ip-address.ts";
import { defaultCertificateFiles } from "../certificate-files.ts";
import { packAny } from "../core-messages.ts";
import { altStatName, keyServerCluster } from "../names.ts";
import type { ClusterClass } from "./cluster-class.ts";
import { circuitBreakers } from "./connection-pool.ts";
import { dnsFields } from "./discovery.ts";

/**
 * The cluster by which a proxy asks somebody outside of the mesh for the keys of tokens: found by DNS, over TLS, whose certificate must be of
 * that host and of an authority that the machine trusts.
 */
export function keyServer({ host, port }: KeyServer, { mesh, ipMode }: ClusterClass): ClusterJson {
  const name = keyServerCluster(port, host);
  const isAddress = isIpAddress(host);
  return {
    name,
    altStatName: altStatName(name),
    ...(isAddress ? { type: "STATIC" } : { type: "STRICT_DNS", ...dnsFields(mesh, ipMode) }),
    connectTimeout: mesh.connectTimeout,
    circuitBreakers: circuitBreakers(undefined, undefined),
    loadAssignment: {
      clusterName: name,
      endpoints: [{ lbEndpoints: [{ endpoint: { address: { socketAddress: { address: host, portValue: port } } } }] }],
    },
    transportSocket: {
      name: "envoy.transport_sockets.tls",
      typedConfig: packAny("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", {
        ...(isAddress ? {} : { sni: host }),
        commonTlsContext: {
          validationContext: {
            trustedCa: { filename: defaultCertificateFiles.systemRoots },
            matchTypedSubjectAltNames: [{ sanType: isAddress ? "IP_ADDRESS" : "DNS", matcher: { exact: host } }],
          },
        },
      }),
    },
  };
}
