// No GPU: why, in the words of each source, and how to see one that does not exist.
import type { JSX } from "preact";
import type { Catalog } from "../api/catalog";
import type { SourceStatus } from "../api/types";
import { fill, t, tx } from "../i18n";

export function NoDevices({
  catalog,
  sources,
}: {
  catalog: Catalog;
  sources: readonly SourceStatus[];
}): JSX.Element {
  const offer = tx(catalog.message("simulated.offer"));
  const [words, command] = splitOffer(fill(offer, ["serve"]));
  return (
    <section class="card no-devices">
      <h2>{t("no_devices")}</h2>
      <ul>
        {sources
          .filter((source) => source.name !== "host")
          .map((source) => (
            <li key={source.name}>
              <b>{source.name}</b> {tx(source.text)}
            </li>
          ))}
      </ul>
      {offer !== "" && (
        <p class="offer">
          {words}
          <code>{command}</code>
        </p>
      )}
    </section>
  );
}

// The message ends in the command, behind its last colon that a space or a Chinese colon makes one.
function splitOffer(text: string): [string, string] {
  const at = text.search(/(: |：)gpusight /);
  if (at < 0) return ["", text];
  const length = text[at] === "：" ? 1 : 2;
  return [text.slice(0, at + length), text.slice(at + length)];
}
