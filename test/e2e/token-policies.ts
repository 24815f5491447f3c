/** Asks for a token at the bookshop's gateway, and lets nobody pass without one. @param rule of the RequestAuthentication, in YAML */
export const tokenPolicies = (rule: string) => `apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: bookshop }
spec: { selector: { matchLabels: { istio: ingressgateway } }, jwtRules: [${rule}] }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: tokens-only, namespace: bookshop }
spec:
  selector: { matchLabels: { istio: ingressgateway } }
  rules: [{ from: [{ source: { requestPrincipals: ["*"] } }] }]
`;
