/** `networking.k8s.io/v1` Ingress; older versions are read into this form. @see docs/how-istio-does-it/ingress.md */
export interface Ingress {
  readonly ingressClassName?: string;
  readonly defaultBackend?: IngressBackend;
  readonly tls?: readonly IngressTLS[];
  readonly rules?: readonly IngressRule[];
}

export interface IngressTLS {
  readonly hosts?: readonly string[];
  readonly secretName?: string;
}

export interface IngressRule {
  /** Absent: every host. */
  readonly host?: string;
  readonly http?: { readonly paths: readonly HTTPIngressPath[] };
}

export interface HTTPIngressPath {
  readonly path?: string;
  readonly pathType?: "Exact" | "Prefix" | "ImplementationSpecific";
  readonly backend: IngressBackend;
}

export interface IngressBackend {
  readonly service?: IngressServiceBackend;
  /** Read, and without effect. */
  readonly resource?: { readonly apiGroup?: string; readonly kind: string; readonly name: string };
}

export interface IngressServiceBackend {
  readonly name: string;
  /** One of the two. */
  readonly port?: { readonly number?: number; readonly name?: string };
}

/** `networking.k8s.io/v1` IngressClass. */
export interface IngressClass {
  readonly controller?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}
