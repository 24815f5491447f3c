import type { Diagnostic, Stage } from "../config/diagnostic.ts";
import { version } from "../config/version.ts";
import { buildMesh } from "../mesh/build-mesh.ts";
import { classify } from "../mesh/classes/classify.ts";
import { secretGrants } from "../mesh/gateway-api/secret-grants.ts";
import { configsByKind } from "../mesh/index/configs-by-kind.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { step } from "../mesh/memo/step.ts";
import type { ProxyViews } from "../mesh/views/views-of.ts";
import type { CertificateSource, World } from "../mesh/world.ts";
import type {
  CompiledClass,
  CompiledList,
  CompiledResource,
  CompiledShape,
  CompiledSource,
  CompiledWorld,
} from "../snapshot/compiled.ts";
import type { ResourceType } from "../snapshot/resource-type.ts";
import { compileLegacy } from "../v1/compile-legacy.ts";
import { legacyWorldOf } from "../v1/legacy-world-of.ts";
import { defaultCertificateFiles, withCertificateFiles } from "../xds/certificate-files.ts";
import type { Reader } from "../xds/descriptors.ts";
import { generateFromViews } from "../xds/generate.ts";
import { allShared, type ClassResources, noResources, type Resource } from "../xds/resource.ts";
import { pollShape } from "../xds/shape.ts";
import { type OfUnits, ofUnits, type StageOfUnits, unitOf, units } from "../xds/units.ts";
import { checkByElements } from "./check-by-elements.ts";
import { encodeResource } from "./encode-resource.ts";
import { joinParts } from "./join-parts.ts";
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
  const encodeClass: ClassEncoder = (id, kind, resources) =>
    compiledClass(memo, { id, kind, resources, certificates, withBinary, pollDelayMs });
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
      classifier: isFirst ? census.value.classifier : noClassifier,
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

/** How a compile has to do with those before and after it, in whichever process. */
export interface Reuse {
  /** Stands for all that an answer depends on beside the sources; absent: nobody is to take anything of this compile. */
  readonly key?: string | undefined;
  readonly standing?: Standing | undefined;
}

interface ClassInputs {
  readonly id: string;
  readonly kind: ProxyViews["kind"];
  readonly resources: ClassResources;
  readonly certificates: CertificateSource;
  readonly withBinary: boolean;
  readonly pollDelayMs: number | undefined;
}

/** Both shapes of a class whose resources are what they were cost one look-up. */
const compiledClass = step(
  "compiled class",
  {
    id: "value",
    kind: "value",
    resources: "identity",
    certificates: "value",
    withBinary: "value",
    pollDelayMs: "value",
  },
  (
    { id, kind, resources, certificates, withBinary, pollDelayMs }: ClassInputs,
    memo: Memo,
  ): StageOfUnits<CompiledClass> => {
    if (kind === "grpc") {
      // A program asks over streams, for certificates its bootstrap: its answers have one shape.
      const { value: only, ...said } = encodeShape(resources, kind, withBinary, memo);
      return { value: { id, stream: only, poll: only }, ...said };
    }
    const streamed =
      certificates === "sds" ? resources : withCertificateFiles(resources, defaultCertificateFiles, memo);
    const stream = encodeShape(streamed, kind, withBinary, memo);
    const poll = encodeShape(pollShape(streamed, memo, { pollDelayMs }), kind, withBinary, memo);
    return {
      value: { id, stream: stream.value, poll: poll.value },
      diagnostics: [...stream.diagnostics, ...poll.diagnostics],
      spoken: bothOf({ first: stream.spoken, second: poll.spoken }),
    };
  },
);

interface SpokenTwice {
  readonly first: OfUnits<readonly Diagnostic[]>;
  readonly second: OfUnits<readonly Diagnostic[]>;
}

/** Of classes without a word, which are most, nothing new is made. */
function bothOf({ first, second }: SpokenTwice): OfUnits<readonly Diagnostic[]> {
  if (units.every((unit) => second[unit].length === 0)) return first;
  return ofUnits((unit) => [...first[unit], ...second[unit]]);
}

function encodeShape(
  resources: ClassResources,
  reader: Reader,
  withBinary: boolean,
  memo: Memo,
): StageOfUnits<CompiledShape> {
  const spoken = ofUnits((): Diagnostic[] => []);
  const encode = (type: ResourceType): CompiledList => {
    const { shared: inCommon, own: besides } = resources[type] ?? allShared(noResources);
    const shared = encodedList(memo, { type, resources: inCommon, reader, withBinary });
    const own = encodedList(memo, { type, resources: besides, reader, withBinary });
    spoken[unitOf[type]].push(...shared.diagnostics, ...own.diagnostics);
    return joinParts(memo, { shared: shared.value, own: own.value });
  };
  const value = {
    clusters: encode("clusters"),
    endpoints: encode("endpoints"),
    listeners: encode("listeners"),
    routes: encode("routes"),
    ...(resources.extension_configs === undefined ? {} : { extension_configs: encode("extension_configs") }),
    ...(resources.name_tables === undefined ? {} : { name_tables: encode("name_tables") }),
  };
  return { value, diagnostics: units.flatMap((unit) => spoken[unit]), spoken };
}

interface EncodeInputs {
  readonly type: ResourceType;
  readonly reader: Reader;
  readonly withBinary: boolean;
}

/** A resource that Envoy's descriptors refuse is left out and reported: it would cost its neighbours the whole answer. */
const encodedList = step(
  "encoded resources of a type",
  { type: "value", resources: "identity", reader: "value", withBinary: "value" },
  (
    { type, resources, reader, withBinary }: EncodeInputs & { readonly resources: readonly Resource[] },
    memo: Memo,
  ): Stage<readonly CompiledResource[]> => {
    const value: CompiledResource[] = [];
    const diagnostics: Diagnostic[] = [];
    for (const resource of resources) {
      // By the resource as a whole: a thousand classes share nearly all of theirs, so one look-up has to do.
      const encoded = checkedAndEncoded(memo, { type, resource, reader, withBinary });
      if (encoded.kind === "accepted") value.push(encoded.compiled);
      else diagnostics.push(encoded.diagnostic);
    }
    return { value, diagnostics };
  },
);

type Encoded =
  | { readonly kind: "accepted"; readonly compiled: CompiledResource }
  | { readonly kind: "refused"; readonly diagnostic: Diagnostic };

const checkedAndEncoded = step(
  "checked and encoded resource",
  { type: "value", resource: "identity", reader: "value", withBinary: "value" },
  ({ type, resource, reader, withBinary }: EncodeInputs & { readonly resource: Resource }, memo: Memo): Encoded => {
    const diagnostic = checked(memo, { type, reader, ...resource });
    return diagnostic === undefined
      ? { kind: "accepted", compiled: encodeResource(type, resource, withBinary, memo) }
      : { kind: "refused", diagnostic };
  },
);

/** By the message, its name and its origin: a diagnostic says the latter two. */
const checked = step(
  "checked resource",
  { type: "value", reader: "value", json: "identity", name: "value", from: "elements" },
  ({ type, reader, ...resource }: Resource & Pick<EncodeInputs, "type" | "reader">, memo: Memo) =>
    checkByElements(type, resource, memo, reader),
);
