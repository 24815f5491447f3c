import type { Diagnostic, Origin, Stage } from "../base/diagnostic.ts";
import { isFields } from "../base/untyped.ts";
import { locateAll } from "../config/documents/locate.ts";
import { parseStream, readDocument } from "../config/documents/parse.ts";
import { at, error, type Finding } from "../config/finding.ts";
import { readSpec } from "../config/read-spec.ts";
import { collectorFindings } from "./collector-rules.ts";
import { settingsFields } from "./fields.ts";
import { rightPart } from "./right-part.ts";
import { type Settings, settingsSchema } from "./schema.ts";

/** Fields that a folder's own `portolan.yaml` has: that is another file, about a mesh and not about a process. */
const folderFields: ReadonlySet<string> = new Set(["endpoints", "proxies", "gatewayApi", "compat"]);

/** A settings file, read: undefined where it has errors. */
export interface SettingsReading extends Stage<Settings | undefined> {
  /** The fields that are right by themselves, for whoever looks at several of them together; undefined where nothing can be told. */
  readonly right: Settings | undefined;
  /** Those that are not, as `front.port`. */
  readonly wrong: ReadonlySet<string>;
}

const unread: Pick<SettingsReading, "value" | "right" | "wrong"> = {
  value: undefined,
  right: undefined,
  wrong: new Set(),
};

/**
 * Reads a settings file, YAML or JSON.
 *
 * @returns diagnostics in the order of their lines, which never say what stands in a secret
 */
export function readSettings(text: string, file: string): SettingsReading {
  const origin = originOf(file);
  // Nothing, or comments alone: everything is as usual.
  if (text.split("\n").every((line) => /^\s*(?:#|$)/.test(line)))
    return { value: {}, right: {}, wrong: new Set(), diagnostics: [] };
  const [manifest] = parseStream(text, { file }).value;
  if (manifest !== undefined) {
    const message = `holds Kubernetes manifests (${manifest.kind}), and no settings`;
    const hint = "`portolan validate -f FILE` checks manifests";
    return { ...unread, diagnostics: [at(origin, error([], message, hint, "object-in-settings"))] };
  }
  const reading = readDocument({ text, line: 1 });
  if (reading.kind !== "value") {
    const message = reading.kind === "several" ? "holds more than one document" : reading.message;
    const line = reading.kind === "unreadable" ? reading.line : 1;
    return { ...unread, diagnostics: [at({ ...origin, line }, error([], message, "", "unreadable-document"))] };
  }
  const { value: written } = reading;
  if (written !== undefined && written !== null && !isFields(written)) {
    const hint = "write fields, such as store: .portolan/store";
    return { ...unread, diagnostics: [at(origin, error([], "holds no fields", hint))] };
  }
  const { spec, findings } = readFields(written ?? {});
  const { value: rest, wrong } = rightPart(written ?? {}, findings);
  const right = spec ?? readFields(rest).spec;
  const all = [...findings.map(withoutSecrets).map(aboutFolders), ...collectorFindings(right?.collectors ?? [])];
  return { value: all.length > 0 ? undefined : spec, right, wrong, diagnostics: located(all, text, origin) };
}

const readFields = (written: unknown) =>
  readSpec(settingsSchema, written, { unknownFields: "refuse", emptyWhenNull: [] });

/** Findings of a file's settings, each with its line, in the order of the lines. */
export const settingsDiagnostics = (findings: readonly Finding[], text: string, file: string): readonly Diagnostic[] =>
  located(findings, text, originOf(file));

const originOf = (file: string): Origin => ({
  key: { group: "", kind: "Settings", name: file, namespace: "" },
  file,
  line: 1,
});

function located(findings: readonly Finding[], text: string, origin: Origin): readonly Diagnostic[] {
  if (findings.length === 0) return [];
  const places = locateAll(
    { text, line: 1 },
    findings.map(({ path }) => path),
  );
  return findings.map((finding, index) => at({ ...origin, line: places[index]?.line ?? 1 }, finding)).sort(byLine);
}

/** As they stand in the file. */
export const byLine = (a: Diagnostic, b: Diagnostic): number => a.origin.line - b.origin.line;

/** A message says which value it is about, and no secret belongs into a log. */
function withoutSecrets(finding: Finding): Finding {
  const { path, code } = finding;
  if (code !== "invalid-value") return finding;
  const secrets = settingsFields().filter(({ isSecret }) => isSecret);
  if (secrets.some(({ path: secret }) => isWithin(path, secret)))
    return { ...finding, message: "must be a text that is not empty, or what docs/reference/settings.md lists for it" };
  // A key may stand where the fields are to stand of which one is the key.
  if (secrets.some(({ path: secret }) => isWithin(secret, path)))
    return { ...finding, message: "must hold the fields that docs/reference/settings.md lists" };
  return finding;
}

const isWithin = (path: Finding["path"], outer: Finding["path"]): boolean =>
  outer.every((step, index) => step === path[index]);

function aboutFolders(finding: Finding): Finding {
  const { path, code } = finding;
  if (code !== "unknown-field" || path.length !== 1 || !folderFields.has(String(path[0]))) return finding;
  return {
    ...finding,
    hint: "this field belongs in the portolan.yaml of the configuration folder; move it there",
  };
}
