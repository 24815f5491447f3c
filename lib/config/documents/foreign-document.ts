import type { Diagnostic } from "../diagnostic.ts";

/** Why a document of a folder holds no object, when it is right where it stands. */
export type ForeignDocument = Pick<Diagnostic, "code" | "severity" | "message" | "hint">;

/** An action of a Helm template, in or outside of quotes. */
const helmAction =
  /\{\{-?\s*(?:[.$]|\/\*|(?:include|template|define|block|if|else|end|range|with|toYaml|tpl|quote|default|printf|required|lookup)\b)/;

/** Of a text that cannot be read as it is, or whose names are no names. */
export function helmTemplate(text: string): ForeignDocument | undefined {
  if (!helmAction.test(text)) return undefined;
  return {
    code: "helm-template",
    severity: "error",
    message: "is a Helm template: what it holds is only known when it is rendered",
    hint: "render the chart, and let this folder hold the result: helm template NAME CHART > rendered.yaml",
  };
}

const kustomization = /(?:^|\/)kustomization\.ya?ml$/i;
const chart = /(?:^|\/)Chart\.ya?ml$/;

/** Of a value that was read, but is no object: Kustomize's and Helm's own files, and those that no cluster is meant to read. */
export function foreignDocument(value: unknown, file: string): ForeignDocument | undefined {
  const isJson = file.endsWith(".json");
  if (typeof value !== "object" || value === null || Array.isArray(value)) return isJson ? noObject : undefined;
  const { apiVersion, kind, metadata }: { readonly [field: string]: unknown } = { ...value };
  const isKustomizes = typeof apiVersion === "string" && apiVersion.startsWith("kustomize.config.k8s.io/");
  if (isKustomizes || (kind === undefined && kustomization.test(file))) return kustomizeInput;
  if (kind !== undefined || metadata !== undefined) return undefined;
  return apiVersion === undefined || chart.test(file) ? noObject : undefined;
}

const kustomizeInput: ForeignDocument = {
  code: "kustomize-input",
  severity: "warning",
  message: "is Kustomize's input: bases and patches beside it are read as they are written, unpatched",
  hint: "let this folder hold Kustomize's output instead: kubectl kustomize FOLDER > all.yaml",
};

const noObject: ForeignDocument = {
  code: "not-an-object",
  severity: "info",
  message: "holds no object: it has neither kind nor metadata, and is passed over",
  hint: "an object needs apiVersion, kind and metadata.name",
};
