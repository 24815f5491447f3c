import { analysisOf } from "../analysis/analysis-input.ts";
import { analyze, wholeAnalyzers } from "../analysis/analyze.ts";
import type { OtherHost } from "../analysis/known-hosts.ts";
import { type Diagnostic, identityText, keyText } from "../base/diagnostic.ts";
import { stringsOf } from "../base/untyped.ts";
import type { Config } from "../config/config.ts";
import type { LoadedDirectory } from "../config/folder/directory.ts";
import type { GuardedWorkload } from "./posture.ts";

/** What the newest sources of a mesh hold. */
export interface AdmissionWorld {
  readonly loaded: LoadedDirectory;
  readonly clusterIds: readonly string[];
  /** Hosts of registries whose objects are not in `loaded`. */
  readonly otherHosts: readonly OtherHost[];
}

/** A change of one object, as an analysis sees it. */
export interface WorldChange {
  readonly before: Config | undefined;
  readonly after: Config | undefined;
}

/** Analysing more objects takes longer than an API server should wait for. */
export const maxAnalyzed = 5_000;

/**
 * What the analysers say of a world after a change: of the object itself, and what they did not say before of the others.
 *
 * @returns undefined for a world of more than `maxAnalyzed` objects, which is not analysed
 */
export function analysisAfter(world: AdmissionWorld, change: WorldChange): readonly Diagnostic[] | undefined {
  const { configs, objects } = world.loaded;
  if (configs.length + objects.length > maxAnalyzed) return undefined;
  const subject = change.after ?? change.before;
  if (subject === undefined) return [];
  const key = identityText(subject.origin.key);
  const others = configs.filter(({ origin }) => identityText(origin.key) !== key);
  const next = change.after === undefined ? others : [...others, change.after];
  const known = new Set(messagesOf(world).map(messageKey));
  return messagesIn(world, next).filter(
    (message) => identityText(message.origin.key) === key || !known.has(messageKey(message)),
  );
}

/** Of a world as it is, worked out once. */
function messagesOf(world: AdmissionWorld): readonly Diagnostic[] {
  const known = told.get(world);
  if (known !== undefined) return known;
  const messages = messagesIn(world, world.loaded.configs);
  told.set(world, messages);
  return messages;
}

const told = new WeakMap<AdmissionWorld, readonly Diagnostic[]>();

const messagesIn = ({ loaded, ...rest }: AdmissionWorld, configs: readonly Config[]): readonly Diagnostic[] =>
  analyze({ ...loaded, ...rest, configs, diagnostics: [] }, { only: wholeAnalyzers }).filter(
    ({ severity }) => severity !== "info",
  );

const messageKey = ({ code, origin, path, message }: Diagnostic): string =>
  [code, keyText(origin.key), path.join("."), message].join("\n");

/** The workloads that policies may select: pods, templates of pods, and entries of machines. */
export function workloadsOf({ loaded, clusterIds }: AdmissionWorld): readonly GuardedWorkload[] {
  const { pods } = analysisOf({ ...loaded, clusterIds, diagnostics: [] });
  const machines = loaded.configs.filter(({ meta }) => meta.kind === "WorkloadEntry");
  return [
    ...pods.map(({ name, namespace, labels }) => ({ name: `${namespace}/${name}`, namespace, labels })),
    ...machines.map(({ meta, spec }) => ({
      name: `${meta.namespace}/${meta.name}`,
      namespace: meta.namespace,
      labels: { ...meta.labels, ...stringsOf(Reflect.get(Object(spec), "labels")) },
    })),
  ];
}
