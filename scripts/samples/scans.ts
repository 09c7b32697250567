import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { writePdf } from "../../test/fixtures/pdf-writer.ts";
import type { TiffPage } from "../../test/fixtures/tiff-writer.ts";

/** What stands on a scanned sheet. */
export type Picture = { heading: string; lines: readonly string[] };

type Size = { width: number; height: number };

/** A4 at 150 and at 100 dots an inch, and an attributes of paper. Dots. */
const A4_FINE: Size = { width: 1240, height: 1754 };
const A4_COARSE: Size = { width: 827, height: 1169 };
const ATTRIBUTES: Size = { width: 640, height: 480 };

/** A bilevel page of a TIFF, as an office scanner makes it. */
export async function scannedPage(picture: Picture): Promise<TiffPage> {
  const gray = await grayOf(picture, A4_FINE);
  return {
    ...A4_FINE,
    bits: 1,
    compression: 8,
    dpi: 150,
    data: deflateSync(bilevel(gray, A4_FINE), { level: 9 }),
  };
}

/** A grayscale page of a TIFF. */
export async function grayPage(picture: Picture): Promise<TiffPage> {
  const gray = await grayOf(picture, A4_COARSE);
  return { ...A4_COARSE, bits: 8, compression: 8, dpi: 100, data: deflateSync(gray, { level: 9 }) };
}

/** A PDF that holds nothing but pictures of its pages. */
export async function scannedPdf(pictures: readonly Picture[]): Promise<Buffer> {
  const pages = await Promise.all(
    pictures.map(async (picture) => {
      const image = sharp(Buffer.from(sheet(picture, A4_COARSE))).grayscale();
      const jpeg = await image.jpeg({ quality: 55 }).toBuffer();
      return { content: "q 595 0 0 842 0 0 cm /Scan Do Q", scan: { jpeg, ...A4_COARSE } };
    }),
  );
  return writePdf(pages, {}, pictures.map(({ heading }) => heading).join());
}

/** An attributes of paper, as a telephone takes it. */
export async function photoOf(picture: Picture, format: "jpeg" | "png" | "webp"): Promise<Buffer> {
  const image = sharp(Buffer.from(sheet(picture, ATTRIBUTES)));
  if (format === "png") return image.png({ palette: true, colours: 16 }).toBuffer();
  return format === "jpeg"
    ? image.jpeg({ quality: 70 }).toBuffer()
    : image.webp({ quality: 60 }).toBuffer();
}

async function grayOf(picture: Picture, size: Size): Promise<Buffer> {
  return sharp(Buffer.from(sheet(picture, size)))
    .grayscale()
    .toColourspace("b-w")
    .raw()
    .toBuffer();
}

/** Packs eight dots a byte; a set bit is black. */
function bilevel(gray: Buffer, { width, height }: Size): Buffer {
  const rowBytes = Math.ceil(width / 8);
  const packed = Buffer.alloc(rowBytes * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      if ((gray[y * width + x] ?? 255) < 128) {
        const at = y * rowBytes + (x >> 3);
        packed[at] = (packed[at] ?? 0) | (0x80 >> (x & 7));
      }
  return packed;
}

/** The sheet, laid on the glass not quite straight. */
function sheet({ heading, lines }: Picture, { width, height }: Size): string {
  const unit = width / 28;
  const text = lines.map((line, index) => {
    const y = unit * (6 + index * 1.9);
    return `<text x="${unit * 3}" y="${y}" font-size="${unit}" xml:space="preserve">${escape(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <rect width="${width}" height="${height}" fill="#f6f3ea"/>
    <g transform="rotate(0.6 ${width / 2} ${height / 2})" fill="#22252b" font-family="DejaVu Sans Mono">
      <text x="${unit * 3}" y="${unit * 3.6}" font-size="${unit * 1.4}" font-family="DejaVu Serif" font-weight="bold">${escape(heading)}</text>
      <rect x="${unit * 3}" y="${unit * 4.2}" width="${unit * 22}" height="${unit * 0.08}"/>
      ${text.join("\n")}
    </g>
  </svg>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
