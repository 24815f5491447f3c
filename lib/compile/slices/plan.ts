import { isFields } from "../../base/untyped.ts";
import { canonicalJson, isSha256, sha256 } from "../../config/canonical-json.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import { reuseKey } from "../reuse/open-reusable.ts";
import { type RecordedSettings, readRecordedSettings, worldOptionsOf } from "../world/recorded-settings.ts";
import { defaultWorldOptions, type WorldOptions } from "../world/world-of.ts";

/** All that a slice is compiled from: equal plans give equal bytes, wherever and however often they are carried out. */
export interface SlicePlan {
  /** Version of the compiler: another one has no part in this. */
  readonly compiler: string;
  /** Tells its code from that of any other, even of the same version; absent: nobody is to take anything of what comes of the plan. */
  readonly build?: string;
  /** The sources as they were when the plan was made, in their order. */
  readonly sources: readonly CompiledSource[];
  readonly settings: RecordedSettings;
  /** How many slices. */
  readonly of: number;
}

/** One slice to be compiled, as a message says it. */
export interface SliceJob {
  readonly plan: SlicePlan;
  /** 0-based. */
  readonly index: number;
}

/** More slices than these are no plan of ours. */
export const maxSlices = 256;

/** Names a plan: the same for the same. */
export const planId = (plan: SlicePlan): string => sha256(canonicalJson(plan)).slice(0, 32);

/** How a plan's world is compiled. */
export const worldOptionsIn = ({ settings }: SlicePlan): WorldOptions => worldOptionsOf(settings, defaultWorldOptions);

/** The names of its sources, in their order. */
export const sourceNamesIn = ({ sources }: SlicePlan): readonly string[] => sources.map(({ name }) => name);

/** By what a later compile knows what comes of a plan as its own; undefined where none is to. */
export const reuseKeyOf = (plan: SlicePlan): string | undefined =>
  plan.build && reuseKey({ build: plan.build, options: worldOptionsIn(plan), order: sourceNamesIn(plan) });

/** Slices as people count them. */
export const sliceText = (index: number, of: number): string => `slice ${index + 1} of ${of}`;

/** A job out of a message. @returns undefined for anything else */
export function readSliceJob(message: unknown): SliceJob | undefined {
  if (!isFields(message) || !isFields(message.plan)) return undefined;
  const { plan, index } = message;
  const { compiler, build, sources, settings, of } = plan;
  if (typeof compiler !== "string" || !isCount(of) || of < 1 || of > maxSlices) return undefined;
  if (!isCount(index) || index >= of || !Array.isArray(sources) || !sources.every(isSource)) return undefined;
  const pinned = sources.map(({ name, version, configuration }) => ({
    name,
    version,
    ...(configuration === undefined ? {} : { configuration }),
  }));
  const known = typeof build === "string" ? { build } : {};
  return { plan: { compiler, ...known, sources: pinned, settings: readRecordedSettings(settings), of }, index };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const isSource = (value: unknown): value is CompiledSource => {
  if (!isFields(value) || typeof value.name !== "string") return false;
  const { version, configuration } = value;
  return isVersion(version) && (configuration === undefined || isVersion(configuration));
};

/** "": the source holds nothing, or no configuration. */
const isVersion = (value: unknown): boolean => value === "" || isSha256(value);
