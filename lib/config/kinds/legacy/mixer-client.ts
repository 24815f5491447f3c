import type { StringMatch } from "../virtual-service.ts";
import type { IstioService } from "./istio-service.ts";

/** Attributes in Mixer's typed form, `{"api.service": {"stringValue": "a"}}`; passed on as written. */
export interface MixerAttributes {
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** `config.istio.io/v1alpha2` HTTPAPISpec. @see docs/how-istio-does-it/kind-rules.md#mixer-clients */
export interface HTTPAPISpec {
  readonly attributes?: MixerAttributes;
  readonly patterns: readonly HTTPAPISpecPattern[];
  readonly apiKeys?: readonly APIKey[];
}

export interface HTTPAPISpecPattern {
  readonly attributes?: MixerAttributes;
  readonly httpMethod?: string;
  /** One of the two. */
  readonly uriTemplate?: string;
  readonly regex?: string;
}

/** One of the three. */
export interface APIKey {
  readonly query?: string;
  readonly header?: string;
  readonly cookie?: string;
}

/** `config.istio.io/v1alpha2` QuotaSpec. */
export interface QuotaSpec {
  readonly rules: readonly QuotaRule[];
}

export interface QuotaRule {
  readonly match?: readonly AttributeMatch[];
  readonly quotas: readonly Quota[];
}

export interface AttributeMatch {
  readonly clause?: Readonly<Record<string, StringMatch>>;
}

export interface Quota {
  readonly quota?: string;
  readonly charge?: number;
}

/** Names a spec; without a namespace it is the binding's. */
export interface SpecReference {
  readonly name?: string;
  readonly namespace?: string;
}

/** `config.istio.io/v1alpha2` HTTPAPISpecBinding. */
export interface HTTPAPISpecBinding {
  readonly services: readonly IstioService[];
  readonly apiSpecs: readonly SpecReference[];
}

/** `config.istio.io/v1alpha2` QuotaSpecBinding. */
export interface QuotaSpecBinding {
  readonly services: readonly IstioService[];
  readonly quotaSpecs: readonly SpecReference[];
}

/** `config.istio.io/v1alpha2` EndUserAuthenticationPolicySpec: only releases before 0.8 read it. */
export interface EndUserAuthenticationPolicySpec {
  readonly jwts?: readonly EndUserJWT[];
}

export interface EndUserJWT {
  readonly issuer?: string;
  readonly audiences?: readonly string[];
  readonly jwksUri?: string;
  readonly forwardJwt?: boolean;
  readonly publicKeyCacheDuration?: string;
  readonly locations?: readonly { readonly header?: string; readonly query?: string }[];
}

/** `config.istio.io/v1alpha2` EndUserAuthenticationPolicySpecBinding. */
export interface EndUserAuthenticationPolicySpecBinding {
  readonly services: readonly IstioService[];
  readonly policies: readonly SpecReference[];
}
