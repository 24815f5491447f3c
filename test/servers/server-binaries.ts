import { existsSync, readdirSync } from "node:fs";
import { lacks } from "../skip.ts";

const folder = new URL("../../.cache/servers/", import.meta.url).pathname;

/** Those that are tried, the newest first. `npm run test:servers` takes one of them, and a soak all that are built. */
export const kubernetesVersions = ["1.37.2", "1.35.4"] as const;
export type KubernetesVersion = (typeof kubernetesVersions)[number];

/** The newest one, or that which the variable `KUBERNETES` names. */
export const kubernetesVersion: KubernetesVersion =
  kubernetesVersions.find((version) => version === process.env.KUBERNETES) ?? kubernetesVersions[0];

/** Path of a real server, or of Helm, that `npm run test:servers` has built; undefined where it has not. */
export function serverBinary(
  name:
    | `kube-apiserver-${KubernetesVersion}`
    | "etcd-3.6.5"
    | "consul-1.15.4"
    | "helm-3.22.0"
    | "local-kms-20260228"
    | "pilot-agent-eed52ebb66ad"
    | "istioctl-eed52ebb66ad"
    | "istio-bootstrap-eed52ebb66ad.json",
): string | undefined {
  const path = folder + name;
  return existsSync(path) ? path : undefined;
}

/** Whether the API server and etcd are there; prints where they are not. */
export function hasApiServer(version = kubernetesVersion): boolean {
  const isThere = serverBinary(`kube-apiserver-${version}`) !== undefined && serverBinary("etcd-3.6.5") !== undefined;
  return !lacks(isThere, `kube-apiserver ${version} and etcd: KUBERNETES=${version} npm run test:servers builds them`);
}

/** Releases of the Gateway API whose CustomResourceDefinitions are tried, the oldest first. */
export const gatewayApiReleases = ["1.5.1", "1.6.0", "1.7.0"] as const;
export type GatewayApiRelease = (typeof gatewayApiReleases)[number];

/** Folder of a release's CustomResourceDefinitions, as `npm run test:servers` fetches them; undefined where it has not. */
export function gatewayApiFolder(release: GatewayApiRelease): string | undefined {
  const there = `${folder}gateway-api-${release}/`;
  return existsSync(there) ? there : undefined;
}

/** Its files. */
export function gatewayApiDefinitions(release: GatewayApiRelease): readonly string[] | undefined {
  const there = gatewayApiFolder(release);
  if (there === undefined) return undefined;
  return readdirSync(there)
    .filter((file) => file.startsWith("gateway.networking.") && !file.includes("_vap_"))
    .sort()
    .map((file) => there + file);
}
