/**
 * Makes the sample scans in `samples/`, which the demo carries into its archive. Run it with
 * `node scripts/make-samples.ts`. The same fonts (DejaVu) and the same sharp give the same bytes.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asiceOf, ddocOf } from "../test/fixtures/documents.ts";
import { writeTiff } from "../test/fixtures/tiff-writer.ts";
import { type Invoice, invoicePdf, letterPdf } from "./samples/papers.ts";
import { grayPage, photoOf, type Picture, scannedPage, scannedPdf } from "./samples/scans.ts";

const SAMPLES = join(import.meta.dirname, "..", "samples");

const paper: Invoice = {
  number: "2025-0117",
  date: "17 January 2025",
  seller: "Nordwind Office Supplies",
  items: [
    ["Copy paper A4, 80 g, box of 5", 4, 21.9],
    ["Lever arch file, 75 mm, blue", 25, 2.35],
    ["Toner cartridge, black", 2, 84.5],
    ["Envelopes C5 with window, 500", 1, 31.2],
  ],
};
const repair: Invoice = {
  number: "R-4471",
  date: "3 June 2025",
  seller: "Harbour Street Bicycle Works",
  items: [
    ["Cargo bicycle, yearly service", 1, 95],
    ["Brake pads, pair", 2, 14.8],
  ],
};
const umlauts: Invoice = {
  number: "2026/031",
  date: "12. März 2026",
  seller: "Müller & Söhne Gebäudereinigung",
  items: [
    ["Fensterreinigung Büro, Erdgeschoß", 1, 180],
    ["Treppenhaus, wöchentlich, Februar", 4, 45],
  ],
};

const STATEMENT = ["October", "November", "December"].map((month, index) =>
  [
    `Electricity statement: ${month} 2025`,
    "",
    `Meter 0083 1154 72, reading on the last of ${month}`,
    `  consumption   ${1180 + index * 137} kWh`,
    `  price         0.2840 EUR / kWh`,
    `  amount        ${((1180 + index * 137) * 0.284).toFixed(2)} EUR`,
  ].join("\n"),
);

const LEASE = [
  "Lease agreement\n\nbetween Quayside Properties and the tenant named overleaf, for the office on the\n" +
    "second floor of Harbour Street 12, from 1 February 2026.\n\n§ 1  The rooms are let for use as an office.\n" +
    "§ 2  The rent is 1,450.00 EUR a month, due on the third working day.",
  "§ 3  The lease runs for three years and is then extended year by year, unless one of\nthe parties " +
    "gives notice six months before.\n\n§ 4  Heating and water are settled once a year by consumption.",
  "Annex: handover of the rooms\n\n  keys handed over       4\n  electricity meter     0083 1154 72\n" +
    "  windows and doors     in order\n  floor                 one scratch at the entrance",
];

const TERMS =
  "Terms of service\n\nResponse within four working hours, on working days from 8 to 17.\n";

const REPORT: Picture[] = [
  {
    heading: "Site inspection",
    lines: [
      "Harbour Street 12, second floor",
      "9 February 2026",
      "",
      "Present: the tenant, the caretaker.",
    ],
  },
  {
    heading: "Findings",
    lines: [
      "1  Window in room 3 does not close.",
      "2  Radiator in the corridor drips.",
      "3  Everything else is in order.",
    ],
  },
  { heading: "Agreed", lines: ["Both are fixed by the end of March.", "", "Signed on the spot."] },
];

const LETTER = `Dear neighbours,

on Saturday the street is closed between the bridge and the market, because the new
water main is laid. Please move your cars by Friday evening.

With kind regards
The works department
`;

async function documents(): Promise<Record<string, Buffer | string>> {
  const lease = letterPdf(LEASE, { title: "Lease agreement", author: "Quayside Properties" });
  return {
    "Invoices/2025/Invoice 2025-0117 Nordwind.pdf": invoicePdf(paper, 2),
    "Invoices/2025/Invoice R-4471.pdf": invoicePdf(repair, 1),
    "Invoices/2025/Utilities/Electricity statement.pdf": letterPdf(
      [
        ...STATEMENT,
        "Summary of the quarter\n\nThree months, paid by direct debit on 15 January 2026.",
      ],
      { title: "Electricity statement, fourth quarter 2025", author: "City Power" },
    ),
    "Invoices/2026/multi-page.tiff": writeTiff(await Promise.all(REPORT.map(scannedPage))),
    "Invoices/2026/Scan 0007.pdf": await scannedPdf([
      {
        heading: "Invoice 88-204",
        lines: [
          "Print shop at the market",
          "",
          "500 flyers A5      112.00 EUR",
          "Delivery             6.50 EUR",
          "",
          "Total              118.50 EUR",
        ],
      },
      { heading: "Delivery attributes", lines: ["Received in good order.", "", "2 March 2026"] },
    ]),
    "Invoices/2026/Rechnung für März – Müller & Söhne.pdf": invoicePdf(umlauts, 1),
    "Contracts/Lease agreement.pdf": lease,
    "Contracts/Lease agreement.asice": asiceOf({
      "Lease agreement.pdf": lease,
      "Notes.txt": "Keys: four.\n",
    }),
    "Contracts/Service contract.bdoc": asiceOf({
      "Service contract.pdf": letterPdf([`Service contract\n\n${TERMS}`], {
        title: "Service contract",
      }),
      "Terms.txt": TERMS,
      "Prices.csv": "service;EUR\nhour;78.00\ntravel;0.42\n",
    }),
    "Contracts/old/Framework agreement 2009.ddoc": ddocOf({
      "Framework agreement.pdf": letterPdf(["Framework agreement\n\nSigned on 4 May 2009."], {
        title: "Framework agreement",
      }),
      "Annex.txt": "Annex 1: list of deliveries\n",
    }),
    "Post/letter.txt": LETTER,
    "Post/receipt.jpg": await photoOf(
      {
        heading: "Café Anker",
        lines: ["2 coffee      5.80", "1 cake        3.40", "", "Total EUR     9.20"],
      },
      "jpeg",
    ),
    "Post/delivery note.png": await photoOf(
      { heading: "Delivery note", lines: ["1 parcel, 4.2 kg", "left with a neighbour"] },
      "png",
    ),
    "Post/postcard.webp": await photoOf(
      { heading: "Greetings from the sea", lines: ["Wish you were here.", "The water is cold."] },
      "webp",
    ),
    "Post/Registered/Scan 0001.tif": writeTiff([
      await grayPage({
        heading: "Registered letter",
        lines: ["Your application of 5 January", "has arrived here.", "", "Reference 26/0311"],
      }),
    ]),
  };
}

rmSync(SAMPLES, { recursive: true, force: true });
let total = 0;
for (const [path, content] of Object.entries(await documents())) {
  const file = join(SAMPLES, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  total += Buffer.byteLength(content);
  console.log(`${String(Buffer.byteLength(content)).padStart(8)}  ${path}`);
}
console.log(`${String(total).padStart(8)}  in all`);
