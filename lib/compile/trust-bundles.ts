import { byCodePoint } from "../base/diagnostic.ts";
import { stringsOf } from "../base/untyped.ts";
import { rootProblemOf } from "../config/values/pem.ts";
import { query } from "../incremental/query.ts";
import { clusterBundleData, isClusterBundle } from "../registry/kubernetes/cluster-trust-bundle.ts";
import type { KubernetesObject } from "../registry/kubernetes/object.ts";
import { objectKey } from "../registry/kubernetes/object.ts";
import type { TrustBundle, TrustBundles } from "../snapshot/trust-bundle.ts";

/** In Istio's order: the first that says something counts. */
const caNames = ["cacert", "ca.crt"] as const;
const crlNames = ["crl", "ca.crl"] as const;

/** As much as Kubernetes lets a ConfigMap hold, in characters. */
const maxLength = 1024 * 1024;

const listOfRevoked = /-----BEGIN X509 CRL-----/;

/** Whether an object may hold certificates to check others against. */
export const holdsBundle = (object: KubernetesObject): boolean =>
  (object.apiVersion === "v1" && object.kind === "ConfigMap") || isClusterBundle(object);

/**
 * The certificates in ConfigMaps and ClusterTrustBundles. One whose certificates or list of revoked ones cannot be read is left out, and what names it trusts
 * nobody: without a list that somebody wants checked, more would be trusted than is meant.
 */
export const trustBundlesOf = query(
  "trust bundles",
  ({ objects }: { readonly objects: readonly KubernetesObject[] }): TrustBundles =>
    Object.fromEntries(
      objects
        .flatMap((object): readonly (readonly [string, TrustBundle])[] => {
          const isOfCluster = isClusterBundle(object);
          const bundle = bundleIn(isOfCluster ? clusterBundleData(object) : stringsOf(object.data));
          const key = isOfCluster ? `/${object.metadata.name}` : objectKey(object);
          return bundle === undefined ? [] : [[key, bundle]];
        })
        .sort(([a], [b]) => byCodePoint(a, b)),
    ),
);

function bundleIn(data: Readonly<Record<string, string>>): TrustBundle | undefined {
  const first = (names: readonly string[]) => names.map((name) => data[name] ?? "").find((text) => text !== "") ?? "";
  const [ca, crl] = [first(caNames), first(crlNames)];
  if (ca.length + crl.length > maxLength || rootProblemOf(data) !== "") return undefined;
  if (crl === "") return { ca };
  return listOfRevoked.test(crl) ? { ca, crl } : undefined;
}
