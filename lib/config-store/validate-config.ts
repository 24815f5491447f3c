import type { Diagnostic, Stage } from "../base/diagnostic.ts";
import type { Config } from "../config/config.ts";
import { at, error } from "../config/finding.ts";
import { schemaOf } from "../config/kind-registry.ts";

/** Checks a config once more at the door of a store, and gives it back in canonical form. */
export function validateConfig(config: Config): Stage<Config | undefined> {
  const { kind, group } = config.meta;
  const schema = schemaOf(group, kind);
  if (schema === undefined) {
    const finding = error(["kind"], `${group}/${kind} is no known kind`, "", "unknown-kind");
    return { value: undefined, diagnostics: [at(config.origin, finding)] };
  }
  const { spec, findings } = schema.read(config.spec, config.meta, "refuse");
  const diagnostics: readonly Diagnostic[] = findings.map((finding) => at(config.origin, finding));
  return { value: spec === undefined ? undefined : { ...config, spec }, diagnostics };
}
