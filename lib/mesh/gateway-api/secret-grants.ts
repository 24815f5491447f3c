import { byCodePoint } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { ReferenceGrant } from "../../config/gateway-api/backend-policy.ts";
import { query } from "../../incremental/query.ts";
import { isOfGateways } from "./grants.ts";

/** Gateways of one namespace may name a secret of another one, or every secret of it. */
export interface GrantedSecret {
  readonly from: string;
  readonly to: string;
  /** Absent: every secret of the namespace. */
  readonly name?: string;
}

interface Inputs {
  readonly configs: readonly Config<ReferenceGrant>[];
  /** What is allowed without one. */
  readonly beside: readonly GrantedSecret[];
}

/**
 * What ReferenceGrants and others allow to be named, for whoever hands secrets out; sorted, each once.
 *
 * @see istio 1.30.3 pilot/pkg/config/kube/gatewaycommon/references.go
 */
export const secretGrants = query(
  "secret grants",
  { beside: "value" },
  ({ configs, beside }: Inputs): readonly GrantedSecret[] => {
    const granted = configs.flatMap(({ meta, spec }) =>
      spec.from
        .filter(isOfGateways)
        .flatMap(({ namespace: from }) =>
          spec.to
            .filter(({ group, kind }) => group === "" && kind === "Secret")
            .map(({ name }): GrantedSecret => ({ from, to: meta.namespace, ...(name === undefined ? {} : { name }) })),
        ),
    );
    const byKey = new Map([...granted, ...beside].map((grant) => [JSON.stringify(grant), grant]));
    return [...byKey].sort(([a], [b]) => byCodePoint(a, b)).map(([, grant]) => grant);
  },
);
