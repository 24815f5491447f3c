import { mutatingConfiguration, validatingConfiguration } from "../../admission/manifests/webhooks.ts";
import { type Fields, fieldsOf, textOf } from "../../base/untyped.ts";
import { type Installation, nameOf } from "./install-options.ts";

/**
 * The webhook configurations, without `caBundle`: the webhook itself writes that field, and nothing else does.
 */
export function webhookObjects(of: Installation): readonly Fields[] {
  const { namespace, revision, features, tags } = of;
  if (!features.has("admission")) return [];
  const webhook = {
    address: { kind: "service", name: `${nameOf(of)}-admission`, namespace, port: 443 },
    failurePolicy: "Fail",
    exceptNamespaces: ["kube-system", namespace],
    revision,
  } as const;
  const injecting = { ...webhook, enableNamespacesByDefault: false };
  return [
    validatingConfiguration(webhook, false),
    ...(features.has("injection")
      ? [
          mutatingConfiguration(injecting),
          ...tags.map((tag) => tagged(mutatingConfiguration({ ...injecting, revision: tag }), tag, revision)),
        ]
      : []),
  ];
}

/** As `istioctl tag set` names and labels what it makes, so that `istioctl tag list` shows it. */
function tagged(configuration: Fields, tag: string, revision: string): Fields {
  const { labels } = fieldsOf(configuration.metadata);
  return {
    ...configuration,
    metadata: {
      name: `portolan-revision-tag-${tag}`,
      labels: { ...fieldsOf(labels), "istio.io/rev": revision, "istio.io/tag": tag },
    },
  };
}

/** Names of the configurations, by their kind. */
export function webhookNames(of: Installation): {
  readonly validating: readonly string[];
  readonly mutating: readonly string[];
} {
  const namesOf = (kind: string) =>
    webhookObjects(of)
      .filter((object) => object.kind === kind)
      .map(({ metadata }) => textOf(fieldsOf(metadata).name));
  return {
    validating: namesOf("ValidatingWebhookConfiguration"),
    mutating: namesOf("MutatingWebhookConfiguration"),
  };
}
