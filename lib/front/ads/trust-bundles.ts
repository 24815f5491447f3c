import { create, toBinary } from "@bufbuild/protobuf";
import { ProxyConfigSchema } from "../../../gen/istio/mesh/v1alpha1/proxy_config_pb.ts";
import { hashOf } from "../../base/blob.ts";
import type { StreamKind } from "../../streams/due.ts";
import type { Written } from "../../streams/grpc-framing.ts";
import { beginningOf, runOf } from "../../streams/messages.ts";
import { among } from "./among.ts";

/** The type by which Istio's agents ask for the roots that they trust (PCDS). */
export const trustBundleUrl = "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig";

export interface TrustBundleOptions {
  readonly kind: StreamKind;
  /** Roots that workloads trust, PEM each. */
  roots(): Promise<readonly string[]>;
  readonly onError: (cause: unknown) => void;
  /** How often roots are looked at while a stream waits, in milliseconds. */
  readonly everyMs?: number;
}

/** The trust bundles of one stream: they are no resource of any class, and the same for every node. */
export interface TrustBundles {
  /** Hears the type of each request. */
  asked(typeUrl: string): void;
  /** The stream's messages, and among them one for each change of the roots once they were asked for. */
  among(messages: AsyncGenerator<Written>): AsyncGenerator<Written>;
}

const usualEveryMs = 30_000;

export function trustBundles({ kind, roots, onError, everyMs = usualEveryMs }: TrustBundleOptions): TrustBundles {
  let isAsked = false;
  let wake = () => {};
  let sent = "";
  let nonces = 0;

  /** @returns undefined where there is nothing new; what cannot be read now is looked at again */
  async function due(): Promise<Written | undefined> {
    try {
      const certificates = await roots();
      const version = hashOf(certificates.join(""));
      if (version === sent) return undefined;
      sent = version;
      nonces += 1;
      const nonce = `trust-bundle-${nonces}`;
      const value = toBinary(ProxyConfigSchema, create(ProxyConfigSchema, { caCertificatesPem: [...certificates] }));
      return [
        beginningOf({ kind, typeUrl: trustBundleUrl, version, nonce, removed: [] }),
        runOf(kind, trustBundleUrl, [value], [{ name: "default", version }]),
      ];
    } catch (cause) {
      onError(cause);
      return undefined;
    }
  }

  /** Resolves when roots were asked for, or are to be looked at again. */
  function look(): { readonly due: Promise<"look">; end(): void } {
    const { promise, resolve } = Promise.withResolvers<"look">();
    const timer = isAsked ? setTimeout(() => resolve("look"), everyMs).unref() : undefined;
    wake = () => resolve("look");
    return { due: promise, end: () => clearTimeout(timer) };
  }

  return {
    asked(typeUrl) {
      if (typeUrl !== trustBundleUrl || isAsked) return;
      isAsked = true;
      wake();
    },
    among: (messages) => among(messages, { due: async () => (isAsked ? due() : undefined), look }),
  };
}
