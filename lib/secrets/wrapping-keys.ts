import { PortolanError } from "../base/diagnostic.ts";
import { environmentKey } from "./environment-key.ts";
import { type KeyWrapper, keyWrapper, type WrappingKey } from "./key-wrapper.ts";
import type { SigningService } from "./signing-service.ts";

/** Key management services that can be asked from here. What is not passed is not bundled. */
export interface KeyServices {
  /** @param keyName what stands behind `aws-kms:`; undefined when it is no name of a key */
  readonly awsKms?: (keyName: string) => WrappingKey | undefined;
  /** The same for a key that signs. */
  readonly awsKmsSigning?: (keyName: string) => SigningService | undefined;
}

export const awsKmsPrefix = "aws-kms:";

/**
 * Keys as a setting names them, the new one and the old with a blank between them: 32 bytes in base64, or `aws-kms:` and the ARN or
 * alias of a key.
 *
 * @param name of the setting, for messages, which never hold what stands in it
 * @throws PortolanError for anything but one or two keys
 */
export function wrappingKeys(setting: string, name: string, services: KeyServices = {}): KeyWrapper {
  const texts = setting.split(/\s+/).filter((text) => text !== "");
  const [first, ...others] = texts.flatMap((text) => wrappingKey(text, name, services) ?? []);
  if (first === undefined || 1 + others.length !== texts.length || texts.length > 2)
    throw new PortolanError(`${name} is not one or two keys of 32 bytes in base64, or ${awsKmsPrefix}<ARN or alias>`);
  return keyWrapper(name, first, others);
}

function wrappingKey(text: string, name: string, { awsKms }: KeyServices): WrappingKey | undefined {
  if (!text.startsWith(awsKmsPrefix)) return environmentKey(text);
  if (awsKms === undefined) throw new PortolanError(`${name} names a key of AWS KMS, which cannot be asked from here`);
  return awsKms(text.slice(awsKmsPrefix.length));
}

/**
 * A key that signs in a key management service.
 *
 * @param text `aws-kms:` and the ARN or alias of a key
 * @throws PortolanError for any other text, and where no service can be asked from here
 */
export function signingService(text: string, { awsKmsSigning }: KeyServices): SigningService {
  if (awsKmsSigning === undefined)
    throw new PortolanError("the CA signs with a key of AWS KMS, which cannot be asked from here");
  const service = text.startsWith(awsKmsPrefix) ? awsKmsSigning(text.slice(awsKmsPrefix.length)) : undefined;
  if (service === undefined) throw new PortolanError(`the CA's key is not ${awsKmsPrefix}<ARN or alias>`);
  return service;
}
