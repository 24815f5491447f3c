import type { EntryVisibility, ServiceEntryVisibility } from "../../config/kinds/mesh-config.ts";
import type { Labels } from "../../config/values/labels.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { selectsLabels } from "../../registry/kubernetes/namespace.ts";
import type { Service } from "../../registry/service.ts";
import { isVisibleIn, type Visibility } from "./export-to.ts";

/** How far the services of ServiceEntries may be seen, by the namespace of the entry. A plain value. */
export interface EntryLimits {
  /** Namespaces that exist, and are not limited as others are. */
  readonly byNamespace: Readonly<Record<string, EntryVisibility>>;
  /** Of a namespace that no object is known of: it has no labels. */
  readonly others: EntryVisibility;
}

interface LimitInputs {
  readonly setting: ServiceEntryVisibility | undefined;
  readonly namespaces: ReadonlyMap<string, Labels>;
}

/**
 * What `serviceEntryVisibility` says to sidecars and gateways; undefined: nothing, as without `applyToSidecars`.
 * @see docs/how-istio-does-it/services.md#visibility-of-serviceentries
 */
export function entryLimits(inputs: LimitInputs, memo: Memo): EntryLimits | undefined {
  return inputs.setting?.applyToSidecars === true ? limitsOf(memo, inputs) : undefined;
}

const limitsOf = query(
  "visibility of entries",
  { setting: "value" },
  ({ setting = {}, namespaces }: LimitInputs): EntryLimits => {
    const others = visibilityFor(setting, {});
    const limited = [...namespaces]
      .map(([name, labels]) => [name, visibilityFor(setting, { ...labels, [nameLabel]: name })] as const)
      .filter(([, visibility]) => visibility !== others);
    return { byNamespace: Object.fromEntries(limited), others };
  },
);

/** The label that Kubernetes gives every namespace. */
const nameLabel = "kubernetes.io/metadata.name";

/** The first policy all of whose rules match; a rule that selects by nothing that is known matches nothing. */
function visibilityFor({ policies = [], defaultVisibility }: ServiceEntryVisibility, labels: Labels): EntryVisibility {
  const found = policies.find(({ matchingRules = [] }) =>
    matchingRules.every(
      ({ namespaceSelector }) => namespaceSelector !== undefined && selectsLabels(namespaceSelector, labels),
    ),
  );
  const said = found === undefined ? defaultVisibility : found.visibility;
  return said === undefined || said === "UNSPECIFIED" ? "PUBLIC" : said;
}

/** @param exported where the service is exported to: a limit never widens that */
export function limitedVisibility(
  { attributes: { provider, namespace } }: Service,
  exported: Visibility,
  limits: EntryLimits | undefined,
): Visibility {
  if (limits === undefined || provider !== "External") return exported;
  const limit = Object.hasOwn(limits.byNamespace, namespace) ? limits.byNamespace[namespace] : limits.others;
  if (limit === "NONE") return nowhere;
  if (limit !== "NAMESPACE") return exported;
  return isVisibleIn(exported, namespace) ? { everywhere: false, namespaces: [namespace] } : nowhere;
}

const nowhere: Visibility = { everywhere: false, namespaces: [] };
