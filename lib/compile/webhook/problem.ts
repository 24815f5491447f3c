/** A refusal for programs and people (RFC 9457). */
export function problem(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(
    { status, detail },
    { status, headers: { ...headers, "content-type": "application/problem+json" } },
  );
}
