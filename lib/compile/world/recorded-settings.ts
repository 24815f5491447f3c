import { jsonIn } from "../../base/untyped.ts";
import { type SecurityFailure, securityFailures } from "../../config/fail-closed/closed-object.ts";
import type { CertificateSource, LegacyRelease } from "../../mesh/world.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { usualPollDelayMs } from "../../xds/shape.ts";
import type { WorldOptions } from "./world-of.ts";

/** How a store's sources are compiled, whoever compiles them: a function by the cron, a person by `apply`. */
export interface RecordedSettings {
  /** Sources that come first, in their order. */
  readonly sources: readonly string[];
  readonly binaryForms: boolean;
  readonly certificates: CertificateSource;
  readonly legacyApi: LegacyRelease | "none";
  /** What is done about security objects that are refused and of which no valid form is known. */
  readonly securityFailure: SecurityFailure;
  /** How long Envoys wait between polls: what is served says it, and a change is paced by it. */
  readonly pollDelayMs: number;
}

/** As `--poll-delay` and `portolan.yaml` take it. */
const longestPollDelayMs = 99_999;

const settingsKey = "compile/settings";

const usual: RecordedSettings = {
  sources: [],
  binaryForms: false,
  certificates: "sds",
  legacyApi: "none",
  securityFailure: "close",
  pollDelayMs: usualPollDelayMs,
};

/**
 * The settings of a store, after what is `given` now is recorded, so that the next compile is like this one.
 *
 * @param given what this caller says about them; what it leaves out stays
 */
export async function settleSettings(store: ObjectStore, given: Partial<RecordedSettings>): Promise<RecordedSettings> {
  const found = await store.get(settingsKey);
  const recorded = found.kind === "found" ? readSettings(new TextDecoder().decode(found.bytes)) : {};
  const settled = { ...usual, ...recorded, ...given };
  const { sources, binaryForms, certificates, legacyApi, securityFailure, pollDelayMs } = settled;
  const text = JSON.stringify({
    sources,
    binaryForms,
    certificates,
    legacyApi,
    securityFailure,
    pollDelayMs,
  } satisfies RecordedSettings);
  const isNews = text !== JSON.stringify({ ...usual, ...recorded });
  if (isNews) await store.put(settingsKey, new TextEncoder().encode(text));
  return settled;
}

/** What can be read of it; the rest is as usual. */
const readSettings = (text: string): Partial<RecordedSettings> => settingsIn(jsonIn(text));

/** Settings as somebody else has settled them; what cannot be read is as usual. */
export const readRecordedSettings = (json: unknown): RecordedSettings => ({ ...usual, ...settingsIn(json) });

function settingsIn(json: unknown): Partial<RecordedSettings> {
  if (typeof json !== "object" || json === null) return {};
  const {
    sources,
    binaryForms,
    certificates,
    legacyApi,
    securityFailure,
    pollDelayMs,
  }: Partial<Record<keyof RecordedSettings, unknown>> = json;
  return {
    ...(isNames(sources) ? { sources } : {}),
    ...(typeof binaryForms === "boolean" ? { binaryForms } : {}),
    ...(certificates === "sds" || certificates === "files" || certificates === "none" ? { certificates } : {}),
    ...(legacyApi === "0.7" || legacyApi === "0.8" || legacyApi === "none" ? { legacyApi } : {}),
    ...securityFailureIn(securityFailure),
    ...(typeof pollDelayMs === "number" && pollDelayMs >= 1 && pollDelayMs <= longestPollDelayMs
      ? { pollDelayMs }
      : {}),
  };
}

function securityFailureIn(value: unknown): Partial<Pick<RecordedSettings, "securityFailure">> {
  const securityFailure = securityFailures.find((one) => one === value);
  return securityFailure === undefined ? {} : { securityFailure };
}

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === "string");

/** What a whole statement of options says about the settings. */
export function settingsOf(world: WorldOptions): Omit<RecordedSettings, "sources"> {
  const { binaryForms = false, certificates = "sds", legacyApi, pollDelayMs = usual.pollDelayMs } = world;
  const { securityFailure = usual.securityFailure } = world;
  return { binaryForms, certificates, legacyApi: legacyApi ?? "none", securityFailure, pollDelayMs };
}

/** @param others options that no store records */
export function worldOptionsOf(
  { sources, binaryForms, certificates, legacyApi, securityFailure, pollDelayMs }: RecordedSettings,
  { legacyApi: _legacyApi, ...others }: WorldOptions,
): WorldOptions {
  return {
    ...others,
    binaryForms,
    certificates,
    securityFailure,
    pollDelayMs,
    ...(sources.length === 0 ? {} : { sources }),
    ...(legacyApi === "none" ? {} : { legacyApi }),
  };
}
