import type { Fields } from "../../base/untyped.ts";
import { accountObjects } from "./accounts.ts";
import { admissionObjects, compileObjects, frontObjects, istiodService } from "./deployments.ts";
import type { Installation } from "./install-options.ts";
import { networkObjects } from "./network-objects.ts";
import { settingsObjects } from "./settings-objects.ts";
import { webhookObjects } from "./webhook-objects.ts";

/**
 * Everything that an installation is in a cluster but for its Secrets, in the order in which it is applied: an object comes after those
 * that it needs, and what makes the API server depend on Portolan comes last.
 */
export function installObjects(of: Installation): readonly Fields[] {
  return [
    ...namespaces(of),
    ...accountObjects(of),
    ...settingsObjects(of),
    ...networkObjects(of),
    ...frontObjects(of),
    ...compileObjects(of),
    ...(of.features.has("admission") ? admissionObjects(of) : []),
    ...(of.features.has("istiod") ? [istiodService(of)] : []),
    ...webhookObjects(of),
  ];
}

/** The pods of a namespace of its own are restricted ones. Istio's may hold gateways of any kind. */
const namespaces = ({ namespace, istioNamespace }: Installation): readonly Fields[] =>
  [...new Set([namespace, istioNamespace])].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name,
      ...(name === istioNamespace ? {} : { labels: { "pod-security.kubernetes.io/enforce": "restricted" } }),
    },
  }));
