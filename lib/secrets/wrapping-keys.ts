import { PortolanError } from "../config/diagnostic.ts";
import { environmentKey } from "./environment-key.ts";
import { type KeyWrapper, keyWrapper, type WrappingKey } from "./key-wrapper.ts";

/** Key management services that can be asked from here. What is not passed is not bundled. */
export interface KeyServices {
  /** @param keyName what stands behind `aws-kms:`; undefined when it is no name of a key */
  readonly awsKms?: (keyName: string) => WrappingKey | undefined;
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
