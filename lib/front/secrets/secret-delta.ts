import { labelsOf } from "../../base/classifier.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import { secretTypeUrl } from "../../secrets/tls-secret.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { ShapeName } from "../../snapshot/resource-type.ts";
import type { Caller } from "../auth/caller.ts";
import type { DeltaRequest } from "../delta/delta-request.ts";
import { hear } from "../delta/tree-in-force.ts";
import type { Front } from "../front.ts";
import type { HoldServices, Waiting } from "../polls/hold.ts";
import { type Refused, refuse, refuseUnplaced } from "../polls/outcome.ts";
import { type SwitchServices, switchingOf } from "../polls/polled-switch.ts";
import { stillHoldingSecret } from "./hold-secret.ts";
import { type SecretSources, secretsOf } from "./secret-answer.ts";
import { type SecretChanges, secretChanges, secretsVersion } from "./secret-changes.ts";

/** What a delta request for secrets comes to. */
export interface SecretsNow extends Pick<SecretChanges, "changed"> {
  readonly kind: "secrets";
  /** Of all that its reader has with it. */
  readonly version: string;
  readonly classId: string;
  /** Names that there is nothing for, sorted. */
  readonly removed: readonly string[];
}

/** What delta requests for secrets are answered from. */
export type SecretServices = HoldServices & SwitchServices & SecretSources & Pick<Front, "served" | "place" | "said">;

/** Secrets by name, as a delta request asks for them: each by the rules of polls. */
export async function secretsNow(
  front: SecretSources & Pick<Front, "place">,
  loaded: LoadedRoot,
  { node, names = [], known }: Pick<DeltaRequest, "node" | "names" | "known">,
  caller: Caller,
): Promise<SecretsNow | Refused> {
  const wanted = [...new Set([...names, ...known.keys()])].sort(byCodePoint);
  if (wanted.length === 0) return refuse(400, "bad-request", "secrets are asked for by name");
  const placement = await front.place(loaded, node, caller);
  if (placement.kind !== "placed") return refuseUnplaced(placement);
  const { classId } = placement;
  const before = new Map(wanted.flatMap((name) => (known.has(name) ? [[name, known.get(name) ?? ""] as const] : [])));
  const reader = { caller, secrets: secretsOf(loaded, classId) };
  const { changed, missing, closed, sent } = await secretChanges(front, reader, wanted, before);
  const [why] = [...closed, ...missing.map((one) => one.why)];
  const isAnswer = sent.size > missing.length || missing.some(({ name }) => known.has(name));
  // Who gets nothing, and has nothing to give up, is told why.
  if (why !== undefined && !isAnswer) return why;
  const removed = missing.map(({ name }) => name);
  return { kind: "secrets", changed, removed, version: secretsVersion(sent), classId };
}

/** How a request for secrets waits. */
export type SecretWaiting = Pick<Waiting, "untilMs" | "signal"> & {
  readonly caller: Caller;
  readonly shape: ShapeName;
};

/** Answers a delta request for secrets, and holds it while they are those that its reader has. */
export async function answerSecretDelta(
  front: SecretServices,
  { caller, shape, ...waiting }: SecretWaiting,
  request: DeltaRequest,
): Promise<SecretsNow | { readonly kind: "unchanged" } | Refused> {
  const { node, held, bytes } = request;
  for (let isNew = true; ; isNew = false) {
    const switching = switchingOf(front, { node, caller, shape });
    const served = await front.served({ nodeId: node.id, labels: () => labelsOf(node) }, switching);
    if (served === undefined) return refuse(503, "unavailable", "nothing was published yet");
    const now = await secretsNow(front, served.loaded, request, caller);
    if (now.kind === "refused") return now;
    const { version, classId } = now;
    const root = served.loaded.hash;
    const speaker = { node, caller, type: "secrets", shape, version, classId, root, apart: served.apart } as const;
    hear(front, speaker, request, isNew);
    if (held?.version !== version) return now;
    if (!(await stillHoldingSecret(front, served.state, { ...waiting, bytes }))) return { kind: "unchanged" };
  }
}

/** A DeltaDiscoveryResponse in proto JSON. */
export function secretDeltaBody({ version, changed, removed }: SecretsNow): string {
  return `${JSON.stringify({
    system_version_info: version,
    resources: changed,
    type_url: secretTypeUrl,
    ...(removed.length === 0 ? {} : { removed_resources: removed }),
    nonce: version,
  })}\n`;
}
