import type { z } from "zod";
import type { DiagnosticCode } from "../base/diagnostic-codes.ts";
import type { ConfigMeta } from "./config.ts";
import type { Finding } from "./finding.ts";
import { readSpec, type SpecReading } from "./read-spec.ts";
import { withoutEffectRules } from "./rules/fields-without-effect.ts";
import { numbersAsTexts } from "./values/numbers-as-texts.ts";

/** What an operator may write for a kind, and what is known about the kind. */
export interface KindSchema {
  /** CamelCase, as in documents. */
  readonly kind: string;
  readonly group: string;
  /** Other groups that the kind was or is served under. */
  readonly aliases: readonly string[];
  /** Accepted versions; the first is the one that objects are printed with. */
  readonly versions: readonly string[];
  /** Lower-case resource name, `virtualservices`. */
  readonly plural: string;
  readonly clusterScoped: boolean;
  /** Says why objects of the kind change nothing that a stock Envoy is told; undefined where they do. */
  readonly noEffect: string | undefined;
  /** What its spec may hold; objects are read by `read`, which adds the rules beyond single fields. */
  readonly schema: z.ZodType;
  /**
   * Reads a spec; paths of findings begin with `spec`.
   *
   * @param skipRules as `ReadOptions` has it; false when absent
   * @param allowed codes of findings that are none here; none when absent
   * @param status of the object, which some rules look at
   */
  read(
    raw: unknown,
    meta: ConfigMeta,
    unknownFields: "refuse" | "ignore",
    skipRules?: boolean,
    allowed?: ReadonlySet<DiagnosticCode>,
    status?: unknown,
  ): SpecReading<unknown>;
}

/** Checks that go beyond single fields; paths begin at the spec. */
export type Rules<Spec> = (spec: Spec, meta: ConfigMeta, status?: unknown) => Iterable<Finding>;

export interface KindDescription<Spec> {
  readonly kind: string;
  readonly group: string;
  readonly aliases?: readonly string[];
  readonly versions: readonly string[];
  readonly plural: string;
  readonly clusterScoped?: boolean;
  readonly noEffect?: string;
  /** Fields whose `null` means an empty message. */
  readonly emptyWhenNull?: readonly string[];
  readonly schema: z.ZodType<Spec>;
  readonly rules: Rules<Spec>;
}

/** Groups of Istio's that API servers kept without a schema, so that they took whatever Istio's decoder reads. */
const withoutSchemas: ReadonlySet<string> = new Set(["config.istio.io", "authentication.istio.io", "rbac.istio.io"]);

export function kindSchema<Spec>(description: KindDescription<Spec>): KindSchema {
  const { kind, group, versions, plural, schema, rules, emptyWhenNull = [] } = description;
  return {
    kind,
    group,
    aliases: description.aliases ?? [],
    versions,
    plural,
    clusterScoped: description.clusterScoped ?? false,
    noEffect: description.noEffect,
    schema,
    read(raw, meta, unknownFields, skipRules = false, allowed = new Set(), status?) {
      const { spec, findings } = readSpec(schema, raw, { unknownFields, emptyWhenNull });
      if (skipRules) return { spec, findings };
      const isTyped = unknownFields === "refuse" && !withoutSchemas.has(group);
      const found =
        spec === undefined
          ? findings
          : [
              ...findings,
              ...(isTyped ? numbersAsTexts(raw, spec) : []),
              ...rules(spec, meta, status),
              ...withoutEffectRules(kind, spec),
            ];
      const all = allowed.size === 0 ? found : found.filter(({ code }) => !allowed.has(code));
      if (all.length === 0) return { spec, findings: all };
      const refused = all.some((finding) => finding.severity === "error");
      return {
        spec: refused ? undefined : spec,
        findings: all.map((finding) => ({ ...finding, path: ["spec", ...finding.path] })),
      };
    },
  };
}
