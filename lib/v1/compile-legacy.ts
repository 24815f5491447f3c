import { byCodePoint } from "../base/diagnostic.ts";
import { type Memo, noMemo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import {
  type CompiledLegacy,
  emptySite,
  type LegacyHost,
  type LegacyIndex,
  legacyClassKey,
} from "../legacy/compiled-legacy.ts";
import { composeAlone, textsOfDocuments } from "../legacy/compose-document.ts";
import type { NodeId } from "../legacy/node-id.ts";
import { type AddressClass, addressClassesOf } from "./address-classes.ts";
import { type ClassDocuments, classDocuments, keepDocuments } from "./class-documents.ts";
import { forms, registrationText } from "./elements.ts";
import type { LegacyMesh, LegacyService, LegacyWorld } from "./legacy-world.ts";
import { hostRow, registrations } from "./sds.ts";

/**
 * Every answer of the v1 API for a world, made ahead: for each place at which something runs, in the DNS domain of its
 * namespace, and for nodes at any other address. The same object for the same world: what v1 does not know changes none.
 *
 * @param domains further DNS domains of nodes
 */
export const compileLegacy = (
  world: LegacyWorld,
  domains: readonly string[] = [],
  memo: Memo = noMemo,
): CompiledLegacy => legacyAnswers(memo, { world, domains });

interface Inputs {
  readonly world: LegacyWorld;
  readonly domains: readonly string[];
}

const legacyAnswers = query("answers of the v1 API", { domains: "value" }, allAnswers);

function allAnswers({ world, domains }: Inputs, memo: Memo): CompiledLegacy {
  const mesh = meshOf(memo, world);
  const { addressClasses, sites } = addressClassesOf(memo, mesh, world.instances);
  const allDomains = [...new Set([...domainsOf(mesh, mesh.services), ...domains])];
  // Only rules with a source look at what runs at the address of a router.
  const routerClasses = hasSources(mesh) ? addressClasses : addressClasses.slice(0, 1);
  const classes = new Map<string, ClassDocuments>();
  const add = (type: NodeId["type"], addressClass: AddressClass, domain: string, isAddressed: boolean): void => {
    const made = classDocuments(memo, { mesh, addressClass, type, domain, isAddressed });
    classes.set(legacyClassKey(made.node, addressClass.id), made);
  };
  for (const addressClass of addressClasses) {
    const services = addressClass.instances.map(({ service }) => service);
    const own = addressClass.id === emptySite ? allDomains : new Set([...domainsOf(mesh, services), ...domains]);
    for (const domain of own) add("sidecar", addressClass, domain, true);
  }
  for (const isAddressed of [true, false]) {
    for (const domain of allDomains) {
      for (const addressClass of routerClasses) add("router", addressClass, domain, isAddressed);
      for (const addressClass of addressClasses.slice(0, 1)) add("ingress", addressClass, domain, isAddressed);
    }
  }
  const registered = composeAlone(forms.registrations, registrations(world).map(registrationText));
  const index: LegacyIndex = {
    registrations: registered.ref,
    classes: sortedRecord(new Map([...classes].map(([key, { answers }]) => [key, answers]))),
    sites: sortedRecord(sites),
    hosts: hostsOf(world),
  };
  const documents = [...new Set([...classes.values()].flatMap(({ clusters, listeners }) => [clusters, listeners]))];
  keepDocuments(memo, documents);
  // Most classes route by the same tables.
  const tables = [...new Set([...classes.values()].map(({ tables }) => tables))].flat();
  return { index, texts: sortedRecord(textsOfDocuments([registered, ...documents, ...tables])) };
}

/** The world without what runs: the same object as long as nothing else changes. */
function meshOf(memo: Memo, world: LegacyWorld): LegacyMesh {
  const { services, managementPorts, mesh, domain, configs, v1alpha3 } = world;
  return legacyMesh(memo, { services, managementPorts, mesh, domain, configs, v1alpha3 });
}

interface MeshInputs extends Omit<LegacyMesh, "v1alpha3"> {
  readonly v1alpha3: LegacyMesh["v1alpha3"] | undefined;
}

const legacyMesh = query(
  "mesh of the v1 API",
  ({ v1alpha3, ...mesh }: MeshInputs): LegacyMesh => ({ ...mesh, ...(v1alpha3 === undefined ? {} : { v1alpha3 }) }),
);

const hasSources = ({ configs, v1alpha3 }: LegacyMesh): boolean =>
  v1alpha3 !== undefined ||
  configs.routeRules.some(({ spec }) => spec.match?.source !== undefined) ||
  configs.destinationPolicies.some(({ spec }) => spec.source !== undefined);

function hostsOf(world: LegacyWorld): LegacyIndex["hosts"] {
  const hosts = new Map<string, Map<string, LegacyHost[]>>();
  for (const instance of world.instances) {
    if (instance.service.external) continue;
    const byPort = hosts.get(instance.service.hostname) ?? new Map<string, LegacyHost[]>();
    hosts.set(instance.service.hostname, byPort);
    const row = { host: hostRow(instance), labels: instance.labels };
    const rows = byPort.get(instance.servicePort.name);
    if (rows === undefined) byPort.set(instance.servicePort.name, [row]);
    else rows.push(row);
  }
  return sortedRecord(new Map([...hosts].map(([host, byPort]) => [host, sortedRecord(byPort)])));
}

/** DNS domains of the namespaces of services. */
function domainsOf({ domain }: LegacyMesh, services: readonly LegacyService[]): readonly string[] {
  const suffix = `.svc.${domain}`;
  const namespaces = services
    .filter(({ hostname }) => hostname.endsWith(suffix))
    .map(({ hostname }) => hostname.slice(0, -suffix.length).split(".")[1] ?? "");
  return [...new Set(namespaces.filter((namespace) => namespace !== ""))].sort().map((namespace) => namespace + suffix);
}

function sortedRecord<T>(map: ReadonlyMap<string, T>): Readonly<Record<string, T>> {
  return Object.fromEntries([...map].sort(([a], [b]) => byCodePoint(a, b)));
}
