import type { Diagnostic } from "../../base/diagnostic.ts";
import { fieldsOf, isFields } from "../../base/untyped.ts";
import { groupVersion } from "../values/group-version.ts";

/** Why a document of a folder holds no object, when it is right where it stands. */
export type ForeignDocument = Pick<Diagnostic, "code" | "severity" | "message" | "hint">;

/** What other files of a folder say of a file: that another program reads it, as a patch, as the values or as a template of a chart. */
export type ToolInput = "kustomize" | "chart-values" | "chart-template";

/** An action of a Helm template, in or outside of quotes. */
const helmAction =
  /\{\{-?\s*(?:[.$]|\/\*|(?:include|template|define|block|if|else|end|range|with|toYaml|tpl|quote|default|printf|required|lookup)\b)/;

/**
 * Of a text that cannot be read as it is, or whose names are no names.
 *
 * @param input of its file; in a chart a template is where it belongs
 */
export function helmTemplate(text: string, input?: ToolInput): ForeignDocument | undefined {
  if (!helmAction.test(text)) return undefined;
  return {
    code: "helm-template",
    severity: input === "chart-template" ? "info" : "error",
    message: "is a Helm template: what it holds is only known when it is rendered",
    hint: "render the chart, and let this folder hold the result: helm template NAME CHART > rendered.yaml",
  };
}

const kustomization = /(?:^|\/)kustomization\.ya?ml$/i;
const chart = /(?:^|\/)Chart\.ya?ml$/;

/** Of a document whose file another program reads, as other files say; undefined where that depends on the document. */
export function documentOfInput(input: ToolInput | undefined): ForeignDocument | undefined {
  if (input === "kustomize") return kustomizeFile;
  return input === "chart-values" ? chartValues : undefined;
}

/** Of a value that was read, but is no object: what other programs read, and what no cluster is meant to. */
export function foreignDocument(value: unknown, file: string, isYtt = () => false): ForeignDocument | undefined {
  const isJson = file.endsWith(".json");
  if (Array.isArray(value)) return isJsonPatch(value) ? kustomizePatch : isJson ? noObject : undefined;
  if (typeof value !== "object" || value === null) return isJson ? noObject : undefined;
  if (isKustomization(value, file)) return kustomizeInput;
  const { apiVersion, kind, metadata, $patch }: { readonly [field: string]: unknown } = { ...value };
  if ($patch !== undefined) return kustomizePatch;
  if (isYtt()) return unfilled("ytt", yttCommand);
  if (apiVersion === "v1" && kind === "Config") return toolsInput(kind, apiVersion);
  if (typeof apiVersion === "string" && typeof kind === "string" && isForeignGroup(apiVersion)) {
    const name = fieldsOf(metadata).name;
    if (typeof name !== "string" || name === "") return toolsInput(kind, apiVersion);
  }
  if (kind !== undefined || metadata !== undefined) return undefined;
  return apiVersion === undefined || chart.test(file) ? noObject : undefined;
}

/** Whether a value is a list of resources and patches as Kustomize reads it. */
export function isKustomization(value: unknown, file: string): boolean {
  const { apiVersion, kind } = fieldsOf(value);
  const isKustomizes = typeof apiVersion === "string" && apiVersion.startsWith("kustomize.config.k8s.io/");
  return isKustomizes || (kind === undefined && isFields(value) && kustomization.test(file));
}

/** A list of operations of RFC 6902. */
const isJsonPatch = (value: readonly unknown[]): boolean =>
  value.length > 0 &&
  value.every((one) => typeof fieldsOf(one).op === "string" && typeof fieldsOf(one).path === "string");

/** Directives of a strategic merge patch, which may stand at any depth: no API server stores one. */
const patchDirective = /^\$(?:patch$|retainKeys$|setElementOrder\/|deleteFromPrimitiveList\/)/;

function hasPatchDirective(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasPatchDirective);
  return (
    isFields(value) && Object.entries(value).some(([name, of]) => patchDirective.test(name) || hasPatchDirective(of))
  );
}

/** Groups of programs that read files of their own, which are never in a cluster: `IstioOperator`, kind's `Cluster`. */
const toolGroups: ReadonlySet<string> = new Set([
  "install.istio.io",
  "kind.x-k8s.io",
  "k3d.io",
  "kubeadm.k8s.io",
  "eksctl.io",
  "skaffold",
  "audit.k8s.io",
]);

/** The same, of Kubernetes' own programs. */
const componentConfig = /\.config\.k8s\.io$/;

const isToolsGroup = (group: string): boolean => toolGroups.has(group) || componentConfig.test(group);

/** Whether an API group is another system's: neither Kubernetes' own nor Istio's. */
const isForeignGroup = (apiVersion: string): boolean => {
  const { group } = groupVersion(apiVersion);
  return isToolsGroup(group) || (group.includes(".") && !/(?:^|\.)(?:k8s|istio)\.io$/.test(group));
};

/** Of an object that a program reads from a file, and no cluster holds; undefined for any other. */
export function toolsObject(apiVersion: string, kind: string): ForeignDocument | undefined {
  return isToolsGroup(groupVersion(apiVersion).group) ? toolsInput(kind, apiVersion) : undefined;
}

const toolsInput = (kind: string, apiVersion: string): ForeignDocument => ({
  code: "not-an-object",
  severity: "info",
  message: `holds no object of a mesh: ${kind} of ${apiVersion} is for another program, and is passed over`,
  hint: "",
});

/** Whether a text has an annotation of ytt, which is a comment to any other reader. */
export const hasYttMark = (text: string): boolean => /(?:^|\s)#@/.test(text);

/** A variable as Flux's substitution and envsubst write it. */
const variable = /\$\{[A-Za-z_][^{}\n]{0,200}\}/;
const everyVariable = /\$\{[A-Za-z_][^{}\n]{0,200}\}/g;

/**
 * Of a text that cannot be read: whether it is a template of ytt, or can be read once its variables are filled in.
 *
 * @param isReadable of a text
 */
export function unfilledText(text: string, isReadable: (text: string) => boolean): ForeignDocument | undefined {
  if (hasYttMark(text)) return unfilled("ytt", yttCommand);
  const [name] = variable.exec(text) ?? [];
  if (name === undefined || !isReadable(text.replaceAll(everyVariable, "0"))) return undefined;
  return unfilled(name, fillCommand);
}

/**
 * Of an object that has faults: whether it is a patch for Kustomize, or every fault stands where a variable of a template will be filled in.
 *
 * @param values that the faults are about
 */
export function unfilledObject(
  object: unknown,
  values: readonly unknown[],
  isYtt = () => false,
): ForeignDocument | undefined {
  if (hasPatchDirective(object)) return kustomizePatch;
  if (isYtt()) return unfilled("ytt", yttCommand);
  const names = values.map((value) => (typeof value === "string" ? variable.exec(value)?.[0] : undefined));
  const [first] = names;
  if (first === undefined || names.includes(undefined)) return undefined;
  return unfilled(first, fillCommand);
}

const yttCommand = "ytt -f FOLDER > rendered.yaml";
const fillCommand = "flux build kustomization NAME --path FOLDER > rendered.yaml, or envsubst";

const unfilled = (what: string, command: string): ForeignDocument => ({
  code: "unfilled-variables",
  severity: "info",
  message:
    what === "ytt"
      ? "is a template of ytt: what it holds is only known when it is rendered, so it is passed over"
      : `has variables to be filled in, such as ${what}: what it holds is only known then, so it is passed over`,
  hint: `let this folder hold the result: ${command}`,
});

const kustomizeInput: ForeignDocument = {
  code: "kustomize-input",
  severity: "info",
  message: "is Kustomize's input: bases and patches beside it are read as they are written, unpatched",
  hint: "let this folder hold Kustomize's output instead: kubectl kustomize FOLDER > all.yaml",
};

const kustomizePatch: ForeignDocument = {
  code: "kustomize-input",
  severity: "info",
  message: "is a patch for Kustomize, and is passed over",
  hint: "let this folder hold Kustomize's output instead: kubectl kustomize FOLDER > all.yaml",
};

const kustomizeFile: ForeignDocument = {
  ...kustomizePatch,
  message: "is named by a kustomization.yaml as a patch or another input, and is passed over",
};

const chartValues: ForeignDocument = {
  code: "not-an-object",
  severity: "info",
  message: "holds values of the Helm chart beside it, and is passed over",
  hint: "let this folder hold the rendered chart: helm template NAME CHART > rendered.yaml",
};

const noObject: ForeignDocument = {
  code: "not-an-object",
  severity: "info",
  message: "holds no object: it has neither kind nor metadata, and is passed over",
  hint: "an object needs apiVersion, kind and metadata.name",
};
