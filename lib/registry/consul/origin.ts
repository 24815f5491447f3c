import { sameValue } from "../changes/same.ts";
import type { Origin, OriginObject, OriginSink } from "../origin/origin.ts";
import type { ConsulClient } from "./agent.ts";
import { consulIdentity } from "./identity.ts";
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
  let identity: string | undefined;
  return {
    about: { kind: "consul" },
    parts,
    identity: () => identity,
    async follow(sink, signal) {
      /** Of several datacentres the first stands for all: more may be read later. */
      const learn = async (services: readonly OriginObject[]) => {
        const [own] = services.map(({ key }) => key.split("/")[0]);
        identity = await consulIdentity(client, datacenters[0] ?? own ?? "", signal);
      };
      await Promise.all(
        parts.map((part, at) => {
          const asked = datacenters.length === 0 ? client : { ...client, datacenter: part };
          return followDatacenter(asked, part, { ...options, ...(at === 0 ? { learn } : {}) }, sink, signal);
        }),
      );
    },
  };
}

interface FollowOptions extends ConsulSourceOptions {
  /** Finds out whose services these are, before they are told, and again after a break: it may be another Consul. */
  readonly learn?: (services: readonly OriginObject[]) => Promise<void>;
}

async function followDatacenter(
  client: ConsulClient,
  part: string,
  { learn, ...options }: FollowOptions,
  sink: OriginSink,
  signal: AbortSignal,
): Promise<void> {
  let last: readonly OriginObject[] | undefined;
  let isKnown = false;
  for await (const event of consulSource(client, options).watch(signal)) {
    if ("failure" in event) {
      sink.failed(part, event.failure);
      isKnown = false;
      continue;
    }
    const services = storedServices(event.content);
    if (!isKnown) await learn?.(services);
    isKnown = true;
    if (last !== undefined && sameValue(last, services)) sink.followed(part);
    // What is too much is told again with the next change.
    else last = sink.whole(part, services) ? services : undefined;
  }
}
