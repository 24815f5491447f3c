/**
 * A Wasm module that answers every request with status 418, by Proxy-Wasm's ABI 0.2.1, put together by hand: no compiler is needed.
 *
 * @see https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1
 * @see https://webassembly.github.io/spec/core/binary/modules.html
 */
export function teapotModule(): Uint8Array<ArrayBuffer> {
  const i32 = 0x7f;
  const text = (value: string) => [value.length, ...new TextEncoder().encode(value)];
  const list = (...items: readonly (readonly number[])[]) => [items.length, ...items.flat()];
  const section = (id: number, content: readonly number[]) => [id, content.length, ...content];
  const signature = (parameters: number, results: number) => [
    0x60,
    ...list(...Array.from({ length: parameters }, () => [i32])),
    ...list(...Array.from({ length: results }, () => [i32])),
  ];
  const func = (...code: readonly number[]) => [code.length + 2, 0, ...code, 0x0b];
  const constant = (...leb128: readonly number[]) => [0x41, ...leb128];
  const zero = constant(0);
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    // Nothing to nothing, malloc, proxy_send_local_response, proxy_on_request_headers.
    ...section(1, list(signature(0, 0), signature(1, 1), signature(8, 1), signature(3, 1))),
    ...section(2, list([...text("env"), ...text("proxy_send_local_response"), 0x00, 2])),
    ...section(3, list([0], [1], [3])),
    ...section(5, list([0x00, 1])),
    ...section(
      7,
      list(
        [...text("memory"), 0x02, 0],
        [...text("proxy_abi_version_0_2_1"), 0x00, 1],
        [...text("malloc"), 0x00, 2],
        [...text("proxy_on_request_headers"), 0x00, 3],
      ),
    ),
    ...section(
      10,
      list(
        func(),
        func(...zero),
        // 418, no words, no body, no headers, no gRPC status; then it waits.
        func(
          ...constant(0xa2, 0x03),
          ...[...Array(6)].flatMap(() => zero),
          ...constant(0x7f),
          0x10,
          0,
          0x1a,
          ...constant(1),
        ),
      ),
    ),
  ]);
}
