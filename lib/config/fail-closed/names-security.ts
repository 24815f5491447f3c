/** Filters of Envoy that decide who may pass, and the fields that ask a client for its certificate. */
const securityWords =
  /\b(?:rbac|ext_authz|jwt_authn|oauth2|basic_auth|api_key_auth|gcp_authn|client_ssl_auth|DownstreamTlsContext|require_?client_?certificate)\b/i;

/** Whether a value names a filter that decides who may pass, or asks a client for its certificate. */
export const namesSecurity = (value: unknown): boolean => securityWords.test(JSON.stringify(value) ?? "");
