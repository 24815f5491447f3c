import type { Mesh, MeshServices } from "../../front/api/schema/mesh.ts";
import { counted } from "../parts/numbers.ts";
import type { Column, Edge } from "./layout.ts";

/** What a reader of the picture has pressed and typed. */
export interface Chosen {
  /** `sidecar/shop`; "" for none. */
  readonly caller: string;
  /** undefined for none; "" is what lies outside of the mesh. */
  readonly namespace: string | undefined;
  /** Part of a name. */
  readonly part: string;
}

export type Caller = Mesh["callers"][number];

export const keyOfCaller = ({ kind, namespace }: Pick<Caller, "kind" | "namespace">): string => `${kind}/${namespace}`;
export const callerId = (caller: Caller): string => `caller ${keyOfCaller(caller)}`;
export const namespaceId = (name: string): string => `namespace ${name}`;

const kinds: Readonly<Record<string, string>> = { router: "gateways", sidecar: "sidecars", grpc: "gRPC programs" };
const namespaceText = (name: string): string => name || "outside of the mesh";

/** Callers on the left, the namespaces that they see services of on the right. */
export function columnsOfMesh(
  { callers, namespaces, services }: Mesh,
  { caller, namespace, part }: Chosen,
): readonly Column[] {
  const isMeant = (name: string) => name.toLowerCase().includes(part.toLowerCase());
  return [
    {
      title: "Who calls",
      width: 250,
      room: 220,
      items: callers
        .filter((one) => isMeant(one.namespace) || keyOfCaller(one) === caller)
        .map((one) => ({
          id: callerId(one),
          label: `${kinds[one.kind] ?? one.kind} of ${one.namespace}`,
          detail: `${counted(one.nodes, "node")}, ${one.seesAll ? "sees all" : `sees ${servicesOf(one)} of ${services}`}`,
          isChosen: keyOfCaller(one) === caller,
        })),
    },
    {
      title: "Services of",
      width: 220,
      room: 0,
      items: namespaces
        .filter(({ name }) => isMeant(namespaceText(name)) || name === namespace)
        .map(({ name, services: count }) => ({
          id: namespaceId(name),
          label: namespaceText(name),
          detail: counted(count, "service"),
          isChosen: name === namespace,
        })),
    },
  ];
}

const servicesOf = ({ sees }: Caller): number => sees.reduce((sum, { services }) => sum + services, 0);

/** More edges than these at once are a wall: callers that see everything are drawn when one is pressed. */
const readableEdges = 200;

/** Who sees what: all of it in a small mesh, else what is scoped, and what is pressed. */
export function edgesOfMesh({ callers }: Mesh, { caller, namespace }: Chosen): readonly Edge[] {
  const total = callers.reduce((sum, { sees }) => sum + sees.length, 0);
  const isFree = caller === "" && namespace === undefined;
  return callers.flatMap((one) =>
    one.sees
      .filter(({ namespace: seen }) =>
        isFree
          ? total <= readableEdges || !one.seesAll
          : keyOfCaller(one) === caller || (caller === "" && seen === namespace),
      )
      .map(({ namespace: seen, services }) => ({
        from: callerId(one),
        to: namespaceId(seen),
        amount: services,
        label: keyOfCaller(one) === caller ? String(services) : "",
      })),
  );
}

const serviceId = (host: string): string => `service ${host}`;
const partId = ({ host, subset, port }: Part): string => `part ${host} ${subset} ${port}`;
type Part = MeshServices["services"][number]["routes"][number]["to"][number];

/** `ratings` of `ratings.shop.svc.cluster.local`. */
const shortHost = (host: string): string => host.replace(/^([^.]+)\.[^.]+\.svc\..*$/, "$1");

/** The services of a namespace, and where routes lead besides. */
export function columnsOfServices({ services }: MeshServices): readonly Column[] {
  const asked = new Map<string, string>();
  const parts = new Map<string, Part>();
  for (const { routes } of services) {
    for (const { host, to } of routes) {
      if (!services.some((one) => one.host === host)) asked.set(host, "asked for by this name");
      for (const part of to) parts.set(partId(part), part);
    }
  }
  return [
    {
      title: "Asked for",
      width: 270,
      room: 260,
      items: [
        ...[...asked].map(([host, detail]) => ({ id: serviceId(host), label: host, detail })),
        ...services.map(({ host, ports, subsets }) => ({
          id: serviceId(host),
          label: shortHost(host),
          detail: [`port ${ports.join(", ")}`, ...(subsets.length === 0 ? [] : [`subsets ${subsets.join(", ")}`])].join(
            "; ",
          ),
        })),
      ],
    },
    {
      title: "Led to",
      width: 230,
      room: 0,
      items: [...parts].map(([id, { host, subset, port }]) => ({
        id,
        label: subset === "" ? shortHost(host) : `${shortHost(host)} ${subset}`,
        detail: `port ${port}`,
      })),
    },
  ];
}

/** Routes with their weights. */
export function edgesOfServices({ namespace, services }: MeshServices): readonly Edge[] {
  const into = services.map(({ host }) => ({
    from: namespaceId(namespace),
    to: serviceId(host),
    amount: 1,
    label: "",
  }));
  const routes = services.flatMap((one) => one.routes);
  const once = new Map(routes.map((route) => [JSON.stringify(route), route]));
  const led = [...once.values()].flatMap(({ host, match, to }) =>
    to.map((part) => ({
      from: serviceId(host),
      to: partId(part),
      amount: part.weightPercent / 10,
      label: [match, `${part.weightPercent} %`].filter((text) => text !== "").join(" "),
    })),
  );
  return [...into, ...led];
}
