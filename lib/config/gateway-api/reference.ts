/**
 * References of the Gateway API's objects to others. As in every file of this room, defaults are filled in as the API server
 * fills them in.
 * @see https://gateway-api.sigs.k8s.io/reference/spec/
 */

/** A parent of a route: a Gateway, a ListenerSet, or what routes of the mesh are for. */
export interface ParentReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** Absent: the route's own. */
  readonly namespace?: string;
  /** Name of a listener. */
  readonly sectionName?: string;
  readonly port?: number;
}

/** Where a route sends requests to. */
export interface BackendObjectReference {
  /** "": Kubernetes' core. */
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** Absent: the route's own. */
  readonly namespace?: string;
  readonly port?: number;
}

export interface BackendRef extends BackendObjectReference {
  /** Share of the requests among the backends of its rule; 0: none. */
  readonly weight: number;
}

/** A certificate of a listener. */
export interface SecretReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** Absent: the object's own. */
  readonly namespace?: string;
}

/** An object whose kind is always written. */
export interface ObjectReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** Absent: the object's own. */
  readonly namespace?: string;
}

/** An object of the own namespace. */
export interface LocalObjectReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** An object of the own namespace, or a named part of it. */
export interface PolicyTarget extends LocalObjectReference {
  /** Name of a port of a service. */
  readonly sectionName?: string;
}
