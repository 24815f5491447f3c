/** The camelCase form of a field name in either of protobuf's spellings: `connect_timeout` is `connectTimeout`. */
export function camelFieldName(name: string): string {
  return name.replace(/_+([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
