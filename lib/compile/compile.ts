import type { Classifier } from "../base/classifier.ts";
import type { Diagnostic, Stage } from "../base/diagnostic.ts";
import { newestRelease } from "../config/compat/compat-settings.ts";
import { version } from "../config/values/version.ts";
import { internValue } from "../incremental/keep-identity.ts";
import { createMemo, type Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import { buildMesh } from "../mesh/build-mesh.ts";
import { classify } from "../mesh/classes/classify.ts";
import { classesAt, type ProxyClasses } from "../mesh/classes/enter-classes.ts";
import { backendSecrets } from "../mesh/gateway-api/backends/backend-secrets.ts";
import { secretGrants } from "../mesh/gateway-api/secret-grants.ts";
import { configsByKind } from "../mesh/index/configs-by-kind.ts";
import type { ProxyViews } from "../mesh/views/view-columns.ts";
import type { World } from "../mesh/world.ts";
import type { CompiledSource, CompiledWorld } from "../snapshot/compiled.ts";
import { compileLegacy } from "../v1/compile-legacy.ts";
import { legacyWorldOf } from "../v1/legacy-world-of.ts";
import { settledMatches } from "../xds/envoy-filter/match-notes.ts";
import { units } from "../xds/units.ts";
import { compileClasses, type OnMade } from "./compile-classes.ts";
import type { ClassForm } from "./compile-units.ts";
import { configurationVersion } from "./configuration-version.ts";
import { type ReusableResults, reportedKey } from "./reuse/reusable.ts";
import { classesOfSlice, type Slice, wholeWorld } from "./slices/slice.ts";
import { sortDiagnostics } from "./sort-diagnostics.ts";
import { compiledStatuses, statusDiagnostics } from "./statuses/object-statuses.ts";
import { type Staged, unwatched } from "./telemetry/observer.ts";

const grantKind = "ReferenceGrant.gateway.networking.k8s.io";

/** Part of every root: another compiler may write other bytes for the same world. */
export const compilerVersion = `portolan ${version}`;

/**
 * The whole job: a world in, every answer of every class of proxies out.
 *
 * @param sources the shards that the world was read from, for the root's record
 * @param memo remembers what was made from objects that did not change; a memo that forgets gives the same bytes
 * @param staged is told what part of the work is done
 * @param slice which of its classes; what belongs to no class comes with the first slice alone, diagnostics with all
 * @param reuse what of an earlier compile may be taken as it lies in the store, and what a later one may know this by
 * @returns never fails on input: what cannot be compiled is left out and said in a diagnostic
 */
export function compile(
  world: World,
  sources: readonly CompiledSource[],
  memo: Memo,
  staged: Staged = unwatched,
  slice: Slice = wholeWorld,
  reuse: Reuse = {},
): Stage<CompiledWorld> {
  const made = compileCounted(countClasses(world, sources, memo, staged, slice), memo, staged, reuse);
  // What patches match in other slices is known when these are joined.
  const diagnostics = slice.of > 1 ? made.diagnostics : settledMatches(made.diagnostics);
  return diagnostics === made.diagnostics ? made : { value: { ...made.value, diagnostics }, diagnostics };
}

/** A world whose classes have no answers yet, with all that making these needs of it: much of the world is not among that. */
export interface CountedWorld {
  /** Those of the slice. */
  readonly classes: ProxyClasses;
  readonly form: Omit<ClassForm, "reader">;
  /** What belongs to no class. */
  readonly beside: Omit<CompiledWorld, "classes" | "table" | "diagnostics" | "made">;
  readonly diagnostics: readonly Diagnostic[];
}

/** The first half of `compile`: which classes of proxies there are, and what is made from what. */
export function countClasses(
  world: World,
  sources: readonly CompiledSource[],
  memo: Memo,
  staged: Staged,
  slice: Slice,
): CountedWorld {
  const mesh = staged("mesh", () => buildMesh(world, memo));
  const { value: classified, diagnostics } = staged("classify", () => classify(mesh.value, world.proxies, memo));
  const { certificates = "sds", binaryForms: withBinary = false, pollDelayMs } = world;
  const counted = {
    classes: classesOfSlice(classified.classes, slice, memo),
    form: { certificates, withBinary, ...(pollDelayMs === undefined ? {} : { pollDelayMs }) },
  };
  const said = [...mesh.diagnostics, ...diagnostics];
  if (slice.index > 0) return { ...counted, beside: nothingBeside(sources, world.trustBundles), diagnostics: said };
  const of = configsByKind(world.configs, memo);
  const beside = world.gatewayApi?.settings.alphaKinds === true ? backendSecrets(of, memo) : [];
  const granted = secretGrants(memo, { configs: of(grantKind), beside });
  const told = mesh.value.statuses();
  const statuses = compiledStatuses(told, memo);
  return {
    ...counted,
    beside: {
      classifier: oneClassifier(memo, classified.classifier),
      nodes: classified.nodes,
      ...(statuses.length === 0 ? {} : { statuses }),
      ...(granted.length === 0 ? {} : { secretGrants: granted }),
      ...(world.lookups === undefined ? {} : { lookups: world.lookups }),
      ...(world.trustBundles === undefined ? {} : { trustBundles: world.trustBundles }),
      ...(world.legacyApi === undefined ? {} : { legacy: compileLegacy(legacyWorldOf(world, memo), [], memo) }),
      sources,
      configuration: configurationVersion(world, memo),
      compiler: compilerVersion,
      release: world.release ?? newestRelease,
    },
    diagnostics: [...said, ...statusDiagnostics(told, world, memo)],
  };
}

/** What belongs to no class, and the classes without it. */
export function besideAndClasses(counted: CountedWorld): readonly [CountedWorld, CountedWorld] {
  const { beside, classes } = counted;
  return [
    { ...counted, classes: classesAt(createMemo(), classes, []) },
    { ...counted, beside: nothingBeside(beside.sources, beside.trustBundles) },
  ];
}

/** The second half: the answers of these classes. What it says of matches of patches is about these alone. */
export function compileCounted(
  { classes, form, beside, diagnostics: earlier }: CountedWorld,
  memo: Memo,
  staged: Staged,
  { key, reusable, onMade }: Reuse,
): Stage<CompiledWorld> {
  // Classes share most of what is said of them.
  const diagnostics = new Set(earlier);
  const say = (more: readonly Diagnostic[]): void => {
    for (const diagnostic of more) diagnostics.add(diagnostic);
  };
  const reported = new Map<string, readonly Diagnostic[]>();
  const formFor = (reader: ProxyViews["kind"]): ClassForm => internValue(memo, { reader, ...form });
  const forms = { envoy: formFor("envoy"), grpc: formFor("grpc") };
  const compiled = staged("generate", () => {
    const { reported: ofClasses, ...made } = compileClasses(classes, forms, reusable, memo, onMade);
    // Of most worlds nothing is said.
    const spoke = units.filter((unit) => ofClasses[unit].some((said) => said.length > 0));
    for (const [row, { id }] of spoke.length === 0 ? [] : made.classes.entries()) {
      for (const unit of spoke) {
        const said = ofClasses[unit][row] ?? nothingSaid;
        if (said.length === 0) continue;
        say(said);
        reported.set(reportedKey(id, unit), said);
      }
    }
    return made;
  });
  const sorted = sortDiagnostics([...diagnostics]);
  return {
    value: {
      ...beside,
      ...compiled,
      diagnostics: sorted,
      ...(key === undefined ? {} : { made: { key, spoken: Object.fromEntries(reported) } }),
    },
    diagnostics: sorted,
  };
}

const nothingSaid: readonly Diagnostic[] = [];

const noClassifier: CompiledWorld["classifier"] = { attributes: [], labels: {}, classes: {}, defaults: {} };

/** What belongs to no class comes with the first slice; of certificates each has those that its own classes name. */
const nothingBeside = (
  sources: readonly CompiledSource[],
  trustBundles: CompiledWorld["trustBundles"],
): CountedWorld["beside"] => ({
  classifier: noClassifier,
  nodes: [],
  sources,
  ...(trustBundles === undefined ? {} : { trustBundles }),
  compiler: compilerVersion,
});

/** Most changes change none of it: the same object then, whose text is known. */
const oneClassifier = query(
  "classifier",
  { attributes: "value", labels: "value", defaults: "value" },
  (classifier: Classifier): Classifier => classifier,
);

/** How a compile has to do with those before and after it, in whichever process. */
export interface Reuse {
  /** Stands for all that an answer depends on beside the sources; absent: nobody is to take anything of this compile. */
  readonly key?: string | undefined;
  readonly reusable?: ReusableResults | undefined;
  /** Is told of lists as soon as they are made; absent: nobody is. */
  readonly onMade?: OnMade | undefined;
}
