import type { Config } from "../../config/config.ts";
import type { EnvoyFilter } from "../../config/kinds/envoy-filter.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";

interface Inputs {
  readonly configs: readonly Config[];
}

/** The objects, of which each EnvoyFilter says that messages of unknown types in its patches may be passed on. */
export const withAcceptedTypes = query(
  "objects that accept unknown types",
  ({ configs }: Inputs, memo: Memo): readonly Config[] =>
    configs.map((config) => (config.meta.kind === "EnvoyFilter" ? accepting(memo, { config }) : config)),
);

const accepting = query("EnvoyFilter that accepts unknown types", ({ config }: { readonly config: Config }): Config => {
  const spec: EnvoyFilter = { ...Object(config.spec), acceptsUnknownTypes: true };
  return { ...config, spec };
});
