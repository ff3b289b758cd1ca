// What reading documents costs: papers of 20 and of 300 pages compared with pdftotext, and documents made to stop their
// reader.
import { execFileSync, fork } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { PDFDocument, StandardFonts } from "pdf-lib";
import { load } from "../../../scripts/bundle.mjs";
import { cpuOf, seconds } from "../../cpu.mjs";
import { inFolder, root, size } from "../../measure.mjs";

const maxMemory = 1536 * 1024 * 1024;
const maxMs = 120_000;

export const row = {
  name: "reading",
  what: "CPU and memory of the process that reads a paper of 20 and of 300 pages (the longest of `--data`, its pages again and again; else made), beside pdftotext where it is; and documents that once stopped the program",
  hold: "20 pages ≤ 1 CPU s, 300 pages ≤ 5; the others end",
  command: "npm run bench -- reading [--data <folder>]",
  async run({ data } = {}) {
    if (process.platform !== "linux") throw new Error("CPU and memory are read from /proc, which only Linux has");
    const { process: own } = await load({ process: "src/engine/process/task-process.ts" });
    const flags = own.flagsOf(maxMemory);
    return await inFolder(async (folder) => {
      const [ours, rival] = [[], []];
      for (const pages of [size(20, 2), size(300, 3)]) {
        const path = join(folder, `${pages}.pdf`);
        writeFileSync(path, await paperOf(pages, data));
        ours.push(`${pages} pages ${shown(await costOfReading(readFileSync(path), path, flags))}`);
        if (hasPdftotext()) rival.push(`${pages} pages ${seconds(await cpuOf("pdftotext", [path, "-"]))}`);
      }
      for (const [name, ending, bytes] of harmful())
        ours.push(`${name} ${shown(await costOfReading(bytes, `a.${ending}`, flags))}`);
      return { ours: ours.join("; "), ...(rival.length === 0 ? {} : { rival: `pdftotext: ${rival.join("; ")}` }) };
    });
  },
};

const shown = ({ cpu, megabytes, status }) =>
  `${seconds(cpu)}, ${Math.round(megabytes)} MB${status === undefined || status === "ok" ? "" : `, ${status}`}`;

function hasPdftotext() {
  try {
    execFileSync("pdftotext", ["-v"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** What reading a document costs the process that does it, its start included, and how that ended. */
async function costOfReading(bytes, name, flags) {
  const child = fork(join(root, "dist/reader.js"), [String(maxMemory), String(process.pid)], {
    serialization: "advanced",
    execArgv: flags,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  let status = "ended by its memory or a crash";
  const timer = setTimeout(() => {
    status = `ended after ${maxMs / 1000} s`;
    child.kill("SIGKILL");
  }, maxMs);
  child.once("message", (answer) => {
    status = answer.value?.status ?? "failed";
    setTimeout(() => child.kill("SIGKILL"), 3 * step);
  });
  child.send({ id: 1, task: "readDocument", args: [new Uint8Array(bytes), { name }] });
  const cost = await costOf(child);
  clearTimeout(timer);
  return { ...cost, status };
}

/** Milliseconds between two looks at a process. */
const step = 10;

/** CPU seconds and peak memory of a process at the last look before its end. */
async function costOf(child) {
  let [cpu, megabytes] = [0, 0];
  const look = () => {
    try {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      // Clock ticks, a hundred a second; the eleventh field behind the name, and the one after it.
      cpu = Math.max(cpu, (Number(fields[11]) + Number(fields[12])) / 100);
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
      if (peak !== undefined) megabytes = Math.max(megabytes, Number(peak) / 1000);
    } catch {
      // It has just ended.
    }
  };
  const timer = setInterval(look, step);
  await new Promise((resolve) => child.once("close", resolve));
  clearInterval(timer);
  return { cpu, megabytes };
}

/**
 * A PDF of so many pages: those of the longest of a folder's PDFs, again and again, or invented ones in two columns.
 */
async function paperOf(count, data) {
  const paper = await PDFDocument.create();
  const files = data === undefined ? [] : readdirSync(data).filter((name) => /\.pdf$/i.test(name));
  let longest;
  for (const file of files) {
    const source = await PDFDocument.load(readFileSync(join(data, file)), { ignoreEncryption: true });
    if (longest === undefined || source.getPageCount() > longest.getPageCount()) longest = source;
  }
  while (longest !== undefined && paper.getPageCount() < count) {
    const left = longest.getPageIndices().slice(0, count - paper.getPageCount());
    for (const page of await paper.copyPages(longest, left)) paper.addPage(page);
  }
  const font = await paper.embedFont(StandardFonts.TimesRoman);
  while (paper.getPageCount() < count) {
    const page = paper.addPage([612, 792]);
    for (const x of [54, 316])
      for (let line = 0; line < 55; line += 1)
        page.drawText(`Line ${line} says that the gripper learned to grasp things`, {
          x,
          y: 730 - line * 12,
          size: 10,
          font,
        });
  }
  return await paper.save();
}

/** Documents with which a small file could hold its reader for minutes or take all memory: name, ending, bytes. */
function harmful() {
  const prose = "The gripper learned to grasp objects that it had never felt before. ".repeat(20);
  const html = (head, body = "") => Buffer.from(`<html><head>${head}</head><body>${body}<p>${prose}</p></body></html>`);
  return [
    ["nested forms (3 kB)", "pdf", nestedForms(20)],
    ["deflate bomb", "pdf", deflateBomb()],
    ["300,000 combining strokes", "html", html("", "x".concat("\u0336".repeat(300_000)))],
    ["a typing error in CSS", "html", html("<style>.a . { color: red }</style>")],
    ["80 kB of white space in CSS", "html", html(`<style>.a${" ".repeat(80_000)}</style>`)],
    [
      "100,000 attributes",
      "html",
      html("", `<p ${Array.from({ length: 100_000 }, (_, at) => `a${at}=1`).join(" ")}>x</p>`),
    ],
    [
      "50,000 \\iftrue",
      "tex",
      Buffer.from(`\\documentclass{article}\\begin{document}${"\\iftrue ".repeat(50_000)}${prose}\\end{document}`),
    ],
  ];
}

const pdfOf = (objects) =>
  Buffer.from(
    `%PDF-1.5\n${objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join("")}trailer<</Root 1 0 R/Size ${objects.length + 1}>>\n%%EOF`,
    "latin1",
  );

/** Each form draws the next one eight times. */
function nestedForms(depth) {
  const first = 4;
  const forms = Array.from({ length: depth }, (_, at) => {
    const content = at === depth - 1 ? "BT ET" : "/F Do ".repeat(8);
    return `<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F ${first + at + 1} 0 R>>>>/Length ${content.length}>>\nstream\n${content}\nendstream`;
  });
  return pdfOf([
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</XObject<</F 4 0 R>>>>/Contents ${first + depth} 0 R>>`,
    ...forms,
    "<</Length 5>>\nstream\n/F Do\nendstream",
  ]);
}

/** A content stream that unpacks to 12 times 200 MB. */
function deflateBomb() {
  const data = deflateSync(deflateSync(Buffer.alloc(200_000_000, 32), { level: 1 })).toString("latin1");
  return pdfOf([
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents[${"4 0 R ".repeat(12)}]/Resources<<>>>>`,
    `<</Filter[/FlateDecode/FlateDecode]/Length ${data.length}>>\nstream\n${data}\nendstream`,
  ]);
}
