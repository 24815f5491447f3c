import { hashOf } from "../../base/blob.ts";
import { labelsOf } from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { ReadBody } from "../../limits/read-body.ts";
import { readSecretName } from "../../secrets/secret-name.ts";
import { secretTypeUrl } from "../../secrets/tls-secret.ts";
import { placeOfName } from "../../snapshot/nodes/name-search.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SecretGrant } from "../../snapshot/root.ts";
import { readBundleName, type TrustBundle } from "../../snapshot/trust-bundle.ts";
import type { Caller } from "../auth/caller.ts";
import { shown } from "../excess.ts";
import type { Front } from "../front.ts";
import { requestingNodeOf } from "../nodes/requesting-node.ts";
import { type HoldBounds, type HoldServices, holdUntilMs } from "../polls/hold.ts";
import { type Refused, refuse, refuseUnplaced } from "../polls/outcome.ts";
import type { PollRequest } from "../polls/poll-request.ts";
import { type SwitchServices, switchingOf } from "../polls/polled-switch.ts";
import { requestIn } from "../polls/read-request.ts";
import type { Sender } from "../polls/sender.ts";
import { type Answer, problem } from "../requests/answer.ts";
import { stillHoldingSecret } from "./hold-secret.ts";
import type { SecretFeed } from "./secrets.ts";

export type SecretAnswer =
  | { readonly kind: "changed"; readonly body: string }
  | { readonly kind: "unchanged" }
  | Refused;

/** What polls for secrets are answered from. */
export type SecretPollServices = HoldServices &
  HoldBounds &
  SwitchServices &
  SecretSources &
  Pick<Front, "knownPolls" | "served" | "place">;

/**
 * Answers a poll for a secret: to a node that has proven its namespace, and whose own resources name the secret. Held like every
 * other poll, while the secret is the one that the node has.
 */
export async function answerSecret(front: SecretPollServices, asking: Sender, body: ReadBody): Promise<SecretAnswer> {
  const read = requestIn(body, (whole) => front.knownPolls.read(whole));
  const answer = "request" in read ? await answerRequest(front, asking, read.request) : read;
  front.metrics.poll("secrets", answer.kind === "refused" ? answer.outcome : answer.kind);
  return answer;
}

async function answerRequest(front: SecretPollServices, poll: Sender, request: PollRequest): Promise<SecretAnswer> {
  const { typeUrl, names, node } = request;
  if (typeUrl !== undefined && typeUrl !== secretTypeUrl)
    return refuse(400, "bad-request", `type_url ${shown(typeUrl)} does not belong to this path; ${secretTypeUrl} does`);
  const [name = "", ...more] = names;
  if (name === "" || more.length > 0) return refuse(400, "bad-request", "secrets are fetched one by one, by name");
  const untilMs = holdUntilMs(front, poll.patienceMs);
  for (let isNew = true; ; isNew = false) {
    const switching = switchingOf(front, { node, caller: poll.caller, shape: "poll" });
    const served = await front.served({ nodeId: node.id, labels: () => labelsOf(node) }, switching);
    if (served === undefined) return refuse(503, "unavailable", "nothing was published yet");
    const placement = await front.place(served.loaded, node, poll.caller);
    if (placement.kind !== "placed") return refuseUnplaced(placement);
    const answer = await answerNow(
      front,
      poll.caller,
      secretsOf(served.loaded, placement.classId),
      name,
      request.version,
    );
    if (isNew && answer.kind !== "refused")
      front.nodes.has({ ...requestingNodeOf(poll.caller, node), type: "secrets", name }, request.version, "poll", {
        classId: placement.classId,
        root: served.apart,
      });
    if (answer.kind !== "unchanged") return answer;
    const who = { ...requestingNodeOf(poll.caller, node), type: "secrets", name };
    const waiting = { untilMs, bytes: request.bytes, who, signal: poll.signal };
    if (!(await stillHoldingSecret(front, served.state, waiting))) return answer;
  }
}

async function answerNow(
  front: SecretSources,
  caller: Caller,
  secrets: SecretsOfClass,
  name: string,
  known: string | undefined,
): Promise<SecretAnswer> {
  const found = await secretFor(front, caller, secrets, name);
  if (found.kind === "refused") return found;
  const resources = JSON.stringify([found.resource]);
  const version = wireVersion(hashOf(resources));
  if (version === known) return { kind: "unchanged" };
  return {
    kind: "changed",
    body: `{"version_info":"${version}","type_url":"${secretTypeUrl}","resources":${resources}}\n`,
  };
}

export type SecretFor = { readonly kind: "found"; readonly resource: object } | Refused;

/** What a root says of the secrets of a class. */
export interface SecretsOfClass {
  /** Named by its resources, sorted. */
  readonly named: readonly string[];
  /** What ReferenceGrants let gateways have of other namespaces. */
  readonly grants: readonly SecretGrant[];
  /** Blob with the certificates in ConfigMaps that its root has; undefined: none. */
  readonly bundles: string | undefined;
}

/** What a front has secrets, and certificates, from. */
export type SecretSources = Pick<Front, "secrets" | "trustBundles">;

export const secretsOf = ({ root, classes }: LoadedRoot, classId: string): SecretsOfClass => ({
  named: classes.get(classId)?.secrets ?? none,
  grants: root.secretGrants ?? none,
  bundles: root.trustBundles,
});

/** One list for all: streams tell by the lists whether their class names other secrets now. */
const none: readonly never[] = [];

/** A secret for whoever asks, over any transport. */
export async function secretFor(
  front: SecretSources,
  caller: Caller,
  { named, grants, bundles }: SecretsOfClass,
  name: string,
): Promise<SecretFor> {
  const bundle = readBundleName(name);
  if (bundle !== undefined) {
    if (named[placeOfName(named, name, (one) => one)] !== name)
      return refuse(404, "unknown-name", `nothing that the node is served names ${shown(name)}`);
    const { namespace = caller.kind === "node" ? caller.namespace : "" } = bundle;
    const found =
      bundles === undefined ? undefined : (await front.trustBundles(bundles))[`${namespace}/${bundle.name}`];
    if (found === undefined) return refuse(404, "unknown-name", `no source has certificates for ${shown(name)}`);
    return { kind: "found", resource: bundleResource(name, found) };
  }
  if (front.secrets === undefined) return refuse(404, "unknown-name", "no secrets are served here");
  if (caller.kind !== "node") return refuse(403, "forbidden", "secrets are only for nodes that prove their identity");
  const question = readSecretName(name);
  if (question === undefined || named[placeOfName(named, name, (one) => one)] !== name)
    return refuse(404, "unknown-name", `nothing that the node is served names the secret ${shown(name)}`);
  const { namespace = caller.namespace } = question;
  const isGranted = (grant: SecretGrant): boolean =>
    question.isOfGateway &&
    grant.from === caller.namespace &&
    grant.to === namespace &&
    (grant.name === undefined || grant.name === question.name);
  if (namespace !== caller.namespace && !grants.some(isGranted))
    return refuse(403, "forbidden", `${shown(name)} is in another namespace than ${caller.subject}`);
  const found = await findNow(front.secrets, namespace, question, name);
  if (found === "unreadable")
    return refuse(
      503,
      "unavailable",
      `the secret ${shown(name)} cannot be opened now; see the front's log for the reason`,
    );
  if (found === undefined) return refuse(404, "unknown-name", `there is no secret ${shown(name)} in ${namespace}`);
  const isMeant =
    found.serviceAccounts?.includes(caller.serviceAccount ?? "") !== false &&
    found.clusters?.includes(caller.clusterId ?? "") !== false;
  if (!isMeant) return refuse(403, "forbidden", `${shown(name)} is not for ${caller.subject}`);
  return { kind: "found", resource: found.resource };
}

/** Certificates as Envoy takes them. They are no secret, so whoever is served what names them may have them. */
const bundleResource = (name: string, { ca, crl }: TrustBundle): object => ({
  "@type": secretTypeUrl,
  name,
  validation_context: {
    trusted_ca: { inline_string: ca },
    ...(crl === undefined ? {} : { crl: { inline_string: crl } }),
  },
});

/** Why a secret cannot be read or opened is the operator's to know, and in the log by then. */
async function findNow(feed: SecretFeed, ...asked: Parameters<SecretFeed["find"]>) {
  try {
    return await feed.find(...asked);
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    return "unreadable";
  }
}

/** Nobody on the way may keep a secret. */
export function secretResponse(answer: SecretAnswer): Answer {
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  switch (answer.kind) {
    case "unchanged":
      return { status: 304, headers };
    case "refused":
      return problem(answer.status, answer.reason);
    case "changed":
      return { status: 200, headers, body: answer.body };
  }
}
