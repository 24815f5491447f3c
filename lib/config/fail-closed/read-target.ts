import { type Fields, fieldsOf, isFields } from "../../base/untyped.ts";
import type { Finding } from "../finding.ts";
import type { PolicyTarget } from "../kinds/selector.ts";
import { camelFieldName } from "../read-spec.ts";
import { policyTargetRules } from "../rules/selectors.ts";
import { message } from "../schema/message.ts";
import { policyTarget } from "../schema/selector.ts";
import { validSpec } from "./valid-spec.ts";

/** Which workloads a refused object selects. */
export interface ReadTarget {
  /** Empty: the whole namespace. */
  readonly target: PolicyTarget;
  /** False where that cannot be read, or something may say it that this release does not know. */
  readonly isRead: boolean;
}

const schema = message(policyTarget);
const names: ReadonlySet<string> = new Set(["selector", "targetRef", "targetRefs"]);

/**
 * Reads what a refused object selects. What cannot be read selects the whole namespace.
 *
 * @param spec as written
 * @param errors of the object; an unknown field beside none of the three known ones may be a selector
 */
export function readTarget(spec: unknown, errors: readonly Pick<Finding, "code" | "path">[]): ReadTarget {
  const whole = { target: {}, isRead: false };
  if (!isFields(spec)) return { target: {}, isRead: spec === undefined || spec === null };
  const target = validSpec<PolicyTarget>(schema, writtenTarget(spec), policyTargetRules);
  if (target === undefined) return whole;
  const isGiven = Object.keys(target).length > 0;
  const mayBeElsewhere = errors.some(({ code, path }) => code === "unknown-field" && path.length === 2);
  return isGiven || !mayBeElsewhere ? { target, isRead: true } : whole;
}

/** The fields that select, an EnvoyFilter's under the names that policies have for them. */
function writtenTarget(spec: Fields): Fields {
  const entries = Object.entries(spec).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    const field = camelFieldName(name);
    if (names.has(field)) return [[field, value]];
    if (field !== "workloadSelector") return [];
    const { labels, ...others } = fieldsOf(value);
    return [["selector", isFields(value) ? { matchLabels: labels ?? {}, ...others } : value]];
  });
  return Object.fromEntries(entries);
}
