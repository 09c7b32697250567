import { escapePdf, type PdfInfo, type PdfPage, writePdf } from "../../test/fixtures/pdf-writer.ts";

/** An invoice as it is printed. Prices in euro, without tax. */
export type Invoice = {
  number: string;
  date: string;
  seller: string;
  items: readonly (readonly [what: string, count: number, price: number])[];
};

/** The invoice on one page, with its terms on a second one where `pages` is 2. */
export function invoicePdf(invoice: Invoice, pages: 1 | 2): Buffer {
  const title = `Invoice ${invoice.number}`;
  const sheets = [invoicePage(invoice)];
  if (pages === 2)
    sheets.push(
      letterPage(
        "Terms of payment\n\nPayable within 14 days, without deduction.\nThe goods remain ours until they are paid for.",
      ),
    );
  return writePdf(sheets, { title, author: invoice.seller, subject: "Invoice" }, title);
}

/** A plain letter, a page for each text; the first line of each is its heading. */
export function letterPdf(pages: readonly string[], info: PdfInfo): Buffer {
  return writePdf(pages.map(letterPage), info, info.title ?? "");
}

function letterPage(text: string): PdfPage {
  const [heading = "", ...lines] = text.split("\n");
  const body = lines.map((line, index) => at("Body", 11, 72, 742 - index * 16, line));
  return { content: [at("Bold", 16, 72, 770, heading), ...body].join("\n") };
}

function invoicePage({ number, date, seller, items }: Invoice): PdfPage {
  const net = items.reduce((sum, [, count, price]) => sum + count * price, 0);
  const rows = items.map(([what, count, price], index) =>
    row(640 - index * 20, what, `${count}`, price, count * price),
  );
  const below = 640 - items.length * 20 - 20;
  return {
    content: [
      "0.15 0.3 0.5 rg 0 812 595 30 re f 0 g",
      at("Bold", 20, 72, 760, seller),
      at("Body", 11, 72, 730, `Invoice ${number}`),
      at("Body", 11, 72, 714, date),
      at("Bold", 10, 72, 668, "Item"),
      at("Bold", 10, 330, 668, "Count"),
      at("Bold", 10, 396, 668, "Price"),
      at("Bold", 10, 466, 668, "Amount EUR"),
      "0.5 w 72 660 m 523 660 l S",
      ...rows,
      `0.5 w 72 ${below + 14} m 523 ${below + 14} l S`,
      at("Body", 10, 396, below, "Net"),
      at("Mono", 10, 466, below, net.toFixed(2).padStart(9)),
      at("Body", 10, 396, below - 18, "Tax 20 %"),
      at("Mono", 10, 466, below - 18, (net * 0.2).toFixed(2).padStart(9)),
      at("Bold", 10, 396, below - 36, "Total"),
      at("Mono", 10, 466, below - 36, (net * 1.2).toFixed(2).padStart(9)),
      at("Body", 9, 72, 60, "Thank you for your order."),
    ].join("\n"),
  };
}

function row(y: number, what: string, count: string, price: number, amount: number): string {
  return [
    at("Body", 10, 72, y, what),
    at("Mono", 10, 330, y, count.padStart(4)),
    at("Mono", 10, 390, y, price.toFixed(2).padStart(8)),
    at("Mono", 10, 466, y, amount.toFixed(2).padStart(9)),
  ].join("\n");
}

function at(
  font: "Body" | "Bold" | "Mono",
  size: number,
  x: number,
  y: number,
  text: string,
): string {
  return `BT /${font} ${size} Tf ${x} ${y} Td (${escapePdf(text)}) Tj ET`;
}
