import { internList, internValue, keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { fingerprint } from "../../incremental/plain-text.ts";
import { query } from "../../incremental/query.ts";
import { serviceKey } from "../../registry/changes/registry-state.ts";
import type { Endpoint, Service } from "../../registry/service.ts";
import type { AddressPerspective } from "../hosts/service-address.ts";
import type { Mesh } from "../mesh.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { headlessServices } from "./listeners/listener-lookups.ts";
import type { ProxyAnswers } from "./proxies/proxy-answers.ts";
import { type InputNames, itself, viewKey } from "./view-key.ts";
import type { ClassProxy, View } from "./views.ts";

/** NDS: what the DNS proxy of an agent answers from. */
export interface NameView extends View {
  /** One object for all scopes that see the same. */
  readonly named: NamedServices;
}

/** Services in reach, and what decides which of their addresses a proxy is told. */
export interface NamedServices {
  /** By egress listener, as it imports them. */
  readonly lists: readonly (readonly Service[])[];
  /** Those among them that have no address but their endpoints', one of each. */
  readonly headless: readonly Service[];
  /** Of each of these. */
  readonly endpoints: readonly (readonly Endpoint[])[];
  readonly seen: NamePerspective;
}

export interface NamePerspective extends AddressPerspective {
  /** Of the proxy; "" where no endpoint that counts has one. */
  readonly network: string;
}

/** The names that a proxy which captures DNS can ask for. */
export function nameViewOf(
  mesh: Mesh,
  node: ProxyAnswers,
  { scope, proxy }: { readonly scope: SidecarScope; readonly proxy: ClassProxy },
  memo: Memo,
): NameView {
  const { egressListeners } = scope;
  const headless = headlessServices(scope, memo);
  // By what it is of and not by the scope: namespaces that see the same services share the list, and the table.
  const name = nameOfList(memo, { headless });
  const endpoints = keepList(memo, `endpoints by name|${name}`, headless.map(mesh.lookups.endpoints));
  const { clusterId, ipMode, autoAllocatedAddresses } = proxy;
  const network = hasNetworks(memo, { endpoints }) ? node.network : "";
  const named = namedServices(memo, {
    lists: internList(
      memo,
      egressListeners.map(({ services }) => services),
    ),
    headless,
    endpoints,
    seen: internValue(memo, { clusterId, ipMode, autoAllocatedAddresses, network }),
  });
  return nameView(memo, { scope: scope.id, named });
}

const nameOfList = query(
  "name of headless services",
  ({ headless }: { readonly headless: readonly Service[] }): string => fingerprint(headless.map(serviceKey).join()),
);

const hasNetworks = query("networks of headless services", ({ endpoints }: Pick<NamedServices, "endpoints">): boolean =>
  endpoints.some((list) => list.some(({ network }) => network !== "")),
);

const namedServices = query("named services", (named: NamedServices): NamedServices => named);

interface NameInputs {
  /** Id of the scope. */
  readonly scope: string;
  readonly named: NamedServices;
}

const names: InputNames<NameInputs> = { scope: itself, named: ({ seen }) => seen };

const nameView = query(
  "name view",
  (inputs: NameInputs): NameView => ({ key: viewKey(names, inputs), named: inputs.named }),
);
