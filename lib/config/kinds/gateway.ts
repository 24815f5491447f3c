/** `networking.istio.io` Gateway. @see https://istio.io/latest/docs/reference/config/networking/gateway/ */
export interface Gateway {
  /** Absent: every gateway workload. */
  readonly selector?: Readonly<Record<string, string>>;
  readonly servers: readonly Server[];
}

export interface Server {
  readonly port: Port;
  readonly bind?: string;
  /** `dns`, `ns/dns`, `./dns`, `*\/dns`. */
  readonly hosts: readonly string[];
  readonly tls?: ServerTLSSettings;
  readonly defaultEndpoint?: string;
  readonly name?: string;
}

/** Port of a Gateway server. */
export interface Port {
  readonly number: number;
  /** As written: HTTP, HTTPS, GRPC, HTTP2, MONGO, TCP, TLS ... */
  readonly protocol: string;
  readonly name: string;
  /** Deprecated, refused for Gateways. */
  readonly targetPort?: number;
}

export type TLSProtocol = "TLS_AUTO" | "TLSV1_0" | "TLSV1_1" | "TLSV1_2" | "TLSV1_3";

export type ServerTLSMode =
  | "PASSTHROUGH"
  | "SIMPLE"
  | "MUTUAL"
  | "AUTO_PASSTHROUGH"
  | "ISTIO_MUTUAL"
  | "OPTIONAL_MUTUAL";

/** Server side of TLS; Istio also calls it TLSOptions. Absent mode: PASSTHROUGH. */
export interface ServerTLSSettings {
  readonly httpsRedirect?: boolean;
  readonly mode?: ServerTLSMode;
  readonly serverCertificate?: string;
  readonly privateKey?: string;
  readonly caCertificates?: string;
  readonly caCrl?: string;
  readonly credentialName?: string;
  readonly credentialNames?: readonly string[];
  readonly caCertCredentialName?: string;
  readonly tlsCertificates?: readonly TLSCertificate[];
  readonly subjectAltNames?: readonly string[];
  readonly verifyCertificateSpki?: readonly string[];
  readonly verifyCertificateHash?: readonly string[];
  readonly minProtocolVersion?: TLSProtocol;
  readonly maxProtocolVersion?: TLSProtocol;
  readonly cipherSuites?: readonly string[];
  /** A field of 1.31: clients are let in whose certificate no root vouches for. */
  readonly insecureSkipVerify?: boolean;
  /** Absent: the mesh's (1.32). */
  readonly ecdhCurves?: readonly string[];
  /** Offered instead of the usual protocols (1.32). */
  readonly alpnProtocols?: readonly string[];
}

export interface TLSCertificate {
  readonly serverCertificate?: string;
  readonly privateKey?: string;
  readonly caCertificates?: string;
}
