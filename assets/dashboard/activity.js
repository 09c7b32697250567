/** What reached the archive: today and this month, over time, batch by batch. */
import { cardTable, cell, rowHead } from "./cards.js";
import { byId, element, setText, sync, time } from "./dom.js";
import { bytes, count, dateOf, fullTime, hourOf } from "./format.js";
import { showPlot } from "./plot.js";
import { strings } from "./strings.js";

export function showActivity(activity) {
  showSums(byId("today"), activity.today);
  showSums(byId("month"), activity.month);
  const columns = Object.entries(strings.plotColumns);
  showPlot(byId("hours"), {
    title: strings.documentsPerHour,
    bars: activity.hours.map((counts) => ({ label: hourOf(counts.at), value: counts.uploaded, counts })),
    say: strings.documentsCounted,
    columns,
  });
  showPlot(byId("days"), {
    title: strings.pagesPerDay,
    bars: activity.days.map((counts) => ({ label: dateOf(counts.day), value: counts.pages, counts })),
    say: strings.pagesCounted,
    columns,
  });
  showBatches(activity);
}

/** Documents, pages and bytes; by mirror where there are several. */
function showSums(list, { uploaded, pages, uploadedBytes, mirrors }) {
  const rows = [
    { name: strings.sums.documents(uploaded), value: count(uploaded), isMain: true },
    { name: strings.sums.pages(pages), value: count(pages), isMain: true },
    { name: strings.sums.bytes, value: bytes(uploadedBytes) },
  ];
  if (mirrors.length > 1) {
    for (const { mirror, ...sums } of mirrors)
      rows.push({ name: mirror, value: strings.sums.ofMirror(sums.uploaded, sums.pages), isMirror: true });
  }
  sync(list, rows, {
    key: ({ name, isMirror }) => `${isMirror ? "mirror" : "sum"}:${name}`,
    make: ({ name, value, isMain, isMirror }) => {
      const kind = isMain ? "main" : isMirror ? "of-mirror" : undefined;
      return element("div", { class: kind }, element("dt", {}, name), element("dd", {}, value));
    },
  });
}

const COLUMNS = ["batch", "mirror", "converted", "pages", "receipt"];

function showBatches({ batches, at }) {
  const body = cardTable(byId("batches"), COLUMNS.map((column) => [column, strings.batchColumns[column]]));
  byId("batches").hidden = batches.length === 0;
  setText(byId("batches-note"), batches.length === 0 ? strings.noBatches : "");
  sync(body, batches, { key: ({ id }) => id, make: (batch) => batchRow(batch, at) });
}

function batchRow(batch, now) {
  const { id, mirror, openedAt, states, pages } = batch;
  const words = strings.batchColumns;
  const all = Object.values(states).reduce((sum, documents) => sum + documents, 0);
  const converted = states.converted ?? 0;
  const text = strings.batchProgress(converted, all, states);
  const bar = element("progress", { max: Math.max(1, all), value: converted, "aria-label": text });
  const receiptAs = (format, word) =>
    element(
      "a",
      {
        href: `/api/receipt?batch=${encodeURIComponent(id)}&format=${format}&lang=${strings.lang}`,
        target: "_blank",
        rel: "noopener",
        "aria-label": strings.receiptOf(fullTime(openedAt), word),
      },
      word,
    );
  const receipts = [receiptAs("html", strings.receipt), " · ", receiptAs("json", strings.json)];
  return element(
    "tr",
    { role: "row" },
    rowHead("batch", time(openedAt, now), element("small", {}, id)),
    cell("mirror", words.mirror, mirror),
    cell("converted", words.converted, element("span", {}, text), bar),
    cell("pages", words.pages, count(pages)),
    cell("receipt", words.receipt, ...(all === 0 ? [strings.none] : receipts)),
  );
}
