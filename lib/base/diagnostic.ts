import type { DiagnosticCode } from "./diagnostic-codes.ts";

/**
 * What a stage has to say about its input, as data: collected, sorted, shown together.
 * Severity `info` is for things that are right but have no effect; only `error` leaves something out.
 */
export interface Diagnostic {
  /** Kebab-case, or one of istioctl's message codes (`IST0101`); declared in `diagnostic-codes.ts`, explained in `docs/diagnostics/`. */
  readonly code: DiagnosticCode;
  readonly severity: "error" | "warning" | "info";
  readonly origin: Origin;
  /** From the object's root: `["spec", "http", 0, "route"]`. Empty when the whole object is meant. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** What to do next; empty when the message says it. */
  readonly hint: string;
}

/** Those that refuse something. */
export const errorsOf = <D extends Pick<Diagnostic, "severity">>(diagnostics: readonly D[]): readonly D[] =>
  diagnostics.filter(({ severity }) => severity === "error");

/** Where an object was read from. */
export interface Origin {
  readonly key: ConfigKey;
  /** Path relative to its source, or the name of the source where there are no files. */
  readonly file: string;
  /** 1-based line of the object's first line; 0 where the source has no lines. */
  readonly line: number;
}

/** A place where no object could be read, or none is meant. */
export function fileOrigin(file: string, line = 0): Origin {
  return { key: { group: "", kind: "", name: "", namespace: "" }, file, line };
}

/** A kind of objects: kinds of several groups may have one name. */
export interface GroupKind {
  /** API group, `networking.istio.io`; "" for Kubernetes' core, and for what is no object of an API. */
  readonly group: string;
  /** CamelCase. */
  readonly kind: string;
}

/** Identity of an object in the world. */
export interface ConfigKey extends GroupKind {
  readonly name: string;
  /** "" for cluster-scoped objects. */
  readonly namespace: string;
}

/** Groups that are not written, with Istio's own: no two kinds of all these share a name. */
const plainGroups: ReadonlySet<string> = new Set(["", "networking.k8s.io", "discovery.k8s.io"]);

/** `Gateway` for Istio's and Kubernetes' own kinds, `Gateway.gateway.networking.k8s.io` for others, as kubectl takes them. */
export function kindText({ group, kind }: GroupKind): string {
  return plainGroups.has(group) || group.endsWith(".istio.io") ? kind : `${kind}.${group}`;
}

/** `kind/namespace/name`, the text form of a key, with the kind as `kindText` writes it; unique within one source. */
export function keyText(key: ConfigKey): string {
  return `${kindText(key)}/${key.namespace}/${key.name}`;
}

/** The same for what two spellings mean alike: an object that names no namespace is in `default`, and of a kind without namespaces its name says all. */
export const identityText = (key: ConfigKey): string => inDefault(keyText(key));

/** A key's text with a namespace, for one that was written without. */
export const inDefault = (key: string): string => key.replace("//", "/default/");

/** What every stage returns: its result, and everything it has to say about the input. */
export interface Stage<T> {
  readonly value: T;
  readonly diagnostics: readonly Diagnostic[];
}

/** The only error class. Carries diagnostics when the cause is the user's input. */
export class PortolanError extends Error {
  override readonly name = "PortolanError";
  readonly diagnostics: readonly Diagnostic[];
  constructor(message: string, diagnostics: readonly Diagnostic[] = [], cause?: unknown) {
    super(message, { cause });
    this.diagnostics = diagnostics;
  }
}

/** What was asked for is so already: commands say it and end well, so that a script may ask twice. */
export class NothingToDo extends PortolanError {}

/** Compares by code point (UTF-16 unit), never by locale. */
export function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Texts in code point order; the given list where it is in order already, as lists of one or two hosts mostly are. */
export function inCodePointOrder(texts: readonly string[]): readonly string[] {
  return texts.every((text, at) => at === 0 || (texts[at - 1] ?? "") <= text) ? texts : texts.toSorted(byCodePoint);
}

/** Ends an exhaustive switch: a new variant breaks the build here. */
export function unreachable(value: never): never {
  throw new Error(`unhandled variant: ${JSON.stringify(value)}`);
}
