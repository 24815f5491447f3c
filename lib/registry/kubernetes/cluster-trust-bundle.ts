import { fieldsOf, textOf } from "../../base/untyped.ts";
import type { KubernetesObject } from "./object.ts";

/** Whether an object is a ClusterTrustBundle, in whatever version. */
export const isClusterBundle = ({ apiVersion, kind }: KubernetesObject): boolean =>
  kind === "ClusterTrustBundle" && apiVersion.startsWith("certificates.k8s.io/");

/** Its certificates, as a ConfigMap would have them. */
export const clusterBundleData = ({ spec }: KubernetesObject): Readonly<Record<string, string>> => ({
  "ca.crt": textOf(fieldsOf(spec).trustBundle),
});
