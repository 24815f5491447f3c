import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { durationMs } from "../../lib/config/duration.ts";
import type { V1Answer, V1Request } from "../../lib/snapshot/legacy/question.ts";
import { type BootstrapSettings, bootstrapDocument, defaultBootstrapSettings } from "../../lib/v1/bootstrap.ts";
import type { RegistryFaults } from "../v1/oracle/answer.ts";
import { createV1Service } from "../v1/oracle/v1-service.ts";
import { type Difference, fileDifferences } from "./differences.ts";
import { asJson, type Json } from "./json.ts";
import type { CaseOutcome, FileOutcome } from "./outcome.ts";
import type { CaseFolder, Suite } from "./suite.ts";
import { readV1World, type V1Inputs } from "./v1-world.ts";

/** `case.json` of the legacy suite, as far as it is read. */
interface V1Case extends V1Inputs {
  readonly family: string;
  readonly advisory?: boolean;
  readonly reject?: boolean;
  readonly request?: V1Request;
  readonly expect?: Expectation;
  readonly steps?: readonly { readonly action?: string; readonly request?: V1Request; readonly expect?: Expectation }[];
  readonly registryFaults?: RegistryFaults;
  readonly webhook?: Json;
  readonly proxyConfig?: Readonly<Record<string, unknown>>;
  readonly pilotSAN?: readonly string[];
}

interface Expectation {
  readonly status?: number;
  /** File with the JSON answer. */
  readonly body?: string;
  /** The exact answer. */
  readonly text?: string;
}

/** The legacy REST v1 cases. An advisory case documents a defect that is not reproduced, and is left out. */
export function v1Suite(dir: URL): Suite {
  return {
    name: "v1",
    dir,
    folders: (path) => v1Folders(path),
    run: (folder) => runV1Case(folder, dir),
  };
}

function v1Folders(path: string): readonly CaseFolder[] {
  const cases = join(path, "cases");
  return readdirSync(cases).flatMap((family) =>
    readdirSync(join(cases, family))
      .map((name) => ({ suite: "v1", name: `${family}/${name}`, group: family, path: join(cases, family, name) }))
      .filter((folder) => !readCase(folder.path).advisory),
  );
}

function readCase(path: string): V1Case {
  return JSON.parse(readFileSync(join(path, "case.json"), "utf8"));
}

function runV1Case(folder: CaseFolder, suite: URL): CaseOutcome {
  const spec = readCase(folder.path);
  const files = spec.family === "bootstrap" ? [runBootstrap(spec, folder.path)] : runRequests(spec, folder, suite);
  return { ...folder, files, error: undefined };
}

function runRequests(spec: V1Case, folder: CaseFolder, suite: URL): readonly FileOutcome[] {
  const world = readV1World(spec, suite, pathToFileURL(`${folder.path}/`));
  const refused = world.diagnostics.filter(({ severity }) => severity === "error");
  if (spec.reject === true) {
    return [outcome("rejection", refused.length > 0 ? [] : [differs("$", "a rejection", "accepted")])];
  }
  if (refused.length > 0) {
    return [outcome("inputs", [differs("$", "accepted", refused.map(({ message }) => message).join("; "))])];
  }
  const { webhook } = spec;
  const service = createV1Service({
    world: () => world.value,
    // All steps of a case fall into one squash time, as they did when they were recorded.
    now: () => 0,
    ...(spec.registryFaults === undefined ? {} : { faults: spec.registryFaults }),
    ...(webhook === undefined ? {} : { webhook: () => JSON.stringify(webhook) }),
  });
  // Loading an object is a change like any other.
  if ((spec.configs ?? []).length > 0) service.changed();
  const { request, expect } = spec;
  const steps = spec.steps ?? [
    { ...(request === undefined ? {} : { request }), ...(expect === undefined ? {} : { expect }) },
  ];
  return steps.flatMap((step, index) => {
    if (step.action === "clearCache") service.changed();
    if (step.request === undefined || step.expect === undefined) return [];
    const name = step.expect.body ?? "text";
    const answer = service.handle(step.request);
    return [outcome(spec.steps === undefined ? name : `${index}:${name}`, compare(answer, step.expect, folder.path))];
  });
}

function compare(answer: V1Answer, expect: Expectation, path: string): readonly Difference[] {
  const status =
    expect.status === undefined || expect.status === answer.status
      ? []
      : [differs("status", expect.status, answer.status)];
  if (expect.text !== undefined) {
    return [...status, ...(expect.text === answer.body ? [] : [differs("text", expect.text, answer.body)])];
  }
  if (expect.body === undefined) return status;
  const wanted: Json = JSON.parse(readFileSync(join(path, expect.body), "utf8"));
  const made = parsed(answer.body);
  return [...status, ...fileDifferences(wanted, made)];
}

/** A body that is no JSON differs as a text. */
function parsed(body: string): Json {
  try {
    const value: Json = JSON.parse(body);
    return value;
  } catch {
    return body;
  }
}

function runBootstrap(spec: V1Case, path: string): FileOutcome {
  const wanted: Json = JSON.parse(readFileSync(join(path, "expected.json"), "utf8"));
  const made = asJson(bootstrapDocument(bootstrapSettings(spec)));
  return outcome("expected.json", fileDifferences(wanted, made));
}

function bootstrapSettings({ proxyConfig = {}, pilotSAN = [] }: V1Case): BootstrapSettings {
  const text = (name: string, otherwise: string): string => String(proxyConfig[name] ?? otherwise);
  const refresh = proxyConfig.discoveryRefreshDelay;
  return {
    ...defaultBootstrapSettings,
    discoveryAddress: text("discoveryAddress", defaultBootstrapSettings.discoveryAddress),
    zipkinAddress: text("zipkinAddress", ""),
    statsdUdpAddress: text("statsdUdpAddress", ""),
    controlPlaneAuthPolicy: proxyConfig.controlPlaneAuthPolicy === "MUTUAL_TLS" ? "MUTUAL_TLS" : "NONE",
    discoveryRefreshDelayMs:
      typeof refresh === "string" ? durationMs(refresh) : defaultBootstrapSettings.discoveryRefreshDelayMs,
    pilotIdentities: pilotSAN,
  };
}

const outcome = (file: string, differences: readonly Difference[]): FileOutcome => ({ proxy: "", file, differences });

const differs = (path: string, expected: Json, actual: Json): Difference => ({ path, expected, actual });
