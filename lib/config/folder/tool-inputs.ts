import { fieldsOf, listIn, listOf } from "../../base/untyped.ts";
import { foldersOf, joinPath } from "../documents/file-path.ts";
import { isKustomization, type ToolInput } from "../documents/foreign-document.ts";
import { readDocument } from "../documents/parse.ts";
import { splitDocuments } from "../documents/split-documents.ts";

/** What other files of a folder say of a file: that it is an input of Kustomize or of Helm. Its own text need not show that. */
export interface ToolInputs {
  /** The lists of Kustomize, by their files. */
  readonly kustomizations: ReadonlyMap<string, Kustomization>;
  /** Files that some of these lists name as something else than a resource, and none as a resource. */
  readonly patches: ReadonlySet<string>;
  /** Folders that hold a `Chart.yaml`; "" for the root. */
  readonly charts: ReadonlySet<string>;
}

/** A file of the folder, with where its source lies among others. */
interface NamedText {
  readonly file: string;
  readonly text: string;
  readonly under?: string;
}

interface Kustomization {
  readonly text: string;
  readonly resources: readonly string[];
  readonly inputs: readonly string[];
}

export const noToolInputs: ToolInputs = { kustomizations: new Map(), patches: new Set(), charts: new Set() };

const kustomizationName = /(?:^|\/)kustomization\.ya?ml$/i;
const chartName = /(?:^|\/)Chart\.ya?ml$/;

/** @param before of which a list with the same text is not read again */
export function toolInputsOf(files: Iterable<NamedText>, before: ToolInputs = noToolInputs): ToolInputs {
  const kustomizations = new Map<string, Kustomization>();
  const charts = new Set<string>();
  for (const { file, text, under = "" } of files) {
    const path = under + file;
    if (chartName.test(path)) charts.add(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    if (!kustomizationName.test(path)) continue;
    const last = before.kustomizations.get(path);
    kustomizations.set(path, last?.text === text ? last : readKustomization(path, text));
  }
  if (kustomizations.size === 0 && charts.size === 0) return noToolInputs;
  const lists = [...kustomizations.values()];
  const resources = new Set(lists.flatMap((list) => list.resources));
  const patches = new Set(lists.flatMap(({ inputs }) => inputs.filter((file) => !resources.has(file))));
  return isSameSet(before.patches, patches) && isSameSet(before.charts, charts)
    ? { kustomizations, patches: before.patches, charts: before.charts }
    : { kustomizations, patches, charts };
}

/** Whether every file is what it was; only then are the sets the same objects. */
export const areSameInputs = (a: ToolInputs, b: ToolInputs): boolean =>
  a.patches === b.patches && a.charts === b.charts;

/** @returns undefined for a file of which no other file says anything */
export function toolInputOf({ patches, charts }: ToolInputs, path: string): ToolInput | undefined {
  if (patches.has(path)) return "kustomize";
  if (charts.size === 0) return undefined;
  const [folder = "", ...above] = foldersOf(path);
  const name = path.slice(folder === "" ? 0 : folder.length + 1);
  if (charts.has(folder) && /^values[^/]*\.(?:ya?ml|json)$/.test(name)) return "chart-values";
  const isTemplate = [folder, ...above].some((one) => {
    const chart = /^(?:(.*)\/)?templates$/.exec(one);
    return chart !== null && charts.has(chart[1] ?? "");
  });
  return isTemplate ? "chart-template" : undefined;
}

const isSameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((one) => b.has(one));

function readKustomization(path: string, text: string): Kustomization {
  const values = splitDocuments(text).flatMap((document) => {
    const reading = readDocument(document);
    return reading.kind === "value" && isKustomization(reading.value, path) ? [reading.value] : [];
  });
  const folder = foldersOf(path)[0] ?? "";
  const inFolder = (names: readonly unknown[]): readonly string[] =>
    names.flatMap((name) => (typeof name === "string" ? (joinPath(folder, name) ?? []) : []));
  return {
    text,
    resources: inFolder(values.flatMap((value) => [...listIn(value, "resources"), ...listIn(value, "bases")])),
    inputs: inFolder(values.flatMap(inputsIn)),
  };
}

/** What a list names beside resources: paths, and patches that are written in it, which are no paths of any file. */
function inputsIn(value: unknown): readonly unknown[] {
  const generators = [...listIn(value, "configMapGenerator"), ...listIn(value, "secretGenerator")];
  return [
    ...listIn(value, "patchesStrategicMerge"),
    ...["configurations", "generators", "transformers", "validators"].flatMap((name) => listIn(value, name)),
    ...["patches", "patchesJson6902", "replacements"].flatMap((name) =>
      listIn(value, name).map((one) => fieldsOf(one).path),
    ),
    ...listIn(value, "helmCharts").flatMap((chart) => {
      const { valuesFile, additionalValuesFiles } = fieldsOf(chart);
      return [valuesFile, ...listOf(additionalValuesFiles)];
    }),
    // `name=path`, or a path.
    ...generators.flatMap((one) =>
      listIn(one, "files").map((file) => (typeof file === "string" ? file.replace(/^[^=]*=/, "") : file)),
    ),
  ];
}
