import type { Origin, OriginSink } from "../origin.ts";
import { sameValue } from "../same.ts";
import type { ConsulClient } from "./agent.ts";
import { type ConsulSourceOptions, consulSource } from "./source.ts";
import { storedServices } from "./stored-service.ts";

/** The part that stands for the datacentre of whichever agent is asked. */
const ownDatacenter = "own";

/**
 * The catalogues of datacentres as an origin, one part for each.
 *
 * @param datacenters all asked through one agent; empty: the agent's own
 */
export function consulOrigin(
  client: Omit<ConsulClient, "datacenter">,
  datacenters: readonly string[],
  options: ConsulSourceOptions,
): Origin {
  const parts = datacenters.length === 0 ? [ownDatacenter] : [...new Set(datacenters)];
  return {
    about: { kind: "consul" },
    parts,
    async follow(sink, signal) {
      await Promise.all(
        parts.map((part) => {
          const asked = datacenters.length === 0 ? client : { ...client, datacenter: part };
          return followDatacenter(asked, part, options, sink, signal);
        }),
      );
    },
  };
}

async function followDatacenter(
  client: ConsulClient,
  part: string,
  options: ConsulSourceOptions,
  sink: OriginSink,
  signal: AbortSignal,
): Promise<void> {
  let last: ReturnType<typeof storedServices> | undefined;
  for await (const event of consulSource(client, options).watch(signal)) {
    if ("failure" in event) {
      sink.failed(part, event.failure);
      continue;
    }
    const services = storedServices(event.content);
    if (last !== undefined && sameValue(last, services)) sink.followed(part);
    else sink.whole(part, services);
    last = services;
  }
}
