import type { Diagnostic, Stage } from "../config/diagnostic.ts";
import { version } from "../config/version.ts";
import { buildMesh } from "../mesh/build-mesh.ts";
import { classify } from "../mesh/classes/classify.ts";
import { secretGrants } from "../mesh/gateway-api/secret-grants.ts";
import { configsByKind } from "../mesh/index/configs-by-kind.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { oneValue } from "../mesh/memo/same.ts";
import { step } from "../mesh/memo/step.ts";
import type { ProxyViews } from "../mesh/views/views-of.ts";
import type { World } from "../mesh/world.ts";
import type { Classifier } from "../snapshot/classifier.ts";
import type { CompiledSource, CompiledWorld } from "../snapshot/compiled.ts";
import { compileLegacy } from "../v1/compile-legacy.ts";
import { legacyWorldOf } from "../v1/legacy-world-of.ts";
import { generateFromViews } from "../xds/generate.ts";
import { type OfUnits, ofUnits, units } from "../xds/units.ts";
import { type ClassForm, compileClass } from "./compile-class.ts";
import { compiledStatuses, statusDiagnostics } from "./object-statuses.ts";
import { classesOfSlice, type Slice, wholeWorld } from "./slices/slice.ts";
import { sortDiagnostics } from "./sort-diagnostics.ts";
import { type ClassEncoder, classBesideStore, type OfClass } from "./standing/class-beside-store.ts";
import { type Standing, spokenKey } from "./standing/standing.ts";
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
  { key, standing }: Reuse = {},
): Stage<CompiledWorld> {
  const isFirst = slice.index === 0;
  const mesh = staged("mesh", () => buildMesh(world, memo));
  const census = staged("classify", () => classify(mesh.value, world.proxies, memo));
  // Classes share most of what is said of them.
  const diagnostics = new Set<Diagnostic>([...mesh.diagnostics, ...census.diagnostics]);
  const say = (more: readonly Diagnostic[]): void => {
    for (const diagnostic of more) diagnostics.add(diagnostic);
  };
  const { certificates = "sds", binaryForms: withBinary = false, pollDelayMs } = world;
  const spoken = new Map<string, readonly Diagnostic[]>();
  const formFor = (reader: ProxyViews["kind"]): ClassForm =>
    oneValue(memo, { reader, certificates, withBinary, ...(pollDelayMs === undefined ? {} : { pollDelayMs }) });
  const forms = { envoy: formFor("envoy"), grpc: formFor("grpc") };
  const encodeClass: ClassEncoder = (id, kind, resources) => compileClass(id, resources, forms[kind], memo);
  const classOf = ({ id, views }: (typeof census.value.classes)[number]) => {
    const made = classBesideStore(id, views, { standing, encodeClass }, memo) ?? classOfViews(id, views);
    say(views.diagnostics);
    for (const unit of units) {
      say(made.spoken[unit]);
      if (made.spoken[unit].length > 0) spoken.set(spokenKey(id, unit), made.spoken[unit]);
    }
    return made.value;
  };
  const classOfViews = (id: string, views: ProxyViews): OfClass => {
    const generated = generateFromViews(views, memo);
    const compiled = encodeClass(id, views.kind, generated.value);
    return { value: compiled.value, spoken: bothOf({ first: generated.spoken, second: compiled.spoken }) };
  };
  const classes = staged("generate", () => classesOfSlice(census.value.classes, slice).map(classOf));
  const granted = secretGrants(memo, { configs: configsByKind(world.configs, memo)(grantKind) });
  const told = mesh.value.statuses();
  const statuses = compiledStatuses(told, memo);
  say(statusDiagnostics(told, world, memo));
  const sorted = sortDiagnostics([...diagnostics]);
  return {
    value: {
      classes,
      classifier: isFirst ? oneClassifier(memo, census.value.classifier) : noClassifier,
      nodes: isFirst ? census.value.nodes : [],
      diagnostics: sorted,
      ...(!isFirst || statuses.length === 0 ? {} : { statuses }),
      ...(!isFirst || granted.length === 0 ? {} : { secretGrants: granted }),
      ...(isFirst && world.legacyApi !== undefined
        ? { legacy: compileLegacy(legacyWorldOf(world, memo), [], memo) }
        : {}),
      sources,
      compiler: compilerVersion,
      ...(key === undefined ? {} : { made: { key, spoken: Object.fromEntries(spoken) } }),
    },
    diagnostics: sorted,
  };
}

const noClassifier: CompiledWorld["classifier"] = { attributes: [], labels: {}, classes: {}, defaults: {} };

/** Most changes change none of it: the same object then, whose text is known. */
const oneClassifier = step(
  "classifier",
  { attributes: "value", labels: "value", classes: "identity", defaults: "value" },
  (classifier: Classifier): Classifier => classifier,
);

/** How a compile has to do with those before and after it, in whichever process. */
export interface Reuse {
  /** Stands for all that an answer depends on beside the sources; absent: nobody is to take anything of this compile. */
  readonly key?: string | undefined;
  readonly standing?: Standing | undefined;
}

interface SpokenTwice {
  readonly first: OfUnits<readonly Diagnostic[]>;
  readonly second: OfUnits<readonly Diagnostic[]>;
}

/** Of classes without a word, which are most, nothing new is made. */
function bothOf({ first, second }: SpokenTwice): OfUnits<readonly Diagnostic[]> {
  if (units.every((unit) => second[unit].length === 0)) return first;
  return ofUnits((unit) => [...first[unit], ...second[unit]]);
}
