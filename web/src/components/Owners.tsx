// Who holds a device: totals per user always, processes where the caller may see them.
import type { JSX } from "preact";
import type { Catalog } from "../api/catalog";
import type { Device, ProcessRow, UserTotal } from "../api/types";
import { bytes, joined, ratio } from "../format";
import { t } from "../i18n";
import { notAvailable, reasonText } from "./Reading";

const userName = (row: { user: string; uid: number | null }): string =>
  row.user !== "" ? row.user : row.uid !== null ? `uid ${row.uid}` : t("user_unknown");

const processCount = (count: number): string =>
  count === 1 ? t("one_process") : t("n_processes", String(count));

export function Users({ catalog, device }: { catalog: Catalog; device: Device }): JSX.Element {
  if (device.processes === null && device.users.length === 0) {
    const reason = device.processes_reason ?? "unknown";
    return <p class="users is-none">{t("processes_unknown", reasonText(catalog, reason))}</p>;
  }
  if (device.users.length === 0) return <p class="users is-none">{t("no_processes")}</p>;
  return (
    <ul class="users">
      {device.users.map((user) => (
        <li class="user" key={`${user.uid}/${user.user}`} title={userTitle(user)}>
          <span class="user-name">{userName(user)}</span>
          <span class="user-memory">
            {user.memory_bytes === null ? notAvailable(catalog) : joined(bytes(user.memory_bytes))}
          </span>
          <span class="user-count">{processCount(user.processes)}</span>
        </li>
      ))}
    </ul>
  );
}

const userTitle = (user: UserTotal): string =>
  user.uid === null ? userName(user) : `${userName(user)} (uid ${user.uid})`;

function processName(row: ProcessRow): string {
  if (row.name !== "") return row.name;
  return row.owner === "known" ? "" : t(`owner_${row.owner}`);
}

export function Processes({ catalog, device }: { catalog: Catalog; device: Device }): JSX.Element {
  const rows = device.processes;
  if (rows === null) {
    const reason = device.processes_reason ?? "unknown";
    return <p class="note">{t("processes_unknown", reasonText(catalog, reason))}</p>;
  }
  return (
    <>
      {rows.length > 0 && (
        <table class="processes">
          <thead>
            <tr>
              <th class="is-number">{t("pid")}</th>
              <th>{t("name")}</th>
              <th>{t("user")}</th>
              <th class="is-number">{t("device_memory")}</th>
              <th class="is-number">{t("share")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.pid}/${row.start_ticks}`}>
                <td class="is-number">{row.pid}</td>
                <td class="is-name" title={`${row.name} · ${row.type}`}>
                  {processName(row)}
                </td>
                <td class="is-name">{userName(row)}</td>
                <td class="is-number">
                  {row.memory_bytes === null
                    ? notAvailable(catalog)
                    : joined(bytes(row.memory_bytes))}
                </td>
                <td class="is-number">
                  {row.utilization_ratio === null
                    ? notAvailable(catalog)
                    : joined(ratio(row.utilization_ratio))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {rows.length === 0 && device.processes_hidden === 0 && (
        <p class="note">{t("no_processes")}</p>
      )}
      {device.processes_hidden > 0 && (
        <p class="note">{t("processes_hidden", String(device.processes_hidden))}</p>
      )}
    </>
  );
}
