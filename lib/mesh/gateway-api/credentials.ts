import { fieldsOf, stringsOf, textOf } from "../../base/untyped.ts";
import { keyPairFact, rootFact } from "../../config/secrets/secret-facts.ts";
import { rootProblemOf } from "../../config/values/pem.ts";
import { query } from "../../incremental/query.ts";
import { clusterBundleData, isClusterBundle } from "../../registry/kubernetes/cluster-trust-bundle.ts";
import type { KubernetesObject } from "../../registry/kubernetes/object.ts";
import { objectKey } from "../../registry/kubernetes/object.ts";

/** Secrets, ConfigMaps and ClusterTrustBundles, as far as listeners and policies ask for them: `namespace/name` → what is wrong with them, "" for nothing. */
export interface Credentials {
  readonly keyPairs: ReadonlyMap<string, string>;
  readonly secretRoots: ReadonlyMap<string, string>;
  readonly configMapRoots: ReadonlyMap<string, string>;
  /** Of ClusterTrustBundles, by name. */
  readonly clusterRoots: ReadonlyMap<string, string>;
}

export const noCredentials: Credentials = {
  keyPairs: new Map(),
  secretRoots: new Map(),
  configMapRoots: new Map(),
  clusterRoots: new Map(),
};

export const isCredential = (object: KubernetesObject): boolean =>
  (object.apiVersion === "v1" && (object.kind === "Secret" || object.kind === "ConfigMap")) || isClusterBundle(object);

export const credentialsOf = query(
  "credentials of the Gateway API",
  ({ objects }: { readonly objects: readonly KubernetesObject[] }): Credentials => {
    // Of one without facts only the name was read: it counts as one that is kept elsewhere.
    const secrets = objects.filter(
      ({ kind, metadata }) => kind === "Secret" && fieldsOf(metadata.annotations)[keyPairFact] !== undefined,
    );
    const configMaps = objects.filter(({ kind }) => kind === "ConfigMap");
    const clusterBundles = objects.filter(isClusterBundle);
    return {
      keyPairs: new Map(secrets.map((object) => [objectKey(object), factOf(object, keyPairFact)])),
      secretRoots: new Map(secrets.map((object) => [objectKey(object), factOf(object, rootFact)])),
      configMapRoots: new Map(configMaps.map((object) => [objectKey(object), rootProblemOf(stringsOf(object.data))])),
      clusterRoots: new Map(
        clusterBundles.map((object) => [object.metadata.name, rootProblemOf(clusterBundleData(object))]),
      ),
    };
  },
);

/** What was noted when the values of a Secret were left out. */
const factOf = ({ metadata }: KubernetesObject, fact: string): string => textOf(fieldsOf(metadata.annotations)[fact]);
