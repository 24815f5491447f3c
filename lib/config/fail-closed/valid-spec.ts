import type { z } from "zod";
import type { Finding } from "../finding.ts";
import { readSpec } from "../read-spec.ts";

/** A spec that its schema and its rules find no error in, with no field that is not known; undefined for any other. */
export function validSpec<Spec>(
  schema: z.ZodType<Spec>,
  raw: unknown,
  rules: (spec: Spec) => Iterable<Finding>,
): Spec | undefined {
  const { spec } = readSpec(schema, raw, { unknownFields: "refuse", emptyWhenNull: [] });
  if (spec === undefined) return undefined;
  for (const { severity } of rules(spec)) if (severity === "error") return undefined;
  return spec;
}
