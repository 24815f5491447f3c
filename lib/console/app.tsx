import { useEffect, useRef } from "preact/hooks";
import { Keys } from "./keys.tsx";
import { pageOf, pages } from "./pages.ts";
import { StatusBar } from "./parts/status-bar.tsx";
import { placeText } from "./place.ts";
import { Token } from "./token.tsx";
import { usePlace } from "./use-place.ts";

/** The console: a menu, and the page that the address names. */
export function App() {
  const place = usePlace();
  const page = pageOf(place);
  const main = useRef<HTMLElement>(null);
  const where = place.path.join("/");
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${page?.title ?? "Nothing here"} · Portolan`;
    // Who comes to another page by a link reads on at its beginning.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [where]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <header>
        <a class="brand" href="#/">
          <Star />
          Portolan
        </a>
        <nav aria-label="Pages of the console">
          <ul>
            {pages.map(({ name, title, key }) =>
              key === undefined ? null : (
                <li key={name}>
                  <a
                    href={placeText(name === "" ? [] : [name])}
                    aria-current={page?.name === name ? "page" : undefined}
                  >
                    {title}
                  </a>
                </li>
              ),
            )}
          </ul>
        </nav>
        <Keys />
      </header>
      <main ref={main} tabIndex={-1} id="main">
        <Token>
          <StatusBar />
          {page === undefined ? <h1>There is no such page</h1> : <page.show key={page.name} place={place} />}
        </Token>
      </main>
    </>
  );
}

function Star() {
  return (
    <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <circle cx="16" cy="16" r="15" fill="currentColor" />
      <path class="star" d="M16 3l3 10 10 3-10 3-3 10-3-10-10-3 10-3z" />
    </svg>
  );
}
