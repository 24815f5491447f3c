import type { z } from "zod";
import type {
  BackendObjectReference,
  BackendRef,
  LocalObjectReference,
  ObjectReference,
  ParentReference,
  PolicyTarget,
  SecretReference,
} from "../reference.ts";
import {
  fields,
  groupName,
  kindName,
  listOf,
  namespaceName,
  objectName,
  portNumber,
  sectionName,
  wholeNumber,
} from "./fields.ts";

export const gatewayGroup = "gateway.networking.k8s.io";

const parentReference: z.ZodType<ParentReference> = fields(
  { group: groupName.default(gatewayGroup), kind: kindName.default("Gateway"), name: objectName },
  { namespace: namespaceName, sectionName, port: portNumber },
);
export const parentReferences = listOf(parentReference, 32);

const backend = {
  group: groupName.default(""),
  kind: kindName.default("Service"),
  name: objectName,
};
const backendPlace = { namespace: namespaceName, port: portNumber };
export const backendObjectReference: z.ZodType<BackendObjectReference> = fields(backend, backendPlace);
const weight = wholeNumber(0, 1_000_000).default(1);
export const backendFields = { required: { ...backend, weight }, other: backendPlace };
export const backendRef: z.ZodType<BackendRef> = fields(backendFields.required, backendPlace);

export const secretReference: z.ZodType<SecretReference> = fields(
  { group: groupName.default(""), kind: kindName.default("Secret"), name: objectName },
  { namespace: namespaceName },
);
export const objectReference: z.ZodType<ObjectReference> = fields(
  { group: groupName, kind: kindName, name: objectName },
  { namespace: namespaceName },
);
export const localObjectReference: z.ZodType<LocalObjectReference> = fields(
  { group: groupName, kind: kindName, name: objectName },
  {},
);
export const policyTarget: z.ZodType<PolicyTarget> = fields(
  { group: groupName, kind: kindName, name: objectName },
  { sectionName },
);
