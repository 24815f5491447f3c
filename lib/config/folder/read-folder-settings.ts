import { z } from "zod";
import { parseNodeId } from "../../base/classifier.ts";
import { errorsOf, type Origin, type Stage } from "../../base/diagnostic.ts";
import { fieldsOf } from "../../base/untyped.ts";
import { type CompatSettings, releases } from "../compat/compat-settings.ts";
import { readSwitches } from "../compat/switches.ts";
import { createLocator } from "../documents/locate.ts";
import { readDocument } from "../documents/parse.ts";
import { at, error, type Finding, type Path } from "../finding.ts";
import { controllerName, fields, listOf, objectName } from "../gateway-api/schema/fields.ts";
import type { NamedProxy } from "../kinds/named-proxy.ts";
import {
  type FolderSettings,
  noFolderSettings,
  type StatedEndpoints,
  type StatedHost,
} from "../kinds/stated-endpoints.ts";
import { withFieldsOf } from "../read-mesh-config.ts";
import { readSpec } from "../read-spec.ts";
import { isFqdn, isPortNumber } from "../rules/names.ts";
import { labelSetRules } from "../rules/values.ts";
import { isIpAddress } from "../values/ip-address.ts";

const settings = z.strictObject({
  endpoints: z.exactOptional(
    z.array(
      z.strictObject({
        workload: z.exactOptional(z.string()),
        service: z.exactOptional(z.string()),
        hosts: z.array(z.string()).min(1, "must name one host at least"),
        labels: z.exactOptional(z.record(z.string(), z.string())),
      }),
    ),
  ),
  proxies: z.exactOptional(
    z.array(
      z.strictObject({
        id: z.string().min(1, "must not be empty").max(1_024, "must have at most 1024 characters"),
        type: z.exactOptional(z.enum(["sidecar", "router"])),
        namespace: z.exactOptional(z.string()),
        addresses: z.exactOptional(z.array(z.string())),
        cluster: z.exactOptional(z.string()),
        locality: z.exactOptional(z.string()),
        labels: z.exactOptional(z.record(z.string(), z.string())),
        metadata: z.exactOptional(z.record(z.string(), z.unknown())),
        wanted: z.exactOptional(z.boolean()),
      }),
    ),
  ),
  proxyBuild: z.exactOptional(z.enum(["auto", "envoy", "istio"])),
  inlineSymmetricKeys: z.exactOptional(z.enum(["allow", "refuse"])),
  resolved: z.exactOptional(
    z.strictObject({
      jwks: z.exactOptional(
        z.array(
          z.union([
            z.strictObject({ jwksUri: z.string(), jwks: z.string() }),
            z.strictObject({ issuer: z.string(), jwks: z.string() }),
          ]),
        ),
      ),
      addresses: z.exactOptional(z.array(z.strictObject({ service: z.string(), addresses: z.array(z.string()) }))),
      hosts: z.exactOptional(z.array(z.strictObject({ host: z.string(), addresses: z.array(z.string()) }))),
      modules: z.exactOptional(z.array(z.strictObject({ of: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }))),
    }),
  ),
  acceptUnknownTypes: z.exactOptional(z.boolean()),
  compat: z.exactOptional(
    z.strictObject({
      release: z.exactOptional(z.enum(releases)),
      switches: z.exactOptional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
    }),
  ),
  gatewayApi: z.exactOptional(
    fields(
      {},
      {
        classNames: listOf(objectName, 16, 1),
        controllerName,
        alphaKinds: z.boolean(),
        secrets: z.enum(["sources", "elsewhere"]),
      },
    ),
  ),
});

type WrittenCompat = NonNullable<z.output<typeof settings>["compat"]>;
type WrittenProxy = NonNullable<z.output<typeof settings>["proxies"]>[number];
type WrittenEntry = NonNullable<z.output<typeof settings>["endpoints"]>[number];

/**
 * Reads `portolan.yaml`.
 *
 * @returns nothing stated where the text has errors; diagnostics of its fields
 */
export function readFolderSettings(text: string, file: string): Stage<FolderSettings> {
  const key = { group: "", kind: "FolderSettings", name: file, namespace: "" };
  const origin: Origin = { key, file, line: 1 };
  const document = { text, line: 1 };
  const reading = readDocument(document);
  if (reading.kind !== "value") {
    const message = reading.kind === "several" ? "holds more than one document" : reading.message;
    const line = reading.kind === "unreadable" ? reading.line : 1;
    const finding = error([], message, "", "unreadable-document");
    return { value: noFolderSettings, diagnostics: [at({ ...origin, line }, finding)] };
  }
  const { spec, findings: fields } = readSpec(settings, reading.value ?? {}, {
    unknownFields: "refuse",
    emptyWhenNull: [],
  });
  const fieldFindings = fields.map(aboutServing).map((finding) => aboutQuotes(finding, reading.value));
  const written = spec?.endpoints ?? [];
  const locator = createLocator(document);
  const linesOf = (paths: readonly Path[]) => locator.locateAll(paths).map(({ line }) => line);
  const lines = linesOf(written.map((_, index) => ["endpoints", index]));
  const entries = written.map((entry, index) =>
    entryOf(entry, { ...origin, line: lines[index] ?? 1 }, ["endpoints", index]),
  );
  const namedLines = linesOf((spec?.proxies ?? []).map((_, index) => ["proxies", index]));
  const named = (spec?.proxies ?? []).map((proxy, index) =>
    namedProxy(proxy, { ...origin, line: namedLines[index] ?? 1 }, ["proxies", index]),
  );
  const compat = compatOf(spec?.compat);
  const findings = [...fieldFindings, ...[...entries, ...named, compat].flatMap((entry) => entry.findings)];
  const places = linesOf(findings.map(({ path }) => path));
  const isWrong = findings.some(({ severity }) => severity === "error");
  return {
    value: isWrong
      ? noFolderSettings
      : {
          endpoints: entries.flatMap(({ value }) => value),
          ...(named.length === 0 ? {} : { proxies: named.map(({ value }) => value) }),
          ...(spec?.inlineSymmetricKeys === undefined ? {} : { inlineSymmetricKeys: spec.inlineSymmetricKeys }),
          ...(spec?.proxyBuild === undefined ? {} : { proxyBuild: spec.proxyBuild }),
          ...(spec?.acceptUnknownTypes === undefined ? {} : { acceptUnknownTypes: spec.acceptUnknownTypes }),
          ...(compat.value === undefined ? {} : { compat: compat.value }),
          ...(spec?.gatewayApi === undefined ? {} : { gatewayApi: spec.gatewayApi }),
          ...(spec?.resolved === undefined ? {} : { resolved: spec.resolved }),
        },
    diagnostics: findings.map((finding, index) => at({ ...origin, line: places[index] ?? 1 }, finding)),
  };
}

/**
 * What a text with errors says over the last valid one: a top-level field with an error is as it was, and all are where the text cannot be
 * read.
 */
export function settingsOver(text: string, file: string, before: string): FolderSettings {
  const [now, last] = [text, before].map((one) => readDocument({ text: one, line: 1 }));
  const { value } = readFolderSettings(before, file);
  if (now?.kind !== "value" || last?.kind !== "value") return value;
  const mixed = withFieldsOf(last.value, now.value, readFolderSettings(text, file).diagnostics);
  const read = readFolderSettings(JSON.stringify(mixed), file);
  return errorsOf(read.diagnostics).length === 0 ? read.value : value;
}

/** Fields of the other file of this name: what `portolan serve` is told. A test holds them to its schema. */
export const servingFields: ReadonlySet<string> = new Set(
  (
    "store storeCopy s3Endpoint bucket prefix author secretsKey trust front compile resolver admission collectors consul " +
    "kubernetes agent collectingWorker gc health telemetry"
  ).split(" "),
);

function aboutServing(finding: Finding): Finding {
  const { path, code } = finding;
  if (code !== "unknown-field" || path.length !== 1 || !servingFields.has(String(path[0]))) return finding;
  return {
    ...finding,
    hint: "that is a setting of `portolan serve`: keep its file outside of the folder (docs/settings.md)",
  };
}

function compatOf(written: WrittenCompat | undefined): {
  readonly value: CompatSettings | undefined;
  readonly findings: readonly Finding[];
} {
  if (written === undefined) return { value: undefined, findings: [] };
  const { release, switches = {} } = written;
  const { value, findings } = readSwitches(switches, ["compat", "switches"]);
  return { value: { ...(release === undefined ? {} : { release }), switches: value }, findings };
}

/** YAML reads 1.30 as the number 1.3. */
function aboutQuotes(finding: Finding, settings: unknown): Finding {
  const [section, name] = finding.path;
  if (section !== "compat" || name !== "release") return finding;
  if (typeof fieldsOf(fieldsOf(settings).compat).release === "string")
    return { ...finding, hint: "choose one of them; docs/releases.md lists what each changes" };
  return { ...finding, hint: `write it in quotes: release: "${releases[0]}"` };
}

interface ReadEntry {
  readonly value: StatedEndpoints;
  readonly findings: readonly Finding[];
}

function entryOf({ workload, service, hosts, labels = {} }: WrittenEntry, origin: Origin, path: Path): ReadEntry {
  const findings: Finding[] = [...labelSetRules(labels, [...path, "labels"])];
  const of = workload === undefined ? "service" : "workload";
  const [name = "", namespace = "default", ...more] = (workload ?? service ?? "").split("/").reverse();
  if ((workload === undefined) === (service === undefined)) {
    findings.push(error(path, "names neither or both of workload and service", "name one", "missing-field"));
  } else if (name === "" || namespace === "" || more.length > 0) {
    findings.push(error([...path, of], "must be a name, or namespace/name", 'such as shop/cart, or "*" for all'));
  }
  const all = name === "*" && (workload ?? service) === "*";
  const read = hosts.map((host, index) => {
    const found = hostOf(host);
    if (found === undefined) {
      const hint = "such as cart.internal, 10.0.0.5:8080 or [fd00::5]:8080";
      findings.push(error([...path, "hosts", index], `${JSON.stringify(host)} is neither a host nor host:port`, hint));
    }
    return found;
  });
  const value: StatedEndpoints = {
    of,
    namespace: all ? "*" : namespace,
    name,
    hosts: read.filter((host) => host !== undefined),
    labels,
    origin,
  };
  return { value, findings };
}

function namedProxy(
  {
    id,
    type,
    namespace,
    addresses = [],
    cluster = "",
    locality = "",
    labels = {},
    metadata = {},
    wanted,
  }: WrittenProxy,
  origin: Origin,
  path: Path,
): { readonly value: NamedProxy; readonly findings: readonly Finding[] } {
  const findings: Finding[] = [...labelSetRules(labels, [...path, "labels"])];
  const said = parseNodeId(id);
  if (said !== undefined && (type !== undefined || addresses.length > 0))
    findings.push(error([...path, "id"], "has type and address itself", "leave type and addresses out"));
  for (const [index, address] of addresses.entries())
    if (!isIpAddress(address))
      findings.push(error([...path, "addresses", index], "is no IP address", "such as 10.0.0.5"));
  const value = {
    id,
    type: type ?? "sidecar",
    namespace: namespace ?? said?.dnsDomain.split(".")[0] ?? "default",
    addresses,
    cluster,
    locality,
    labels,
    metadata,
    isWanted: wanted === true,
    origin,
  };
  return { value, findings };
}

function hostOf(text: string): StatedHost | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? (isIpAddress(text) ? text : "");
  const port = digits === undefined ? undefined : Number(digits);
  const isHost = isIpAddress(host) || isFqdn(host.replaceAll(/\{name(?:space)?\}/g, "x"));
  return isHost && (port === undefined || isPortNumber(port)) ? { host, port } : undefined;
}
