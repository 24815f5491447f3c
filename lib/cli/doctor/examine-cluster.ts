import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../../base/untyped.ts";
import { version } from "../../config/values/version.ts";
import { jsonOf, send } from "../../registry/kubernetes/api/client.ts";
import { isOwn, nameText, type ObjectName, readInventory, readObject } from "../install/cluster-objects.ts";
import type { Installation } from "../install/install-options.ts";
import { nameOf } from "../install/install-options.ts";
import type { KubeConnection } from "../kube/kube-connection.ts";
import { refusalText } from "../kube/kube-write.ts";
import { counted } from "../numbers.ts";
import type { Examined } from "./examined.ts";
import { type Finding, failed, passed, skipped, warned } from "./finding.ts";
import { frontFindings } from "./health-checks.ts";
import { rightsFindings } from "./rights-check.ts";
import { webhookFindings } from "./webhook-probes.ts";

/** Names that stand for a part of an installation in its inventory. */
function installationIn(
  inventory: readonly ObjectName[],
  { namespace, revision }: Pick<Installation, "namespace" | "revision">,
): Installation {
  const name = nameOf({ revision });
  const has = (kind: string, one: string) => inventory.some((object) => object.kind === kind && object.name === one);
  const mutating = inventory.filter(({ kind }) => kind === "MutatingWebhookConfiguration");
  const tagForm = "portolan-revision-tag-";
  const features = new Set([
    ...(inventory.some(({ kind, name: one }) => kind === "Service" && one.startsWith("istiod"))
      ? (["istiod"] as const)
      : []),
    ...(has("Deployment", `${name}-admission`) ? (["ca", "admission"] as const) : []),
    ...(mutating.length > 0 ? (["injection"] as const) : []),
  ]);
  return {
    namespace,
    revision,
    istioNamespace: inventory.find((object) => object.kind === "Role" && object.name === name)?.namespace ?? "",
    tags: mutating.flatMap((one) => (one.name.startsWith(tagForm) ? [one.name.slice(tagForm.length)] : [])),
    features,
    store: "",
    image: "",
    env: {},
    clusterDomain: "",
    secretNames: has("ClusterRole", `${name}-secret-names`),
    workloadEntries: has("ClusterRole", `${name}-workload-entries`),
  };
}

/** Checks what `portolan install` has put into a cluster, and whether it does its work there. Nothing is written. */
export async function* examineCluster(
  connection: KubeConnection,
  of: Pick<Installation, "namespace" | "revision">,
): AsyncGenerator<Finding> {
  yield await versionFinding(connection);
  const inventory = await readInventory(connection, { ...installationIn([], of) });
  const check = "installation";
  if (inventory === undefined) {
    yield failed(
      check,
      `no inventory of ${nameOf(of)} in namespace ${of.namespace}`,
      "install it with `portolan install --apply`, or name the installation with -n and --revision",
    );
    return;
  }
  yield passed(check, `${counted(inventory.length, "object")} in the inventory of ${nameOf(of)}`);
  const examined: Examined = { connection, inventory, of: installationIn(inventory, of) };
  const there = new Map<ObjectName, Fields | undefined>();
  for (const name of inventory) there.set(name, await readObject(connection, name));
  yield objectsFinding(examined, there);
  yield await definitionsFinding(connection);
  const deployments = [...there.values()].flatMap((one) => (one?.kind === "Deployment" ? [one] : []));
  yield rolloutFinding(deployments);
  yield imageFinding(deployments);
  yield* await rightsFindings(examined);
  yield* await frontThroughServer(examined);
  yield* await webhookFindings(examined, there);
}

/** What `portolan install` needs: server-side apply, and Services that change their type. */
const oldestMinor = 27;

async function versionFinding({ client, context }: KubeConnection): Promise<Finding> {
  const check = "api server";
  const answer = await send(client, "/version", {});
  if ("failure" in answer)
    return failed(check, `${context}: ${refusalText(answer.failure)}`, "check the context and its credentials");
  const { gitVersion, major, minor } = fieldsOf(await jsonOf("/version", answer.response));
  const text = `${context} runs Kubernetes ${textOf(gitVersion)}`;
  const number = Number.parseInt(textOf(minor), 10);
  return textOf(major) === "1" && number < oldestMinor
    ? warned(check, text, `Portolan is tested with Kubernetes 1.${oldestMinor} and later: update the cluster`)
    : passed(check, text);
}

function objectsFinding({ of }: Examined, there: ReadonlyMap<ObjectName, Fields | undefined>): Finding {
  const check = "objects";
  const missing = [...there].filter(([, found]) => found === undefined || !isOwn(found, nameOf(of)));
  if (missing.length === 0) return passed(check, "all are there, with the label of the installation");
  const names = missing.map(([name]) => nameText(name)).join(", ");
  return failed(
    check,
    `missing, or without the label: ${names}`,
    "run `portolan install --apply` with its options again",
  );
}

async function definitionsFinding({ find }: KubeConnection): Promise<Finding> {
  const check = "definitions";
  const place = await find("networking.istio.io", "VirtualService");
  if (place !== undefined) return passed(check, `Istio's kinds are served as ${place.apiVersion}`);
  return warned(check, "Istio's kinds are not installed", "install the chart istio/base (docs/install.md)");
}

function rolloutFinding(deployments: readonly Fields[]): Finding {
  const check = "rollout";
  const states = deployments.map(({ metadata, spec, status }) => {
    const { name, generation } = fieldsOf(metadata);
    const { availableReplicas, observedGeneration } = fieldsOf(status);
    const [wanted, available] = [numberOf(fieldsOf(spec).replicas) ?? 1, numberOf(availableReplicas) ?? 0];
    const isBehind = observedGeneration !== generation || available < wanted;
    return { isBehind, text: `${textOf(name)} ${available} of ${wanted}` };
  });
  const behind = states.filter(({ isBehind }) => isBehind);
  if (behind.length === 0) return passed(check, `available: ${states.map(({ text }) => text).join(", ")}`);
  return failed(
    check,
    `not available: ${behind.map(({ text }) => text).join(", ")}`,
    "see `kubectl describe pod` and the pods' logs: Secrets, the image, the bucket, and `portolan ca show`",
  );
}

function imageFinding(deployments: readonly Fields[]): Finding {
  const check = "versions";
  const images = new Set(
    deployments
      .flatMap(({ spec }) => listOf(fieldsOf(fieldsOf(fieldsOf(spec).template).spec).containers))
      .map((container) => textOf(fieldsOf(container).image)),
  );
  const text = [...images].join(", ");
  if (images.size === 1 && text.endsWith(`:${version}`)) return passed(check, text);
  return warned(check, `${text}; this program is ${version}`, "use one version: `portolan install --apply --image …`");
}

/** @returns how the front answers through the API server, which reaches Services of the cluster */
async function frontThroughServer({ connection: { client }, of }: Examined): Promise<readonly Finding[]> {
  const check = "portolan";
  const path = `/api/v1/namespaces/${of.namespace}/services/http:${nameOf(of)}:8080/proxy/healthz`;
  const answer = await send(client, path, {});
  if ("response" in answer) {
    const text = JSON.stringify(await jsonOf(path, answer.response));
    return frontFindings({ status: 200, text, location: undefined });
  }
  const { status, reason, message } = answer.failure;
  if (status === 403) return [skipped(check, `you may not reach Services through the API server: ${message}`)];
  // A Status of the API server has a reason; what the front answers has none.
  if (reason === "") return frontFindings({ status, text: message, location: undefined });
  return [failed(check, `the API server does not reach the front: ${message}`, "see the rollout, and NetworkPolicies")];
}
