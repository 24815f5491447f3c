import type { Mesh, MeshServices } from "../../front/api/schema/mesh.ts";
import { counted } from "../parts/numbers.ts";
import type { Column, Edge, Item } from "./layout.ts";

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
export const kindText = (kind: string): string => kinds[kind] ?? kind;
const namespaceText = (name: string): string => name || "outside of the mesh";

const collator = new Intl.Collator("en", { numeric: true });

/** What a caller that sees every namespace is led to, so that one line says it. */
export const everythingId = "everything";

/** In a mesh of more lines than these they cross too much to be followed: who sees everything has one line then. */
const readableEdges = 60;

const isLarge = ({ callers }: Mesh): boolean => callers.reduce((sum, { sees }) => sum + sees.length, 0) > readableEdges;

/** Callers on the left, the namespaces that they see services of on the right. */
export function columnsOfMesh(mesh: Mesh, { caller, namespace, part }: Chosen): readonly Column[] {
  const { callers, namespaces, services } = mesh;
  const isMeant = (name: string) => name.toLowerCase().includes(part.toLowerCase());
  return [
    {
      title: "Clients",
      width: 250,
      room: 220,
      items: callers
        .filter((one) => isMeant(one.namespace) || keyOfCaller(one) === caller)
        .toSorted(
          (a, b) =>
            Number(b.kind === "router") - Number(a.kind === "router") || collator.compare(a.namespace, b.namespace),
        )
        .map((one) => ({
          id: callerId(one),
          label: `${kindText(one.kind)} of ${one.namespace}`,
          detail: `${counted(one.nodes, "node")}, ${one.seesAll ? "sees all" : `sees ${servicesOf(one)} of ${services}`}`,
          isChosen: keyOfCaller(one) === caller,
        })),
    },
    {
      title: "Services of",
      width: 220,
      room: 0,
      items: [
        ...(isLarge(mesh) && callers.some(({ seesAll }) => seesAll)
          ? [{ id: everythingId, label: "every namespace", detail: counted(services, "service"), isChosen: false }]
          : []),
        ...namespaces
          .filter(({ name }) => isMeant(namespaceText(name)) || name === namespace)
          .toSorted((a, b) => collator.compare(a.name, b.name))
          .map(({ name, services: count }) => ({
            id: namespaceId(name),
            label: namespaceText(name),
            detail: counted(count, "service"),
            isChosen: name === namespace,
          })),
      ],
    },
  ];
}

const servicesOf = ({ sees }: Caller): number => sees.reduce((sum, { services }) => sum + services, 0);

/** Who sees what: what is pressed, with its numbers, or all of it. */
export function edgesOfMesh(mesh: Mesh, { caller, namespace }: Chosen): readonly Edge[] {
  const isFree = caller === "" && namespace === undefined;
  return mesh.callers.flatMap((one): readonly Edge[] => {
    const from = callerId(one);
    if (isFree && one.seesAll && isLarge(mesh)) return [{ from, to: everythingId, amount: servicesOf(one), label: "" }];
    return one.sees
      .filter(({ namespace: seen }) => isFree || keyOfCaller(one) === caller || (caller === "" && seen === namespace))
      .map(({ namespace: seen, services }) => ({
        from,
        to: namespaceId(seen),
        amount: services,
        label: keyOfCaller(one) === caller ? String(services) : "",
      }));
  });
}

const serviceId = (host: string): string => `service ${host}`;
const partId = ({ host, subset, port }: Part): string => `part ${host} ${subset} ${port}`;
type Part = MeshServices["services"][number]["routes"][number]["to"][number];

/** In the columns of services. */
export const hostOfId = (id: string): string | undefined => (id.startsWith("service ") ? id.slice(8) : undefined);

/** `ratings` of `ratings.shop.svc.cluster.local`. */
const shortHost = (host: string): string => host.replace(/^([^.]+)\.[^.]+\.svc\..*$/, "$1");

/** Services, where routes lead, and for one alone who sees it. */
export function columnsOfServices({ services, seenBy = [] }: MeshServices): readonly Column[] {
  const items: Item[] = [];
  const parts = new Map<string, Part>();
  const hosts = new Set(services.map(({ host }) => host));
  const asked = new Set<string>();
  for (const { host, ports, subsets, routes } of services) {
    for (const { host: name, to } of routes) {
      for (const part of to) parts.set(partId(part), part);
      // A name that routes lead here from stands beside what it leads to: lines stay short.
      if (hosts.has(name) || asked.has(name)) continue;
      asked.add(name);
      items.push({ id: serviceId(name), label: name, detail: "requested by this name" });
    }
    const versions = subsets.length === 0 ? [] : [`subsets ${subsets.join(", ")}`];
    items.push({
      id: serviceId(host),
      label: shortHost(host),
      detail: [namespaceText(namespaceIn(host)), `port ${ports.join(", ")}`, ...versions].join("; "),
    });
  }
  const callers = seenBy.map((one) => ({
    id: `caller ${keyOfCaller(one)}`,
    label: `${kindText(one.kind)} of ${one.namespace}`,
    detail: counted(one.nodes, "node"),
  }));
  return [
    ...(callers.length === 0 ? [] : [{ title: "Seen by", width: 210, room: 70, items: callers }]),
    { title: "Asked for", width: callers.length === 0 ? 290 : 250, room: callers.length === 0 ? 270 : 190, items },
    {
      title: "Led to",
      width: callers.length === 0 ? 230 : 190,
      room: 0,
      items: [...parts].map(([id, { host, subset, port }]) => ({
        id,
        label: subset === "" ? shortHost(host) : `${shortHost(host)} ${subset}`,
        detail: `port ${port}`,
      })),
    },
  ];
}

const namespaceIn = (host: string): string => /^[^.]+\.([^.]+)\.svc\./.exec(host)?.[1] ?? "";

/** Routes with their weights; what leads from one thing to another several times is one line that says them all. */
export function edgesOfServices({ services, seenBy = [] }: MeshServices): readonly Edge[] {
  const into = seenBy.flatMap((one) =>
    services.map(({ host }) => ({
      from: `caller ${keyOfCaller(one)}`,
      to: serviceId(host),
      amount: 1,
      label: "",
    })),
  );
  const routes = new Map(services.flatMap((one) => one.routes).map((route) => [JSON.stringify(route), route]));
  const led = new Map<string, Edge>();
  for (const { host, match, to } of routes.values()) {
    for (const part of to) {
      const [from, end] = [serviceId(host), partId(part)];
      const before = led.get(`${from} ${end}`);
      const said = [match, `${part.weightPercent} %`].filter((text) => text !== "").join(": ");
      led.set(`${from} ${end}`, {
        from,
        to: end,
        amount: Math.max(before?.amount ?? 0, part.weightPercent / 10),
        label: before === undefined || before.label === said ? said : `${before.label}, ${said}`,
      });
    }
  }
  return [...into, ...led.values()];
}
