import type { ObjectName } from "../install/cluster-objects.ts";
import type { Installation } from "../install/install-options.ts";
import type { KubeConnection } from "../kube/kube-connection.ts";

/** An installation in a cluster, as it is looked at. */
export interface Examined {
  readonly connection: KubeConnection;
  readonly of: Installation;
  readonly inventory: readonly ObjectName[];
}
