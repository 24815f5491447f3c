import { fieldsOf, listOf, stringsOf, textOf } from "../../base/untyped.ts";
import { apiError, jsonOf, send } from "../../registry/kubernetes/api/client.ts";
import { revisionLabel } from "../../registry/kubernetes/injection.ts";
import type { KubeConnection } from "../kube/kube-connection.ts";
import { isOwn } from "./cluster-objects.ts";
import { type Installation, nameOf } from "./install-options.ts";

const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/**
 * Names of Istio's webhook configurations that inject the pods which this installation injects, too: such a pod would get two proxies.
 *
 * @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/templates/mutatingwebhook.yaml
 */
export async function otherInjectors(
  { client }: KubeConnection,
  of: Pick<Installation, "features" | "revision" | "tags">,
): Promise<readonly string[]> {
  if (!of.features.has("injection")) return [];
  const answer = await send(client, path, {});
  if ("failure" in answer) throw apiError(path, answer.failure);
  const revisions = new Set([of.revision, ...of.tags]);
  return listOf(fieldsOf(await jsonOf(path, answer.response)).items)
    .map(fieldsOf)
    .filter((one) => !isOwn(one, nameOf(of)))
    .filter(({ metadata }) => {
      const { app, "istio.io/tag": tag, [revisionLabel]: revision = "" } = stringsOf(fieldsOf(metadata).labels);
      return app === "sidecar-injector" && revisions.has(tag ?? revision);
    })
    .map(({ metadata }) => textOf(fieldsOf(metadata).name));
}

/** What to do about them. */
export const otherInjectorsHint = "delete them when Portolan is ready, or install another --revision";
