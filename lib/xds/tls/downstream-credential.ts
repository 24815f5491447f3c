import type { SdsSecretConfigJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import { caOfCredential, credentialSecretName, workloadCertificate, workloadRootCa } from "../names.ts";
import { type ProviderCluster, type ProviderLookups, providerCluster } from "../telemetry/provider-cluster.ts";
import { credentialSecret, identitySecret, serverSecret } from "./sds-secret.ts";

const builtin = "builtin://";
const external = "sds://";

/** What decides who is asked. */
interface SecretSide {
  readonly secretServer: ProviderCluster | undefined;
  readonly mesh: Pick<MeshSettings, "rules">;
}

/**
 * Where a gateway gets the secret of a credential name from: the agent for the workload's own identity, the mesh's SDS
 * provider for `sds://` names where there is one, and the control plane for the rest.
 *
 * @see docs/how-istio-does-it/security.md#names-of-secrets
 */
export function serverCredential(name: string, { secretServer, mesh }: SecretSide): SdsSecretConfigJson {
  if (name === builtin) return identitySecret(workloadCertificate);
  if (name === caOfCredential(builtin)) return identitySecret(workloadRootCa);
  if (!name.startsWith(external) || secretServer === undefined) return credentialSecret(credentialSecretName(name));
  const authority = mesh.rules.namesSecretProviderAsAuthority ? secretServer.hostname : "";
  return serverSecret(name.slice(external.length), secretServer.cluster, authority);
}

/** The SDS server of the mesh's extension providers, the first if there are several. */
export function externalSecretServer(lookups: ProviderLookups): ProviderCluster | undefined {
  const provider = lookups.mesh.extensionProviders.find(({ sds }) => sds !== undefined)?.sds;
  return provider === undefined ? undefined : providerCluster(lookups, provider);
}
