import { rootProblemOf } from "../../config/pem.ts";
import { keyPairFact, rootFact } from "../../config/secrets/secret-facts.ts";
import { fieldsOf, stringsOf, textOf } from "../../config/untyped.ts";
import type { KubernetesObject } from "../../registry/kubernetes/object.ts";
import { objectKey } from "../../registry/kubernetes/object.ts";
import { step } from "../memo/step.ts";

/** Secrets and ConfigMaps, as far as listeners and policies ask for them: `namespace/name` → what is wrong with them, "" for nothing. */
export interface Credentials {
  readonly keyPairs: ReadonlyMap<string, string>;
  readonly secretRoots: ReadonlyMap<string, string>;
  readonly configMapRoots: ReadonlyMap<string, string>;
}

export const noCredentials: Credentials = { keyPairs: new Map(), secretRoots: new Map(), configMapRoots: new Map() };

export const isCredential = ({ apiVersion, kind }: KubernetesObject): boolean =>
  apiVersion === "v1" && (kind === "Secret" || kind === "ConfigMap");

export const credentialsOf = step(
  "credentials of the Gateway API",
  { objects: "identity" },
  ({ objects }: { readonly objects: readonly KubernetesObject[] }): Credentials => {
    // Of one without facts only the name was read: it counts as one that is kept elsewhere.
    const secrets = objects.filter(
      ({ kind, metadata }) => kind === "Secret" && fieldsOf(metadata.annotations)[keyPairFact] !== undefined,
    );
    const configMaps = objects.filter(({ kind }) => kind === "ConfigMap");
    return {
      keyPairs: new Map(secrets.map((object) => [objectKey(object), factOf(object, keyPairFact)])),
      secretRoots: new Map(secrets.map((object) => [objectKey(object), factOf(object, rootFact)])),
      configMapRoots: new Map(configMaps.map((object) => [objectKey(object), rootProblemOf(stringsOf(object.data))])),
    };
  },
);

/** What was noted when the values of a Secret were left out. */
const factOf = ({ metadata }: KubernetesObject, fact: string): string => textOf(fieldsOf(metadata.annotations)[fact]);
