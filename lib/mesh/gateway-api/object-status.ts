import type { ConfigKey } from "../../base/diagnostic.ts";
import { type Config, keyOf } from "../../config/config.ts";
import { mergedStatus } from "../../config/gateway-api/status/merge-status.ts";
import type { GatewayApiStatus } from "../../config/gateway-api/status/status.ts";

/** What is said of one object. */
export interface ObjectStatus {
  readonly key: ConfigKey;
  /** Generation of the object that it speaks of. */
  readonly generation: number;
  /** Of the very object, where a server has it. */
  readonly uid?: string;
  /** Names of the controllers whose entries are ours, where a status holds those of several. */
  readonly controllers: readonly string[];
  readonly status: GatewayApiStatus;
}

/** As an API server counts: from 1. */
export const generationOf = ({ meta }: Config): number => meta.generation ?? 1;

/** The status of an object: what is to be said of it, put into the one that it has. */
export function objectStatus(
  config: Config,
  fresh: GatewayApiStatus,
  controllers: readonly string[] = [],
): ObjectStatus {
  const { namespace, uid } = config.meta;
  return {
    key: keyOf(config),
    generation: generationOf(config),
    ...(uid === undefined ? {} : { uid }),
    controllers,
    status: mergedStatus(config.status, fresh, { namespace, controllers }),
  };
}
