import { z } from "zod";
import type {
  EndUserAuthenticationPolicySpec,
  EndUserAuthenticationPolicySpecBinding,
  HTTPAPISpec,
  HTTPAPISpecBinding,
  QuotaSpec,
  QuotaSpecBinding,
} from "../kinds/legacy/mixer-client.ts";
import type { RbacConfig, ServiceRole, ServiceRoleBinding } from "../kinds/legacy/service-role.ts";
import { istioService, legacyStringMatch } from "./legacy.ts";
import { message } from "./message.ts";
import { anyDuration, flag, int64, stringMap, struct, text, texts, uint32 } from "./scalars.ts";

const attributes = message({ plain: { attributes: struct } });
const services = istioService.array().default([]);
const references = message({ plain: { name: text, namespace: text } })
  .array()
  .default([]);

export const httpApiSpec: z.ZodType<HTTPAPISpec> = message({
  required: {
    patterns: message({ plain: { httpMethod: text }, kept: { attributes, uriTemplate: text, regex: text } })
      .array()
      .default([]),
  },
  plain: { apiKeys: message({ kept: { query: text, header: text, cookie: text } }).array() },
  kept: { attributes },
});

export const httpApiSpecBinding: z.ZodType<HTTPAPISpecBinding> = message({
  required: { services, apiSpecs: references },
});

export const quotaSpec: z.ZodType<QuotaSpec> = message({
  required: {
    rules: message({
      required: {
        quotas: message({ plain: { quota: text, charge: int64 } })
          .array()
          .default([]),
      },
      plain: { match: message({ plain: { clause: z.record(text, legacyStringMatch) } }).array() },
    })
      .array()
      .default([]),
  },
});

export const quotaSpecBinding: z.ZodType<QuotaSpecBinding> = message({
  required: { services, quotaSpecs: references },
});

export const endUserPolicySpec: z.ZodType<EndUserAuthenticationPolicySpec> = message({
  plain: {
    jwts: message({
      plain: {
        issuer: text,
        audiences: texts,
        jwksUri: text,
        forwardJwt: flag,
        locations: message({ kept: { header: text, query: text } }).array(),
      },
      kept: { publicKeyCacheDuration: anyDuration },
    }).array(),
  },
});

export const endUserPolicySpecBinding: z.ZodType<EndUserAuthenticationPolicySpecBinding> = message({
  required: { services, policies: references },
});

export const serviceRole: z.ZodType<ServiceRole> = message({
  required: {
    rules: message({
      plain: {
        services: texts,
        hosts: texts,
        notHosts: texts,
        paths: texts,
        notPaths: texts,
        methods: texts,
        notMethods: texts,
        ports: uint32.array(),
        notPorts: uint32.array(),
        constraints: message({ plain: { key: text, values: texts } }).array(),
      },
    })
      .array()
      .default([]),
  },
});

export const serviceRoleBinding: z.ZodType<ServiceRoleBinding> = message({
  required: {
    subjects: message({
      plain: {
        user: text,
        group: text,
        properties: stringMap,
        names: texts,
        notNames: texts,
        groups: texts,
        notGroups: texts,
        namespaces: texts,
        notNamespaces: texts,
        ips: texts,
        notIps: texts,
      },
    })
      .array()
      .default([]),
  },
  plain: { mode: z.enum(["ENFORCED", "PERMISSIVE"]) },
  kept: { roleRef: message({ plain: { kind: text, name: text } }) },
});

const rbacTarget = message({ plain: { services: texts, namespaces: texts } });

export const rbacConfig: z.ZodType<RbacConfig> = message({
  plain: {
    mode: z.enum(["OFF", "ON", "ON_WITH_INCLUSION", "ON_WITH_EXCLUSION"]),
    enforcementMode: z.enum(["ENFORCED", "PERMISSIVE"]),
  },
  kept: { inclusion: rbacTarget, exclusion: rbacTarget },
});
