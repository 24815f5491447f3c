import type { ClassProxy } from "../../mesh/views/views.ts";
import type { Endpoint } from "../../registry/service.ts";
import type { EndpointContext } from "../endpoints/endpoint-context.ts";

/** What few clusters ask for: most are the same for sidecars and gateways, wherever they run, and whatever runs behind the service. */
export interface SeenByProxy {
  /** For clusters that carry them, or look at them for the guess of mTLS. */
  readonly endpoints: readonly Endpoint[];
  readonly endpointContext: EndpointContext;
  /** For original destinations, sniffed protocols, and credentials that only a gateway may fetch. */
  readonly proxyType: ClassProxy["type"];
}
