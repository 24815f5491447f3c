import { z } from "zod";
import type { AuthorizationPolicy } from "../kinds/authorization-policy.ts";
import type { PeerAuthentication } from "../kinds/peer-authentication.ts";
import type { RequestAuthentication } from "../kinds/request-authentication.ts";
import { message } from "./message.ts";
import { duration, flag, text, texts } from "./scalars.ts";
import { policyTarget, workloadSelector } from "./selector.ts";

const source = message({
  plain: {
    principals: texts,
    notPrincipals: texts,
    requestPrincipals: texts,
    notRequestPrincipals: texts,
    namespaces: texts,
    notNamespaces: texts,
    serviceAccounts: texts,
    notServiceAccounts: texts,
    trustDomains: texts,
    notTrustDomains: texts,
    ipBlocks: texts,
    notIpBlocks: texts,
    remoteIpBlocks: texts,
    notRemoteIpBlocks: texts,
  },
});

const operation = message({
  plain: {
    hosts: texts,
    notHosts: texts,
    ports: texts,
    notPorts: texts,
    methods: texts,
    notMethods: texts,
    paths: texts,
    notPaths: texts,
  },
});

// Presence of an empty list is an error in a rule, and says "no rules" at the top.
const rule = message({
  plain: { when: message({ required: { key: text.default("") }, plain: { values: texts, notValues: texts } }).array() },
  kept: { from: message({ required: { source } }).array(), to: message({ required: { operation } }).array() },
});

export const authorizationPolicy: z.ZodType<AuthorizationPolicy> = message({
  plain: { ...policyTarget.plain, action: z.enum(["ALLOW", "DENY", "AUDIT", "CUSTOM"]) },
  kept: { ...policyTarget.kept, provider: message({ plain: { name: text } }), rules: rule.array() },
});

const mutualTls = message({ plain: { mode: z.enum(["UNSET", "DISABLE", "PERMISSIVE", "STRICT"]) } });

export const peerAuthentication: z.ZodType<PeerAuthentication> = message({
  kept: { selector: workloadSelector, mtls: mutualTls, portLevelMtls: z.record(text, mutualTls) },
});

const jwtRule = message({
  plain: {
    issuer: text,
    audiences: texts,
    jwksUri: text,
    jwks: text,
    fromHeaders: message({ required: { name: text.default("") }, plain: { prefix: text } }).array(),
    fromParams: texts,
    fromCookies: texts,
    outputPayloadToHeader: text,
    forwardOriginalToken: flag,
    outputClaimToHeaders: message({ required: { header: text.default(""), claim: text.default("") } }).array(),
    spaceDelimitedClaims: texts,
    presence: z.enum(["OPTIONAL", "REQUIRED"]),
  },
  kept: { timeout: duration },
});

export const requestAuthentication: z.ZodType<RequestAuthentication> = message({
  plain: { ...policyTarget.plain, jwtRules: jwtRule.array() },
  kept: policyTarget.kept,
});
