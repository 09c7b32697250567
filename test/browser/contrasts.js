/** Runs in the page: the ground's lightness, and texts that do not stand out by 4.5 to 1. */
export function contrasts() {
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  const lightness = (colour) => {
    if (!brush) throw new Error("no canvas");
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    const [r = 0, g = 0, b = 0] = [...brush.getImageData(0, 0, 1, 1).data].map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const { backgroundColor } = getComputedStyle(one);
      if (backgroundColor !== "rgba(0, 0, 0, 0)") return backgroundColor;
    }
    return "white";
  };
  const faint = [...document.querySelectorAll("body *")]
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim()))
    .filter((one) => one.checkVisibility() && one.closest("svg, dialog, noscript") === null)
    .flatMap((one) => {
      const pair = [lightness(getComputedStyle(one).color), lightness(groundOf(one))];
      const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
      return ratio < 4.5 ? [`${one.textContent}: ${ratio.toFixed(1)}`] : [];
    });
  return { ground: lightness(getComputedStyle(document.body).backgroundColor), faint };
}
