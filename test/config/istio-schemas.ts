/** Istio's OpenAPI schemas of its kinds, out of the CRDs of release 1.30.3 and without their prose. */
import { readFileSync } from "node:fs";
import { load, loadAll } from "js-yaml";

/** As far as the tests read it; the rest is for the validator. */
export interface OpenApi {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, OpenApi>>;
  readonly additionalProperties?: OpenApi;
  readonly items?: OpenApi;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly "x-kubernetes-validations"?: readonly { readonly rule: string }[];
}

export interface IstioSchema {
  readonly group: string;
  readonly kind: string;
  readonly versions: readonly string[];
  /** One for all versions, which differ in nothing. */
  readonly spec: OpenApi;
}

export const schemasFile = new URL("../captured/istio-schemas.yaml", import.meta.url);

export function readIstioSchemas(): readonly IstioSchema[] {
  return JSON.parse(JSON.stringify(load(readFileSync(schemasFile, "utf8"))));
}

interface Crd {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: OpenApi } } };
    }[];
  };
}

/** @throws when versions of a kind have different schemas */
export function schemasOfCrds(text: string): readonly IstioSchema[] {
  const crds: readonly (Crd | null)[] = JSON.parse(JSON.stringify(loadAll(text)), withoutProse);
  return crds.flatMap((crd) => {
    if (crd === null) return [];
    const { group, names, versions } = crd.spec;
    const [spec, ...others] = versions.map(({ schema }) => schema.openAPIV3Schema.properties.spec);
    if (spec === undefined || others.some((other) => JSON.stringify(other) !== JSON.stringify(spec))) {
      throw new Error(`the versions of ${names.kind} differ`);
    }
    return [{ group, kind: names.kind, versions: versions.map(({ name }) => name), spec }];
  });
}

/** A field may be called `description` too; its schema is an object. */
const withoutProse = (key: string, value: unknown): unknown =>
  key === "description" && typeof value === "string" ? undefined : value;
