import { readFileSync } from "node:fs";
import { join } from "node:path";
import { durationMs } from "../../lib/base/duration.ts";
import type { V1Answer } from "../../lib/legacy/v1-request.ts";
import { type BootstrapSettings, bootstrapDocument, defaultBootstrapSettings } from "../../lib/v1/bootstrap.ts";
import { createV1Service } from "../v1/oracle/v1-service.ts";
import { type Difference, fileDifferences } from "./differences.ts";
import { asJson, type Json } from "./json.ts";
import type { CaseOutcome, FileOutcome } from "./outcome.ts";
import type { CaseFolder, Suite } from "./suite.ts";
import { type Expectation, readV1Case, type V1Case, v1Folders, v1Urls } from "./v1-cases.ts";
import { readV1World } from "./v1-world.ts";

/** The legacy REST v1 cases. An advisory case is left out. */
export function v1Suite(dirs: readonly string[]): Suite {
  return {
    name: "v1",
    dirs,
    folders: (dir) => v1Folders(dir).filter(({ path }) => !readV1Case(path).advisory),
    run: runV1Case,
    filesOf: () => [{ proxy: "", file: "case.json" }],
  };
}

function runV1Case(folder: CaseFolder): CaseOutcome {
  const spec = readV1Case(folder.path);
  const files = spec.family === "bootstrap" ? [runBootstrap(spec, folder.path)] : runRequests(spec, folder);
  return { ...folder, files, error: undefined };
}

function runRequests(spec: V1Case, folder: CaseFolder): readonly FileOutcome[] {
  const urls = v1Urls(folder);
  const world = readV1World(spec, urls.suite, urls.folder);
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
