import { readFileSync } from "node:fs";
import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { worldOf } from "../snapshot/worlds.ts";

/** Sizes of the answers, in bytes, by the class that gets them. */
export const answerSizes = { small: 76_000, middle: 107_000, large: 1_000_000 } as const;
/** Before the paths of a bare server that are answered late. */
export const heldPath = "/held";

export type AnswerClass = keyof typeof answerSizes;

const perResource = 1_000;
/** What stands around a resource's content in an answer. */
const around = 97;

/** A class for each size; another round has another first resource in each. */
export function benchWorld(round: number): CompiledWorld {
  const classes = Object.entries(answerSizes).map(([id, size]) => {
    const names = Array.from({ length: size / perResource }, (_, at) => `cluster-${String(at).padStart(5, "0")}`);
    const content = (at: number) => `${at === 0 ? round % 10 : 0}`.padEnd(perResource - around, "x");
    return [id, { clusters: Object.fromEntries(names.map((name, at) => [name, content(at)])) }] as const;
  });
  const projections = classes.map(([id]) => [JSON.stringify(["default", "sidecar", id]), id] as const);
  return worldOf(Object.fromEntries(classes), {
    classifier: {
      attributes: ["namespace", "type"],
      labels: { "*": { keys: ["app"] } },
      classes: Object.fromEntries(projections),
      defaults: {},
    },
    nodes: [],
  });
}

const captured: { readonly body_raw: string } = JSON.parse(
  readFileSync(new URL("../captured/envoy/1.40.0/cds.first.raw.json", import.meta.url), "utf8"),
);

/** A poll, as it differs from the recorded one. */
export interface Recorded {
  readonly version?: string;
  /** Without its list of extensions, as the generated bootstrap makes it. */
  readonly slim: boolean;
  /** Which of the nodes of the class. */
  readonly node?: number;
}

/** A poll as Envoy 1.40.0 sent it, 77 KB, of a node of a class. */
export function recordedPoll(classId: AnswerClass, { version, slim, node: at = 0 }: Recorded): string {
  const { node, ...request } = JSON.parse(captured.body_raw);
  const { extensions, ...rest } = node;
  return JSON.stringify({
    ...(version === undefined ? {} : { version_info: version }),
    node: {
      ...rest,
      id: `sidecar~10.0.${at >> 8}.${at & 255}~${classId}-${at}.default~default.svc.cluster.local`,
      metadata: { ...rest.metadata, LABELS: { app: classId } },
      ...(slim ? {} : { extensions }),
    },
    ...request,
  });
}
