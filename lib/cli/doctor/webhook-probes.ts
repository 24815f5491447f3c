import { X509Certificate } from "node:crypto";
import { type Fields, fieldsOf, listIn, listOf, stringsOf, textOf } from "../../base/untyped.ts";
import { pemBlocks } from "../../ca/authority.ts";
import { type ApiFailure, jsonOf, send } from "../../registry/kubernetes/api/client.ts";
import { injectLabel, revisionLabel } from "../../registry/kubernetes/injection.ts";
import type { ObjectName } from "../install/cluster-objects.ts";
import { otherInjectors, otherInjectorsHint } from "../install/other-injectors.ts";
import { refusalText } from "../kube/kube-write.ts";
import type { Examined } from "./examined.ts";
import { type Finding, failed, passed, skipped, warned } from "./finding.ts";

const isConfiguration = ({ kind }: ObjectName): boolean => kind.endsWith("WebhookConfiguration");

/**
 * Whether the API server trusts the webhooks, and what they answer: by dry runs of an object that is wrong and of a pod, which nothing
 * is made of.
 */
export async function webhookFindings(
  examined: Examined,
  there: ReadonlyMap<ObjectName, Fields | undefined>,
): Promise<readonly Finding[]> {
  const { features } = examined.of;
  return [
    ...authorityFindings([...there].filter(([name]) => isConfiguration(name)).map(([, found]) => fieldsOf(found))),
    features.has("admission") ? await validationProbe(examined) : skipped("validation", "admission is not installed"),
    features.has("injection") ? await injectionProbe(examined) : skipped("injection", "injection is not installed"),
  ];
}

const logHint = "see the log of the admission pods: they write caBundle from the CA in the store";

function authorityFindings(configurations: readonly Fields[], nowMs = Date.now()): readonly Finding[] {
  const check = "authorities";
  if (configurations.length === 0) return [];
  const bundles = configurations.flatMap((one) =>
    listOf(one.webhooks).map((webhook) => textOf(fieldsOf(fieldsOf(webhook).clientConfig).caBundle)),
  );
  if (bundles.includes("")) return [failed(check, "a webhook configuration has no caBundle", logHint)];
  const distinct = new Set(bundles);
  const roots = [...distinct].flatMap((one) => pemBlocks(Buffer.from(one, "base64").toString(), "CERTIFICATE"));
  const ends = roots.map((pem) => Date.parse(new X509Certificate(pem).validTo));
  if (!ends.some((end) => end > nowMs)) return [failed(check, "no certificate of caBundle is valid now", logHint)];
  if (distinct.size > 1) return [warned(check, "the webhook configurations have different caBundles", logHint)];
  return [
    passed(check, `caBundle is the same in all webhooks, valid until ${new Date(Math.max(...ends)).toISOString()}`),
  ];
}

const namespace = "default";

/** No definition refuses it, and `portolan validate` does. */
const wrongObject = { metadata: { name: "portolan-doctor" }, spec: { hosts: ["not a host"] } };

async function validationProbe({ connection }: Examined): Promise<Finding> {
  const check = "validation";
  const place = await connection.find("networking.istio.io", "VirtualService");
  if (place === undefined) return skipped(check, "Istio's kinds are not installed");
  const { apiVersion, kind } = place;
  const path = `${place.path(namespace)}?dryRun=All`;
  const answer = await send(connection.client, path, { method: "POST", body: { apiVersion, kind, ...wrongObject } });
  if ("response" in answer)
    return failed(
      check,
      `the API server takes an invalid VirtualService in namespace ${namespace}`,
      "check the ValidatingWebhookConfiguration: its rules, selectors and failurePolicy",
    );
  if (answer.failure.message.includes('"validate.portolan.dev" denied'))
    return passed(check, "an invalid VirtualService is refused");
  return callFinding(check, answer.failure);
}

async function injectionProbe({ connection, of }: Examined): Promise<Finding> {
  const check = "injection";
  const others = await otherInjectors(connection, of);
  if (others.length > 0)
    return failed(check, `${others.join(" and ")} of Istio injects the same pods, too`, otherInjectorsHint);
  const labels = { [injectLabel]: "true", ...(of.revision === "default" ? {} : { [revisionLabel]: of.revision }) };
  const body = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "portolan-doctor", labels },
    spec: { serviceAccountName: "default", containers: [{ name: "app", image: "app" }] },
  };
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const answer = await send(connection.client, path, { method: "POST", body });
  if ("failure" in answer) return callFinding(check, answer.failure);
  const { spec, metadata } = fieldsOf(await jsonOf(path, answer.response));
  const names = ["containers", "initContainers"].flatMap((list) => listIn(spec, list).map((one) => fieldsOf(one).name));
  if (names.includes("istio-proxy")) {
    const revision = stringsOf(fieldsOf(metadata).labels)[revisionLabel] ?? of.revision;
    return passed(check, `a pod with the label ${injectLabel} gets a proxy of revision ${revision}`);
  }
  return failed(
    check,
    `a pod with the label ${injectLabel} in namespace ${namespace} gets no proxy`,
    "check the MutatingWebhookConfiguration and the labels istio-injection and istio.io/rev of the namespace",
  );
}

/** What an API server says where a webhook did not answer as it should. */
function callFinding(check: string, failure: ApiFailure): Finding {
  const text = refusalText(failure);
  if (failure.message.includes("failed calling webhook"))
    return failed(
      check,
      text,
      /x509|certificate/.test(text)
        ? `caBundle does not vouch for the certificate that is served: ${logHint}`
        : "see the rollout of the admission pods, and whether the API server reaches their port 8443",
    );
  if (failure.status === 403 && failure.message.includes("cannot create"))
    return skipped(check, `you may not try it: ${failure.message}`);
  return warned(check, `something else refuses the dry run: ${text}`, "see which webhook or quota it is");
}
